# frozen_string_literal: true

require "helper"
require "delegate"
require "timeout"

# Behaviour shared by all formats.
class CodecTest < Minitest::Test
  include Helper

  R = Regauge
  DATA_FORMATS = (R::FORMATS.keys - %i[ndjson csv tsv]).freeze

  DATA_FORMATS.each do |name|
    codec = R::FORMATS.fetch(name)

    define_method("test_#{name}_gives_back_plain_values") do
      plain = fitting(name, PLAIN)
      assert_same_value plain, codec.load(codec.dump(plain))
    end

    define_method("test_#{name}_reads_from_io_and_writes_to_io") do
      io = StringIO.new("".b)
      assert_same io, codec.dump({ "a" => [1] }, io)
      io.rewind
      assert_equal({ "a" => [1] }, codec.load(io))
      Tempfile.create("regauge") do |file|
        file.binmode
        file.write(io.string)
        file.close
        assert_equal({ "a" => [1] }, codec.load_file(file.path))
        assert_equal [{ "a" => [1] }], codec.each(file.path, path: true).to_a
      end
    end

    define_method("test_#{name}_gives_symbols_and_frozen_values") do
      bytes = codec.dump({ "a" => [{ "b" => "text" }] })
      assert_equal({ a: [{ b: "text" }] }, codec.load(bytes, symbolize_names: true))
      frozen = codec.load(bytes, freeze: true)
      assert_predicate frozen, :frozen?
      assert_predicate frozen["a"], :frozen?
      assert_predicate frozen["a"][0], :frozen?
      assert_predicate frozen["a"][0]["b"], :frozen?
      refute_predicate codec.load(bytes)["a"][0]["b"], :frozen?
    end

    define_method("test_#{name}_refuses_what_is_cut_off_or_goes_on") do
      bytes = codec.dump(fitting(name, { "a" => ["text", 1.5, { "b" => nil }] }))
      (0...bytes.bytesize - 1).each do |length|
        begin
          value = codec.load(bytes.byteslice(0, length))
          assert %i[yaml toml].include?(name), "#{length} bytes gave #{value.inspect}"
        rescue R::DecodeError => error
          assert_includes %i[truncated syntax], error.kind
          assert_operator error.offset, :<=, length
        end
      end
      next if name == :yaml

      error = assert_raises(R::DecodeError) { codec.load(bytes + bytes) }
      assert_operator error.offset, :>=, bytes.bytesize
    end

    define_method("test_#{name}_takes_changed_bytes_without_a_crash") do
      bytes = codec.dump(fitting(name, PLAIN))
      random = Random.new(7)
      2000.times do
        changed = bytes.dup.force_encoding(Encoding::BINARY)
        random.rand(1..3).times { changed.setbyte(random.rand(changed.bytesize), random.rand(256)) }
        begin
          codec.load(changed)
        rescue R::Error => error
          assert_kind_of Symbol, error.kind
        end
      end
    end

    define_method("test_#{name}_bounds_the_depth") do
      next if name == :marshal

      deep = 600.times.inject([]) { |inner, _| [inner] }
      deep = { "a" => deep } if %i[bson toml].include?(name)
      error = assert_raises(R::LimitError) { codec.dump(deep) }
      assert_equal :limit, error.kind
      bytes = codec.dump(deep, limits: { depth: 1000 })
      assert_raises(R::LimitError) { codec.load(bytes) }
      assert_equal deep, codec.load(bytes, limits: { depth: 1000 })
      itself = []
      itself << itself
      assert_raises(R::LimitError) { codec.dump(%i[bson toml].include?(name) ? { "a" => itself } : itself) }
    end

    define_method("test_#{name}_sends_exceptions_of_methods_on") do
      broken = Object.new
      def broken.to_regauge = raise(KeyError, "mine")
      next if name == :marshal

      error = assert_raises(KeyError) { codec.dump({ "a" => [broken] }) }
      assert_equal "mine", error.message
      io = Object.new
      def io.read(*) = raise(IOError, "closed")
      assert_raises(IOError) { codec.load(io) }
      assert_raises(IOError) { codec.each(io).to_a }
      assert_equal :thrown, catch(:out) { codec.dump({ "a" => Object.new }, default: ->(_) { throw :out, :thrown }) }
    end
  end

  def test_documents_come_one_by_one
    [R::MessagePack, R::CBOR, R::Marshal, R::Pickle].each do |codec|
      bytes = [{ "a" => 1 }, [2], nil].map { |value| codec.dump(value) }.join
      assert_equal [{ "a" => 1 }, [2], nil], codec.each(bytes).to_a
      assert_equal({ "a" => 1 }, codec.each(StringIO.new(bytes)).next)
      assert_equal 1, codec.each(StringIO.new(bytes)).first(1).length
    end
    assert_equal [1, 2], R::YAML.each("--- 1\n--- 2\n").to_a
    assert_equal [[1], {}], R::NDJSON.each(StringIO.new("[1]\n\n{}\n")).to_a
    assert_equal "[1]\n{}\n", R::NDJSON.dump([[1], {}])
    assert_equal [[1], {}], R::NDJSON.load("[1]\n{}\n")
  end

  def test_every_format_of_the_library_has_its_module_and_types
    signatures = File.read(File.join(Helper::ROOT, "bindings/ruby/sig/regauge.rbs"))
    (R::FORMATS.merge(R::MARC_FORMATS)).each do |name, codec|
      assert_same codec, R.codec(name)
      assert_same codec, R.codec(codec::FORMAT)
      assert_includes signatures, "module #{codec.name.split("::").last}\n"
      assert_match(/type format = .*:#{name}\b/, signatures)
    end
    assert_equal({ "a" => 1 }, R.load("a = 1", from: :toml))
    assert_equal R::Native.option_table.find { |row| row[0] == :from }[4].map { |text| text.delete(":").to_sym }.sort,
                 (R::FORMATS.keys + R::MARC_FORMATS.keys).sort
  end

  def test_toml
    text = <<~TOML
      title = "TOML"
      ratio = [0.1, -0.0, inf]
      [when]
      utc = 1979-05-27T07:32:00Z
      offset = 1979-05-27T00:32:00.5-07:00
      local = 1979-05-27T07:32:00
      day = 1979-05-27
      time = 07:32:00
      [[fruit]]
      name = "apple"
    TOML
    found = R::TOML.load(text)
    assert_equal({ "name" => "apple" }, found["fruit"][0])
    assert_equal Time.utc(1979, 5, 27, 7, 32), found["when"]["utc"]
    assert_equal(-7 * 3600, found["when"]["offset"].utc_offset)
    assert_equal Date.new(1979, 5, 27), found["when"]["day"]
    assert_equal R::Special.new(:local_time, "07:32:00"), found["when"]["time"]
    written = R::TOML.dump(found)
    assert_equal found, R::TOML.load(written)
    assert_equal Encoding::UTF_8, written.encoding
    assert_equal [found], R::TOML.each(StringIO.new(text)).to_a
    error = assert_raises(R::EncodeError) { R::TOML.dump({ "a" => [nil] }) }
    assert_equal "$.a[0]", error.path
    assert_raises(R::EncodeError) { R::TOML.dump([1]) }
  end

  def test_tables
    rows = [{ "name" => "Ada", "said" => "a \"b\",\n\tc" }, { "name" => "", "said" => "=1+1" }]
    assert_equal "name,said\nAda,\"a \"\"b\"\",\n\tc\"\n,=1+1\n", R::CSV.dump(rows)
    [R::CSV, R::TSV].each do |codec|
      assert_equal rows, codec.load(codec.dump(rows))
      assert_equal rows, codec.each(StringIO.new(codec.dump(rows))).to_a
      io = StringIO.new("".b)
      writer = codec::Writer.new(io)
      rows.each { |row| writer << row }
      assert_equal codec.dump(rows).b, io.string
      error = assert_raises(R::EncodeError) { writer << { "name" => "" } }
      assert_match(/other columns/, error.message)
    end
    assert_equal [{ "a" => 1 }], R::CSV.load("a;b\n1;2\n", delimiter: :semicolon, types: :infer).map { |row| row.slice("a") }
    assert_equal [%w[a b], %w[1 2]], R::CSV.load("a,b\n1,2\n", header: :no)
    assert_equal "1,2\n", R::CSV.dump([%w[1 2]], header: :no)
    assert_equal "a.b.0\n1\n", R::CSV.dump([{ "a" => { "b" => [1] } }], nested: :flatten)
    assert_equal [{ "a" => nil }], R::CSV.load(R::CSV.dump([{ "a" => nil }], on_loss: :wrap), unwrap: true)
    assert_raises(R::EncodeError) { R::CSV.dump([{ "a" => nil }]) }
    error = assert_raises(R::DecodeError) { R::CSV.load("a,a\n") }
    assert_match(/pass header: :no to read rows as arrays/, error.message)
  end

  def test_writers_write_documents_one_by_one
    R::FORMATS.each do |name, codec|
      io = StringIO.new("".b)
      writer = codec::Writer.new(io)
      writer << { "a" => 1 }
      if %i[toml json].include?(name)
        error = assert_raises(R::EncodeError) { writer << { "a" => 2 } }
        assert_match(/second document/, error.message)
        assert_equal({ "a" => 1 }, codec.load(io.string))
        next
      end
      writer << { "a" => 2 }
      assert_equal 2, writer.documents

      # In a table, numbers are text.
      numbers = %i[csv tsv].include?(name) ? %w[1 2] : [1, 2]
      assert_equal numbers.map { |number| { "a" => number } }, codec.each(io.string).to_a, name
    end
  end

  def test_a_stream_is_read_in_small_pieces
    slow = Object.new
    bytes = R::MessagePack.dump(PLAIN) * 3
    slow.define_singleton_method(:read) { |_ = nil| bytes.slice!(0, 7).then { |piece| piece.empty? ? nil : piece } }
    found = R::MessagePack.each(slow).to_a
    assert_equal 3, found.length
    found.each { |value| assert_same_value PLAIN, value }
  end

  def test_a_document_is_yielded_when_it_has_come
    [R::NDJSON, R::MessagePack].each do |codec|
      reader, writer = IO.pipe
      found = Queue.new
      thread = Thread.new { codec.each(reader) { |document| found << document } }
      writer.write(codec.dump(codec == R::NDJSON ? [{ "a" => 1 }] : { "a" => 1 }))
      Timeout.timeout(10) { assert_equal({ "a" => 1 }, found.pop) }
      writer.close
      thread.join
      assert_empty found
    end
  end

  # Its `readpartial` is that of the file.
  def test_a_read_of_a_subclass_is_not_passed_over
    Tempfile.create("regauge") do |file|
      file.write("[1]")
      delegator = Class.new(SimpleDelegator) { def read(*arguments) = super&.tr("1", "2") }
      file.rewind
      assert_equal [[2]], R::NDJSON.each(delegator.new(file)).to_a
      file.rewind
      file.define_singleton_method(:read) { |*arguments| super(*arguments)&.tr("1", "2") }
      assert_equal [[2]], R::NDJSON.each(file).to_a
    end
  end

  def test_a_broken_document_of_a_stream_says_which
    error = assert_raises(R::DecodeError) { R::NDJSON.each("{}\n[1\n{}\n").to_a }
    assert_equal 2, error.record
    assert_equal :ndjson, error.format
    seen = R::NDJSON.each("{}\n[1\n[2]\n", bad: :skip).to_a
    assert_equal [{}, R::BadRecord, [2]], seen.map { |document| document.is_a?(R::BadRecord) ? R::BadRecord : document }
    assert_equal "[1\n", seen[1].bytes
  end

  def test_errors_say_where
    error = assert_raises(R::DecodeError) { R::JSON.load(%({"items": [1, {"when": x}]})) }
    assert_equal "$.items[1].when", error.path
    assert_equal 23, error.offset
    assert_equal [1, 24], [error.line, error.column]
    assert_equal :syntax, error.kind
    assert_match(/expected a value/, error.message)
    assert_match(/\^/, error.excerpt)
    error = assert_raises(R::DecodeError) { R::MessagePack.load("\x81\xA1a\xC1".b) }
    assert_equal ["$.a", 3], [error.path, error.offset]
    error = assert_raises(R::EncodeError) { R::JSON.dump({ "a" => [Object.new] }) }
    assert_equal ["$.a[0]", :refused], [error.path, error.kind]
    refute_match(/--/, error.message)
  end

  def test_unknown_options_are_refused
    assert_raises(ArgumentError) { R::JSON.load("1", symbolise: true) }
    assert_raises(ArgumentError) { R::JSON.dump(1, on_loss: :maybe) }
    assert_raises(ArgumentError) { R::JSON.load("1", limits: { width: 1 }) }
    assert_raises(ArgumentError) { R::JSON.load }
    assert_raises(TypeError) { R::JSON.load(1) }
    assert_raises(TypeError) { R::JSON.load(nil) }
  end

  def test_a_symbol_and_the_same_text_are_no_two_keys
    [R::JSON, R::MessagePack, R::TOML].each do |codec|
      [{ a: 1, "a" => 2 }, { "b" => 1, "a" => { "a" => 1, b: 2, a: 3 } }].each do |hash|
        error = assert_raises(R::EncodeError) { codec.dump(hash) }
        words = codec == R::TOML ? 'the key "a" a second time' : 'the keys :a and "a" in one Hash'
        assert_includes error.message, words
      end
      hash = { a: 1, "b" => { "a" => 2, c: { "c" => 1 } } }
      assert_equal({ "a" => 1, "b" => { "a" => 2, "c" => { "c" => 1 } } }, codec.load(codec.dump(hash)))
    end
    assert_equal({ a: 1, "a" => 2 }, R::Marshal.load(R::Marshal.dump({ a: 1, "a" => 2 })))
  end

  def test_duplicate_keys
    text = '{"a":1,"b":2,"a":3}'
    assert_equal({ "a" => 3, "b" => 2 }, R::JSON.load(text))
    error = assert_raises(R::DecodeError) { R::JSON.load("[#{text}]", duplicate_keys: :refuse) }
    assert_equal :refused, error.kind
    assert_match(/"a"/, error.message)
  end

  def test_numbers_of_any_size
    digits = "123456789012345678901234567890"
    assert_equal digits.to_i, R::JSON.load(digits)
    assert_equal(-digits.to_i, R::JSON.load("-#{digits}"))
    assert_equal digits, R::JSON.dump(digits.to_i)
    [R::CBOR, R::YAML, R::Pickle, R::Marshal].each do |codec|
      assert_equal [digits.to_i, -digits.to_i, 2**64, -2**63 - 1], codec.load(codec.dump([digits.to_i, -digits.to_i, 2**64, -2**63 - 1]))
    end
    assert_equal 2**64 - 1, R::MessagePack.load(R::MessagePack.dump(2**64 - 1))
    assert_raises(R::EncodeError) { R::MessagePack.dump(2**64) }
    assert_raises(R::LimitError) { R::JSON.load("1" * 5000) }
    assert_equal BigDecimal("1.10"), R::JSON.load("1.10", numbers: :exact)
  end

  def test_numbers_that_are_none
    [R::MessagePack, R::CBOR, R::BSON, R::YAML, R::Marshal, R::Pickle].each do |codec|
      found = codec.load(codec.dump({ "a" => [Float::NAN, Float::INFINITY, -Float::INFINITY] }))["a"]
      assert_predicate found[0], :nan?
      assert_equal [Float::INFINITY, -Float::INFINITY], found[1..]
    end
    assert_raises(R::EncodeError) { R::JSON.dump(Float::NAN) }
    assert_raises(R::DecodeError) { R::JSON.load("NaN") }
    assert_predicate R::JSON.load("NaN", allow_nan: true), :nan?
  end

  def test_losses_are_refused_wrapped_or_approximated
    value = { "binary" => "\xFF\x00".b, "nan" => Float::INFINITY, 1 => "key" }
    assert_raises(R::EncodeError) { R::JSON.dump(value) }
    wrapped = R::JSON.dump(value, on_loss: :wrap)
    assert_equal value, R::JSON.load(wrapped, unwrap: true)
    assert_equal({ "binary" => "/wA=", "nan" => nil, "1" => "key" }, R::JSON.load(R::JSON.dump(value, on_loss: :approximate)))
  end

  def test_ways_to_write_json
    assert_equal "{\n  \"a\": [\n    1\n  ]\n}", R::JSON.dump({ "a" => [1] }, pretty: true)
    assert_equal '"\u00e9"', R::JSON.dump("é", ascii: true).downcase
    assert_equal [1], R::JSON.load("[1, /* one */ ]", comments: true, trailing_commas: true)
    assert_equal Encoding::UTF_8, R::JSON.dump("é").encoding
    assert_equal Encoding::BINARY, R::MessagePack.dump("é").encoding
  end

  def test_yaml_as_psych_and_rails_write_it
    text = <<~YAML
      defaults: &defaults
        adapter: sqlite3
        pool: 5
      development:
        <<: *defaults
        database: dev.sqlite3
      flags: [yes, off, 0o17, 017, 1_000]
    YAML
    found = R::YAML.load(text)
    assert_equal({ "adapter" => "sqlite3", "pool" => 5, "database" => "dev.sqlite3" }, found["development"])
    assert_equal [true, false], found["flags"][0, 2]
    assert_equal 15, found["flags"][3]
    assert_equal %w[yes off], R::YAML.load("[yes, off]", schema: "core")
    assert_nil R::YAML.load("")
    shared = R::YAML.load("a: &x [1]\nb: *x\n")
    assert_same shared["a"], shared["b"]
    itself = R::YAML.load("&x [*x]")
    assert_same itself, itself[0]
  end

  def test_convert_inspect_and_detect
    bytes = R.convert('{"a":[1,2.5]}', from: :json, to: :msgpack)
    assert_equal({ "a" => [1, 2.5] }, R::MessagePack.load(bytes))
    report = nil
    R.convert(R::MessagePack.dump("\xFF".b), from: :msgpack, to: :json, on_loss: :approximate) { |given| report = given }
    assert_equal [[:bytes, 1]], report[:losses].map { |loss| [loss[:kind], loss[:count]] }
    assert_raises(R::DecodeError) { R.convert("[1", from: :json, to: :yaml) }
    shape = R.inspect('{"a":[1,2.5]}')
    assert_equal :json, shape[:format]
    assert_includes shape[:paths].map { |path| path[:path] }, "$.a[*]"
    assert_equal "Regauge", R.inspect
    assert_equal :marshal, R.detect("\x04\x08[\x00".b)
    assert_equal :yaml, R.detect(nil, name: "a.yml")
    assert_equal [1], R.load("[1]")
    assert_equal "- 1\n", R.dump([1], to: :yaml)
    Dir.mktmpdir do |folder|
      File.write("#{folder}/a.json", '[{"a":1},{"a":2}]')
      R.convert_file("#{folder}/a.json", "#{folder}/a.ndjson")
      assert_equal [{ "a" => 1 }, { "a" => 2 }], R.load_file("#{folder}/a.ndjson")
      # What fails leaves the target as it was.
      File.write("#{folder}/b.json", '[{"a":1},{"a"')
      assert_raises(R::DecodeError) { R.convert_file("#{folder}/b.json", "#{folder}/a.ndjson") }
      assert_equal [{ "a" => 1 }, { "a" => 2 }], R.load_file("#{folder}/a.ndjson")
      assert_equal %w[a.json a.ndjson b.json], Dir.children(folder).sort
      error = assert_raises(Errno::ENOENT) { R.convert_file("#{folder}/none.json", "#{folder}/a.ndjson") }
      assert_includes error.message, "#{folder}/none.json"
    end
  end

  def test_a_part_is_converted
    lines = (0...100).map { |n| %({"id":#{n},"u":{"n":"x","m":1}}\n) }.join
    Dir.mktmpdir do |folder|
      source, target = "#{folder}/a.ndjson", "#{folder}/b.ndjson"
      File.write(source, lines)
      report = R.convert_file(source, target, only: ["id", "u.n"], rename: { "u.n" => "name" }, head: 2)
      assert_equal [2, []], report.values_at(:documents, :unmatched)
      assert_equal [0, 1].map { |n| { "id" => n, "u" => { "name" => "x" } } }, R.load_file(target)
      assert_equal ["drop $.none"], R.convert_file(source, target, drop: %w[u none])[:unmatched]
      assert_equal (0...100).map { |n| { "id" => n } }, R.load_file(target)
      samples = [1, 1, 2].map do |seed|
        R.convert_file(source, target, sample: 10, seed: seed)
        R.load_file(target).map { |one| one["id"] }
      end
      assert_equal samples[0], samples[1]
      refute_equal samples[0], samples[2]
      assert_equal samples[0].uniq.sort, samples[0]
      assert_equal 10, samples[0].size
    end
    assert_equal %({"a":1}\n), R.convert(%({"a":1,"b":2}), from: :json, to: :ndjson, drop: ["b"])
    { only: "a", drop: ["a..b"], rename: { "a[0]" => "b" } }.each do |name, wrong|
      error = assert_raises(ArgumentError) { R.convert("{}", from: :json, to: :json, name => wrong) }
      assert_match(/\A#{name}: /, error.message)
    end
  end

  def test_a_conversion_lets_other_threads_run
    text = "[#{"1.5," * 400_000}2]"
    ticks = 0
    ticker = Thread.new { loop { (ticks += 1) && sleep(0.001) } }
    R.convert(text, from: :json, to: :msgpack)
    ticker.kill
    assert_operator ticks, :>, 1
  end

  def test_real_documents_are_as_the_peers_read_them
    require "json"
    %w[twitter canada citm_catalog gsoc-2018].each do |name|
      text = File.read(data("json/#{name}.json"))
      expected = ::JSON.parse(text)
      assert_equal expected, R::JSON.load(text), name
      (R::FORMATS.keys - %i[ndjson csv tsv]).each do |format|
        codec = R::FORMATS[format]
        fitting = fitting(format, expected)
        assert_equal fitting, codec.load(codec.dump(fitting)), "#{name} #{format}"
      end
    end
  end

  def test_real_yaml_is_as_psych_reads_it
    require "yaml"
    %w[legislators-current.yaml languages.yml committees-current.yaml].each do |name|
      text = File.read(data("yaml/#{name}"))
      assert_equal ::YAML.safe_load(text, aliases: true), R::YAML.load(text), name
    end
  end

  # Hashes with recurring keys are built as copies of a template: nothing of one may leak into
  # another.
  def test_hashes_with_the_same_keys_are_hashes_of_their_own
    [0, 1, 2, 7, 8, 9, 30, 48, 49, 200].each do |size|
      rows = Array.new(6) { |row| (0...size).to_h { |key| ["key #{key}", [row, "value #{row} #{key}", key.odd? ? row : row.to_s]] } }
      (R::FORMATS.keys - %i[ndjson csv tsv]).each do |format|
        codec = R::FORMATS[format]
        wrapped = { "rows" => rows }
        found = codec.load(codec.dump(wrapped))["rows"]
        assert_equal rows, found, "#{format} #{size}"
        assert_equal rows.map(&:keys), found.map(&:keys)
        found.each { |row| row.each_key { |key| assert_equal row[key], row.fetch(key.dup) } }
        next if size.zero?

        found[3]["key 0"] = :changed
        found[4].delete("key 0")
        found[5]["another"] = 1
        assert_equal rows[2], found[2], "#{format} #{size}"
        assert_equal [:changed, size, size - 1, size + 1], [found[3]["key 0"], found[3].size, found[4].size, found[5].size]
        assert_nil found[4]["key 0"]
        assert_equal rows, codec.load(codec.dump(wrapped))["rows"], "what was changed is no template"
      end
    end
  end

  # Pairs are read directly from Ruby's memory, which deletion changes.
  def test_hashes_that_pairs_were_deleted_from
    [1, 2, 7, 8, 9, 30, 200].each do |size|
      [0, size / 2, size - 1].uniq.each do |gone|
        hash = (0...size).to_h { |key| ["key #{key}", "value #{key}"] }
        hash.delete("key #{gone}")
        again = hash.dup
        again["key #{gone}"] = "another"
        by_identity = again.dup.compare_by_identity
        assert_equal Marshal.dump(by_identity), R::Marshal.dump(by_identity)
        (R::FORMATS.keys - %i[ndjson csv tsv]).each do |format|
          codec = R::FORMATS[format]
          [hash, again].each do |value|
            found = codec.load(codec.dump({ "value" => value }))["value"]
            assert_equal value, found, "#{format} #{size} without #{gone}"
            assert_equal value.keys, found.keys
          end
        end
      end
    end
  end

  # If `to_regauge` changes the hash that contains the object: an error, and never a different hash.
  def test_hashes_that_change_while_they_are_written
    acts = { "grows" => ->(hash) { hash["another"] = 1 }, "shrinks" => ->(hash) { hash.delete("key 0") },
             "is as large as before" => lambda { |hash|
               hash.delete("key 0")
               hash["another"] = 1
             } }
    [3, 7, 8, 9, 30].product(%w[second last]).each do |size, place|
      key = place == "last" ? "key #{size - 1}" : "key 1"
      acts.each do |name, act|
        %i[json yaml msgpack bson cbor].each do |format|
          hash = (0...size).to_h { |number| ["key #{number}", number] }
          changing = Object.new
          changing.define_singleton_method(:to_regauge) do
            act.call(hash)
            "changed"
          end
          hash[key] = changing
          before = hash.merge(key => "changed")
          begin
            # A Ruby that iterates pair by pair raises its own error, or has returned the pair
            # before it was deleted.
            assert_equal before, R::FORMATS[format].load(R::FORMATS[format].dump(hash)), "#{format} #{size} #{name} #{place}"
            assert ENV["REGAUGE_PUBLIC_API"], "#{format} #{size} #{name} #{place}"
          rescue R::EncodeError, RuntimeError => error
            assert_match(/changed|during iteration/, error.message)
          end
        end
      end
    end
  end

  def test_text_of_every_length
    %w[a é].each do |character|
      texts = (0..70).map { |length| character * length }
      value = texts.to_h { |text| [text, [text]] }
      (R::FORMATS.keys - %i[ndjson csv tsv]).each do |format|
        codec = R::FORMATS[format]
        assert_equal value, codec.load(codec.dump(value)), format
        # Copies, in memory where other objects were.
        assert_equal value, codec.load(codec.dump(codec.load(codec.dump(value)))), format
      end
    end
  end

  def test_hashes_with_the_same_keys_by_option
    text = "[#{(['{"a":1,"b":{"c":2}}'] * 5).join(",")}]"
    assert_equal [{ a: 1, b: { c: 2 } }] * 5, R::JSON.load(text, symbolize_names: true)
    assert_equal [{ "a" => 1, "b" => { "c" => 2 } }] * 5, R::JSON.load(text)
    frozen = R::JSON.load(text, freeze: true)
    assert(frozen.all? { |row| row.frozen? && row["b"].frozen? })
    refute R::JSON.load(text).any?(&:frozen?)
    types = R::YAML.load("[!foo {a: 1}, 2020-01-01]", freeze: true) + R::CBOR.load(R::CBOR.dump([1r, Set[1]]), freeze: true)
    assert_equal [R::Typed, Date, Rational, Set], types.map(&:class)
    assert(types.all?(&:frozen?))
    assert_raises(FrozenError) { types.last << 1 }
    permitted = R::Marshal.load(::Marshal.dump([Set[1], 1r, String, 1..2]), freeze: true, permit: [Set, String, Rational])
    assert_equal [true, true, false, true], permitted.map(&:frozen?)
    twice = '[{"a":1,"b":2},{"a":1,"b":2},{"a":1,"b":2},{"a":1,"a":2},{"a":1,"a":2},{"a":1,"a":3}]'
    assert_equal [{ "a" => 1, "b" => 2 }] * 3 + [{ "a" => 2 }, { "a" => 2 }, { "a" => 3 }], R::JSON.load(twice)
    assert_raises(R::DecodeError) { R::JSON.load(twice, duplicate_keys: :refuse) }
    orders = '[{"a":1,"b":2,"c":3},{"a":1,"b":2,"c":3},{"b":1,"a":2,"c":3},{"a":1,"c":2,"b":3},{"a":4,"b":5,"c":6}]'
    assert_equal [%w[a b c], %w[a b c], %w[b a c], %w[a c b], %w[a b c]], R::JSON.load(orders).map(&:keys)
    assert_equal({ "a" => 4, "b" => 5, "c" => 6 }, R::JSON.load(orders).last)
  end
end
