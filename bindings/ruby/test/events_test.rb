# frozen_string_literal: true

require "helper"
require "date"
require "set"

# Events: they are those of the document, whatever the format, and however large it is.
class EventsTest < Minitest::Test
  include Helper

  R = Regauge
  CORPUS = File.expand_path("../../../corpus", __dir__)
  SUFFIXES = {
    ".json" => :json, ".ndjson" => :ndjson, ".yaml" => :yaml, ".msgpack" => :msgpack, ".cbor" => :cbor, ".bson" => :bson,
    ".marshal" => :marshal, ".pickle" => :pickle, ".toml" => :toml, ".csv" => :csv, ".tsv" => :tsv
  }.freeze

  # Returns the documents that the events build.
  def built(events)
    documents = []
    stack = []
    keys = []
    events.each do |kind, value|
      case kind
      when :begin_document, :begin_array then stack.push([])
      when :begin_map
        stack.push({})
        keys.push(nil)
      when :key then keys[-1] = value
      when :end_document then documents.concat(stack.pop)
      else
        value = stack.pop unless kind == :value
        keys.pop if kind == :end_map
        stack[-1].is_a?(Hash) ? stack[-1][keys[-1]] = value : stack[-1] << value
      end
    end
    assert_empty stack
    documents
  end

  # Gives a few bytes at a time.
  class Slow
    def initialize(bytes)
      @io = StringIO.new(bytes)
    end

    def read(_length = nil)
      @io.read(7)
    end
  end

  def test_events_of_the_corpus_build_what_each_gives
    compared = 0
    cyclic = 0
    Dir[File.join(CORPUS, "*/valid/*")].sort.each do |path|
      next if path.include?("/marc/") || !(format = SUFFIXES[File.extname(path)])

      bytes = File.binread(path)
      begin
        expected = R.codec(format).each(bytes).to_a
      rescue R::DecodeError, EncodingError
        # A range that contains itself; a symbol that is not UTF-8.
        next
      end
      begin
        found = built(R.events(bytes, from: format))
      rescue R::DecodeError
        # A value that contains itself has no end.
        cyclic += 1
        next
      end
      assert_equal expected.inspect, found.inspect, path
      assert_equal expected.inspect, built(R.events(Slow.new(bytes), from: format)).inspect, path
      assert_equal expected.inspect, built(R.events(path, from: format, path: true)).inspect, path
      compared += 1
    end
    assert_operator compared, :>, 100
    assert_operator cyclic, :<, 12
  end

  def test_errors_of_the_corpus_are_those_of_each
    compared = 0
    Dir[File.join(CORPUS, "*/invalid/*")].sort.each do |path|
      next if path.include?("/marc/") || !(format = SUFFIXES[File.extname(path)])

      bytes = File.binread(path)
      R.codec(format).each(StringIO.new(bytes)).to_a
    rescue R::Error => error
      found = assert_raises(R::Error, path) { R.events(bytes, from: format).to_a }
      # With references, Marshal and pickle are read by another loop, which may find another error.
      next if %i[marshal pickle].include?(format)

      assert_equal error.class, found.class, path
      assert_equal error.offset, found.offset, path
      compared += 1
    end
    assert_operator compared, :>, 60
  end

  def test_the_shape_of_an_event
    events = R.events('{"a":[1]}').to_a
    assert_equal [[:begin_document, nil], [:begin_map, nil], [:key, "a"], [:begin_array, nil], [:value, 1],
                  [:end_array, nil], [:end_map, nil], [:end_document, nil]], events
    assert(events.all?(&:frozen?))
    assert_same events[1], R.events("{}").to_a[1]
    seen = []
    assert_nil(R.events("[1]") { |event| seen << event })
    assert_equal [:value, 1], seen[2]
    assert_empty R.events("", from: :ndjson).to_a
    assert_equal %i[begin_document value end_document] * 2, R::NDJSON.events("1\n2\n").map(&:first)
    assert_equal [1, 2], R.events("[1,2,3]").lazy.select { |kind, _| kind == :value }.map(&:last).first(2)
    assert_equal [:key, :a], R::JSON.events('{"a":1}', symbolize_names: true).to_a[2]
  end

  def test_values_are_those_that_load_gives
    value = { "when" => Time.at(5, in: "UTC"), "bytes" => "\xFF".b, "big" => 2**70, 5 => [1.5, nil] }
    [R::CBOR, R::YAML, R::Pickle].each do |codec|
      bytes = codec.dump(value)
      assert_equal [codec.load(bytes)], built(codec.events(bytes))
    end
    bytes = ::Marshal.dump([Set[1], [2], 1..2])
    kinds = R::Marshal.events(bytes, permit: [Set]).map { |kind, inner| inner.is_a?(Set) ? :set : kind }
    assert_equal %i[begin_document begin_array set begin_array value end_array value end_array end_document], kinds
    assert_equal [{ "a" => [1], "b" => [1] }], built(R::YAML.events("a: &x [1]\nb: *x\n"))
    assert_raises(R::DecodeError) { R::YAML.events("&x [*x]").to_a }
  end

  def test_options_and_errors
    assert_equal [1, 2], R::JSON.events('{"a":1,"a":2}').select { |kind, _| kind == :value }.map(&:last)
    assert_raises(R::DecodeError) { R::JSON.events('{"a":1,"a":2}', duplicate_keys: :refuse).to_a }
    written = R::JSON.dump({ "a" => "\xFF".b }, on_loss: :wrap)
    assert_equal [{ "a" => "\xFF".b }], built(R::JSON.events(written, unwrap: true))
    assert_raises(ArgumentError) { R.events(StringIO.new("1")) }
    assert_raises(ArgumentError) { R.events("hello") }
    assert_raises(Errno::ENOENT) { R.events("none.json", path: true) }
    assert_raises(ArgumentError) { R::JSON.events("1", colour: 1) }
    seen = []
    error = assert_raises(R::DecodeError) { R.events("{\"a\":1}\n{\"b\": x}\n", from: :ndjson) { |kind, _| seen << kind } }
    assert_equal [2, :key], [error.record, seen.last]
    io = Object.new
    def io.read(*) = raise(IOError, "closed")
    assert_raises(IOError) { R.events(io, from: :json).to_a }
    assert_raises(KeyError) { R.events("[1]") { raise KeyError } }
  end

  def test_broken_records
    events = R::NDJSON.events("1\n[2,x]\n3\n", bad: :skip).to_a
    assert_equal %i[begin_document value end_document bad_record begin_document value end_document], events.map(&:first)
    assert_equal "[2,x]\n", events[3].last.bytes
  end

  def test_skip
    text = "{\"a\":{\"b\":[1,{\"c\":2}]},\"d\":3,\"e\":[4,5,6],\"f\":\"g\"}\n[6]\n7"
    [text, Slow.new(text)].each do |source|
      events = R.events(source, from: :ndjson)
      seen = []
      events.each do |kind, value|
        seen << (%i[key value].include?(kind) ? value : kind)
        events.skip if ["a", "d", 4, 5].include?(value)
        events.skip.skip if kind == :begin_array && seen.include?("f")
      end
      assert_equal [:begin_document, :begin_map, "a", "d", "e", :begin_array, 4, 5, 6, :end_array, "f", "g", :end_map,
                    :end_document, :begin_document, :begin_array, :end_document, :begin_document, 7, :end_document], seen
    end
    events = R.events(%({"skipped":[#{'{"a":1},' * 100_000}1],"wanted":5}))
    found = nil
    events.each do |kind, value|
      events.skip if value == "skipped"
      found = events.next if kind == :key && value == "wanted"
    end
    assert_equal [:value, 5], found
    assert_raises(StopIteration) { events.next }
    events = R.events("[1,2]")
    assert_equal [:begin_document, nil], events.next
    events.skip
    assert_empty events.to_a
    broken = R.events('{"skipped":[1,2')
    3.times { broken.next }
    assert_raises(R::DecodeError) { broken.skip.next }
  end

  class Keys
    attr_reader :found

    def initialize
      @found = []
    end

    def key(key)
      @found << key
    end
  end

  def test_handlers
    keys = Keys.new
    assert_nil R.parse_events('{"a":{"b":1}}', keys)
    R::MessagePack.parse_events("\x81\xA1c\x01".b, keys)
    assert_equal %w[a b c], keys.found
    assert_raises(ArgumentError) { R.parse_events("1", Object.new) }
    all = Class.new do
      attr_reader :seen

      def respond_to_missing?(*) = true

      def method_missing(name, *arguments)
        (@seen ||= []) << [name, *arguments]
      end
    end.new
    R.parse_events('{"a":[1]}', all)
    assert_equal [[:begin_document], [:begin_map], [:key, "a"], [:begin_array], [:value, 1], [:end_array], [:end_map],
                  [:end_document]], all.seen
  end

  def test_events_under_stress
    bytes = R::CBOR.dump({ "many" => (0..40).to_h { |index| ["key #{index}", ["text #{index}", index * 1.5, 2**70]] } })
    expected = R::CBOR.events(bytes).to_a
    GC.stress = true
    found = R::CBOR.events(bytes).to_a
    GC.stress = false
    assert_equal expected, found
  ensure
    GC.stress = false
  end

  # Reads 200 MB of JSON in one document, made as it is read, and prints what was found, the number of
  # events, and by how many MB the memory grew. In a process of its own: another test's garbage is not
  # the stream's.
  LARGE = <<~'RUBY'
    require "regauge"

    class Large
      ROW = %({"id":12345,"name":"a customer with a name","tags":["a","b"],"text":"#{"x" * 4000}"},)

      def initialize
        @parts = ['{"rows":[', *Array.new(200, ROW * 240), '1],"last":"found"}'].each
        @left = "".b
      end

      def read(length)
        @left = @parts.next.b if @left.empty?
        @left.slice!(0, length)
      rescue StopIteration
        nil
      end
    end

    memory = -> { File.read("/proc/self/status")[/VmRSS:\s+(\d+)/, 1].to_i / 1024 }
    source = Large.new
    most = before = memory.call
    count = 0
    found = nil
    events = Regauge.events(source, from: :json)
    events.each do |kind, value|
      count += 1
      most = [most, memory.call].max if (count % 50_000).zero?
      found = events.next.last if kind == :key && value == "last"
    end
    print [found, count, most - before].join(" ")
  RUBY

  def test_memory_is_bounded
    skip "needs /proc" unless File.exist?("/proc/self/status")
    paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
    found, count, grown = IO.popen([RbConfig.ruby, *paths, "-e", LARGE], &:read).split
    assert_equal "found", found
    assert_operator count.to_i, :>, 500_000
    assert_operator grown.to_i, :<, 64
  end
end
