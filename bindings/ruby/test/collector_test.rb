# frozen_string_literal: true

require "helper"
require "open3"

# The garbage collector: it may run during any call into Ruby, move what is not marked, and
# everything unreferenced must be freed.
class CollectorTest < Minitest::Test
  include Helper

  R = Regauge
  Point = Struct.new(:x, :y)
  class Plain
    def initialize(a) = @a = a
  end

  VALUE = {
    "a" => [1, 1.5, 1e300, "text", "long " * 20, nil, { "b" => { "c" => [[]] } }, 2**70, :symbol.to_s],
    "many" => (0..12).to_h { |index| ["key #{index}", [index.to_s]] }, "unlikely key that is longer than forty bytes" => "é"
  }.freeze

  def stressed
    GC.stress = true
    yield
  ensure
    GC.stress = false
  end

  def test_under_stress
    (R::FORMATS.keys - %i[ndjson csv tsv]).each do |name|
      codec = R::FORMATS[name]
      value = %i[msgpack bson toml].include?(name) ? VALUE.merge("a" => VALUE["a"].reject { |v| v == 2**70 }) : VALUE
      value = fitting(name, value)
      bytes = codec.dump(value)
      found = again = nil
      stressed do
        found = codec.load(bytes)
        again = codec.dump(found)
      end
      assert_equal value, found, name
      assert_equal bytes, again, name
      symbols = stressed { codec.load(bytes, symbolize_names: true, freeze: true) }
      assert_equal value["many"].transform_keys(&:to_sym), symbols[:many]
    end
  end

  def test_listed_classes_under_stress
    objects = Array.new(6) { |index| Plain.new([index, "text #{index}", Plain.new(index * 1.5)]) }
    bytes = Marshal.dump(objects)
    found = stressed { 3.times.map { R::Marshal.load(bytes, permit: [Plain]) } }
    found.each { |copy| assert_equal bytes, Marshal.dump(copy) }
    # Through collections of all kinds, with objects that age meanwhile.
    many = Marshal.dump(Array.new(40_000) { |index| Plain.new(["a#{index}", index.to_s]) })
    kept = 4.times.map do
      copy = R::Marshal.load(many, permit: [Plain])
      GC.respond_to?(:compact) ? GC.compact : GC.start
      copy
    end
    kept.each { |copy| assert_equal many, Marshal.dump(copy) }
  end

  # Hashes that are copies of a template, with values younger than themselves.
  def test_rows_under_stress
    rows = lambda do |count|
      Array.new(count) do |row|
        few = { "id" => row, "name" => "name #{row} " * 4, "tags" => ["tag #{row}", [row]] }
        few.merge("many" => (0..9).to_h { |key| ["key #{key}", "value #{row} #{key}"] })
      end
    end
    %i[json msgpack marshal].each do |name|
      codec = R::FORMATS[name]
      few = rows[4]
      bytes = codec.dump(few)
      assert_equal few, stressed { codec.load(bytes) }, name
      # Enough for incremental collections, and for objects that age meanwhile.
      many = rows[3000]
      bytes = codec.dump(many)
      held = Array.new(4) { codec.load(bytes) }
      GC.start(full_mark: true, immediate_sweep: false)
      held.concat(Array.new(2) { codec.load(bytes) })
      GC.verify_internal_consistency if GC.respond_to?(:verify_internal_consistency)
      GC.start
      held.each { |found| assert_equal many, found, name }
    end
  end

  def test_objects_under_stress
    objects = [Plain.new([1]), Point.new(1, "x"), Time.at(0), Set["a"], 1r, "é".encode("UTF-16LE"), [Plain.new(Plain.new(1))] * 2]
    bytes = Marshal.dump(objects)
    inert = permitted = nil
    stressed do
      inert = R::Marshal.load(bytes)
      permitted = R::Marshal.load(bytes, permit: [Plain, Point, Time, Set, Rational])
    end
    assert_equal "CollectorTest::Plain", inert[0].class_name
    assert_equal bytes, Marshal.dump(permitted)
    text = stressed { R::JSON.dump([Time.at(0), Set[1], 1r, "é".encode("UTF-16LE")], on_loss: :wrap) }
    found = stressed { R::JSON.load(text, unwrap: true, permit: [Set, Rational]) }
    assert_equal [Time.at(0), Set[1], 1r, "é"], found
    yaml = stressed { R::YAML.load("a: &x [1, {b: *y}]\nc: *x\n".sub("*y", "2")) }
    assert_same yaml["a"], yaml["c"]
  end

  def test_records_under_stress
    bytes = stressed do
      record = R::MARC::Record.new
      record.append(R::MARC::ControlField.new("001", "1"))
      record.append(R::MARC::DataField.new("245", "1", "0", ["a", "text"], ["b", "more"]))
      R::MARC.dump([record, record])
    end
    stressed do
      found = R::MARC.each(StringIO.new(bytes)).to_a
      assert_equal %w[text text], found.map { |record| record["245"]["a"] }
      assert_equal bytes, R::MARC.dump(found)
    end
  end

  def test_many_fields_under_stress
    fields = (1..6).flat_map do |number|
      [{ "00#{number}" => "control #{number} é" },
       { "24#{number}" => { "ind1" => " ", "ind2" => "1", "subfields" => [{ "a" => "x" * 40 * number }, { "é" => "" }] } }]
    end
    hashes = Array.new(3) { |at| { "leader" => "00000nam a2200000 a 4500", "fields" => fields.rotate(at) } }
    bytes = R::MARC.dump(hashes)
    xml = R::MARC::XML.dump(hashes)
    found = stressed { R::MARC.load_all(bytes).each(&:fields) + R::MARC::XML.load_all(xml).each(&:fields) }
    assert_equal hashes.map { |hash| hash["fields"] } * 2, found.map { |record| record.to_hash["fields"] }
    assert_equal bytes + bytes, stressed { R::MARC.dump(found) }
    assert_equal bytes, stressed { R::MARC.dump(R::MARC.load_all(bytes)) }
    held = Array.new(200) { R::MARC.load_all(bytes).each(&:fields) }
    GC.start(full_mark: true, immediate_sweep: false)
    held.concat(Array.new(50) { R::MARC.load_all(bytes).each(&:fields) })
    GC.verify_internal_consistency if GC.respond_to?(:verify_internal_consistency)
    GC.compact if GC.respond_to?(:compact)
    held.each { |records| assert_equal bytes, R::MARC.dump(records) }
  end

  # Runs a test in a process of its own. Ruby 3.1 crashes if it moves objects by itself under stress after many
  # fibers have ended, whatever runs then, and other tests have ended many.
  def alone
    return yield if ENV["REGAUGE_ALONE"]

    paths = $LOAD_PATH.flat_map { |path| ["-I", path] }
    output, status = Open3.capture2e({ "REGAUGE_ALONE" => "1" }, RbConfig.ruby, *paths, __FILE__, "--name", name)
    assert status.success? && output.include?("1 runs"), output
  end

  # Each record reuses the memory of the previous one, and objects move while fields are created.
  def test_records_that_are_read_one_by_one_under_stress
    alone { read_one_by_one_under_stress }
  end

  def read_one_by_one_under_stress
    fields = Array.new(3) { |index| { "10#{index}" => { "ind1" => index.to_s, "ind2" => "é", "subfields" => [{ "a" => "x" * index * 20 }, { "é" => "ü" }] } } }
    sizes = [3, 1, 2, 0, 3]
    hashes = sizes.map { |size| { "leader" => "00000nam  2200000 a 4500", "charset" => "utf-8", "fields" => [{ "001" => "é#{size}" }] + fields.first(size) } }
    bytes = R::MARC.dump(hashes)
    [true, false].each do |moving|
      GC.auto_compact = true if moving && GC.respond_to?(:auto_compact=)
      seen = []
      stressed do
        R::MARC.each(bytes) { |record| seen << [record.fields.length, record["001"].value, record.charset, record] }
      end
      assert_equal sizes.map { |size| [size + 1, "é#{size}", "utf-8"] }, seen.map { |one| one.first(3) }
      records = seen.map(&:last)
      assert_equal bytes, R::MARC.dump(records)
      assert_equal hashes, records.map(&:to_hash).each { |hash| hash["leader"] = "00000nam  2200000 a 4500" }
    ensure
      GC.auto_compact = false if GC.respond_to?(:auto_compact=)
    end
  end

  def test_arrays_of_a_few_floats_are_arrays_like_others
    (0..6).each do |count|
      floats = Array.new(count) { |n| n - 1.25 }
      bytes = R::BSON.dump({ "a" => Array.new(50) { floats } })
      GC.stress = true
      found = R::BSON.load(bytes)["a"]
      GC.stress = false
      GC.verify_internal_consistency if GC.respond_to?(:verify_internal_consistency)
      assert_equal Array.new(50) { floats }, found
      first, second, third, frozen = found.first(4)
      assert_equal floats + ["x", [1]], first.push("x".dup, [1])
      assert_equal [:y] + floats, second.unshift(:y)
      assert_equal floats.reverse, third.reverse!
      assert_equal floats.hash, frozen.freeze.hash
      assert_raises(FrozenError) { frozen << 1 }
      found.last[0] = Object.new
      GC.start
      GC.compact if GC.respond_to?(:compact)
      assert_equal floats + ["x", [1]], first
      assert_equal floats, found[4].dup
    end
  ensure
    GC.stress = false
  end

  # 400 KB, so that the collector is paused while it is built.
  LARGE = R::MessagePack.dump(Array.new(20_000) { |n| [n * 0.5, -n * 0.25] })

  def asleep?
    GC.disable.tap { |was| GC.enable unless was }
  end

  def test_the_collector_is_as_it_was_after_a_large_document
    refute asleep?
    assert_equal 20_000, R::MessagePack.load(LARGE).length
    refute asleep?
    assert_raises(R::DecodeError) { R::MessagePack.load(LARGE[0...-1]) }
    refute asleep?
    GC.disable
    assert_equal 20_000, R::MessagePack.load(LARGE).length
    assert asleep?
  ensure
    GC.enable
  end

  def test_the_collector_is_awake_where_methods_run
    type = Class.new
    seen = []
    R.register(type, ext: 7, dump: ->(_) { "" }, load: ->(_) { seen << asleep? })
    R::MessagePack.load(R::MessagePack.dump(["x" * 300_000, type.new, type.new]))
    assert_equal [false, false], seen
    refute asleep?
  ensure
    R.unregister(type)
  end

  def test_what_was_built_before_large_documents_goes
    skip "counts pages of this process" unless GC.stat.key?(:heap_allocated_pages)
    text = R::JSON.dump("x" * 1_000_000)
    20.times { R::MessagePack.load(LARGE) }
    before = GC.stat(:heap_allocated_pages)
    200.times { R::MessagePack.load(LARGE) }
    assert_operator GC.stat(:heap_allocated_pages), :<=, before * 1.5
    return unless File.exist?("/proc/self/statm")

    resident = -> { File.read("/proc/self/statm").split[1].to_i * 4 }
    before = resident.call
    300.times { R::JSON.load(text) }
    assert_operator resident.call - before, :<, 150_000, "KB more"
  end

  def test_streams_under_stress
    bytes = R::MessagePack.dump(VALUE.except("a")) * 3
    found = stressed { R::MessagePack.each(StringIO.new(bytes)).to_a }
    assert_equal [VALUE.except("a")] * 3, found
    assert_raises(R::DecodeError) { stressed { R::JSON.load('{"a":[1,{"b":x}]}') } }
  end

  def test_compaction
    skip "this Ruby does not compact" unless GC.respond_to?(:compact)

    text = R::JSON.dump(VALUE)
    held = Array.new(200) { R::JSON.load(text) }
    stream = R::JSON.each(text)
    records = R::MARC.each(R::MARC.dump([{ "leader" => "00000nam a2200000 a 4500", "fields" => [{ "001" => "x" }] }]))
    GC.compact
    held.each { |value| assert_equal VALUE, value }
    assert_equal VALUE, R::JSON.load(text)
    assert_equal VALUE, stream.next
    assert_equal "x", records.next["001"].value
    if GC.respond_to?(:verify_compaction_references)
      arguments = RUBY_VERSION >= "3.2" ? { expand_heap: true } : { double_heap: true }
      GC.verify_compaction_references(toward: :empty, **arguments)
      held.each { |value| assert_equal VALUE, value }
      assert_equal VALUE, R::JSON.load(text)
      assert_equal Marshal.dump(held), R::Marshal.dump(held)
    end
    GC.auto_compact = true if GC.respond_to?(:auto_compact=)
    20.times { assert_equal VALUE, R::JSON.load(R::JSON.dump(VALUE)) }
    assert_equal Marshal.dump(held), R::Marshal.dump(held)
  rescue NotImplementedError
    skip "this Ruby does not compact"
  ensure
    GC.auto_compact = false if GC.respond_to?(:auto_compact=)
  end

  def resident
    GC.start
    File.read("/proc/self/statm").split[1].to_i * 4
  end

  # Repeats the block until it adds less than `most` KiB of memory. A leak adds as much every time; a
  # heap that earlier tests, in any order, left small or fragmented grows by less and less.
  def assert_stops_growing(most, times: 10)
    grown = []
    until grown.length == times
      before = resident
      yield
      grown << resident - before
      break if grown.last < most
    end
    assert_operator grown.last, :<, most, "#{grown.join(", ")} KiB more"
  end

  # Good and bad input: 100,000 loads, and memory use stops growing.
  def test_nothing_leaks
    skip "no /proc" unless File.exist?("/proc/self/statm")

    good = { R::JSON => '{"a":[1,"x",{"b":1.5}]}', R::YAML => "a: [1, x]", R::Marshal => Marshal.dump([1, "x", Plain.new(1)]) }
    [R::MessagePack, R::CBOR, R::BSON, R::Pickle].each { |codec| good[codec] = codec.dump({ "a" => [1, "x"] }) }
    bad = good.transform_values { |bytes| bytes.byteslice(0, bytes.bytesize - 2) }
    round = lambda do |times|
      times.times do
        good.each do |codec, bytes|
          codec.dump(codec.load(bytes))
        rescue R::EncodeError
          nil
        end
        bad.each do |codec, bytes|
          codec.load(bytes)
        rescue R::DecodeError
          nil
        end
      end
    end
    round.call(1500)
    assert_stops_growing(1024) { round.call(100_000 / good.length / 2 + 1) }
  end

  def test_exceptions_and_abandoned_streams_leak_nothing
    skip "no /proc" unless File.exist?("/proc/self/statm")

    bytes = R::MessagePack.dump({ "a" => "x" * 1000 }) * 5
    broken = Object.new
    def broken.to_regauge = raise("mine")
    round = lambda do |times|
      times.times do |index|
        # Each of these is a fiber, and Ruby keeps the stacks of finished ones.
        R::MessagePack.each(bytes).next if (index % 30).zero?
        R::MessagePack.each(StringIO.new(bytes)) { break }
        begin
          R::JSON.dump(["x" * 1000, broken])
        rescue RuntimeError
          nil
        end
        catch(:out) { R::JSON.dump([Object.new], default: ->(_) { throw :out }) }
      end
    end
    round.call(500)
    assert_stops_growing(4096) { round.call(3000) }
  end

  def test_ractors
    skip "no Ractor" unless defined?(Ractor)

    warning = $VERBOSE
    $VERBOSE = nil
    ractors = Array.new(4) do |number|
      Ractor.new(number) do |mine|
        300.times.map do |index|
          value = { "ractor" => mine, "list" => [index, "text #{index}", 1.5, nil, { "b" => [] }] }
          ok = [Regauge::JSON, Regauge::MessagePack, Regauge::CBOR, Regauge::YAML, Regauge::BSON].all? do |codec|
            codec.load(codec.dump(value)) == value
          end
          ok &&= Regauge::Marshal.load(Regauge::Marshal.dump(value)) == value
          ok &&= begin
            Regauge::JSON.load("[1,")
          rescue Regauge::DecodeError => error
            error.kind == :truncated
          end
          ok
        end.all?
      end
    end
    assert_equal [true] * 4, ractors.map { |ractor| ractor.respond_to?(:value) ? ractor.value : ractor.take }
  ensure
    $VERBOSE = warning
  end

  Shared = Struct.new(:x)
  Isolated = Struct.new(:x)
  SHARED = [->(shared) { [shared.x] }, ->((x)) { Shared.new(x) }].freeze

  # One of them with procs that every Ractor may call, the other with those of this one.
  def test_registered_classes_in_ractors
    skip "no Ractor" unless defined?(Ractor)

    warning = $VERBOSE
    $VERBOSE = nil
    dump, load = SHARED.map { |action| Ractor.make_shareable(action) }
    R.register(Shared, ext: 6, yaml_tag: +"!shared", dump: dump, load: load)
    R.register(Isolated, ext: 7, dump: ->(isolated) { [isolated.x] }, load: ->((x)) { Isolated.new(x) })
    ractor = Ractor.new do
      refused = begin
        Regauge::MessagePack.dump(Isolated.new(1))
      rescue Regauge::Error => error
        error.message
      end
      shared = Regauge::MessagePack.load(Regauge::MessagePack.dump(Shared.new(2)))
      [Regauge::YAML.dump([Date.new(2020, 1, 2), Shared.new(1)]), shared, refused]
    end
    yaml, shared, refused = ractor.respond_to?(:value) ? ractor.value : ractor.take
    assert_equal "- !!timestamp 2020-01-02\n- !shared\n  - 1\n", yaml
    assert_equal Shared.new(2), shared
    assert_match(/pass procs of Ractor\.make_shareable to Regauge\.register/, refused)
    assert_equal Isolated.new(3), R::MessagePack.load(R::MessagePack.dump(Isolated.new(3)))
  ensure
    [Shared, Isolated].each { |type| R.unregister(type) }
    $VERBOSE = warning
  end

  def test_threads_and_loads_in_loads
    inner = Class.new do
      def to_regauge = Regauge::JSON.load(Regauge::JSON.dump({ "inner" => [1, { "a" => 2 }] }))
    end
    text = R::JSON.dump([inner.new, [inner.new]])
    assert_equal '[{"inner":[1,{"a":2}]},[{"inner":[1,{"a":2}]}]]', text
    threads = Array.new(8) do
      Thread.new { 200.times.map { R::MessagePack.load(R::MessagePack.dump(VALUE.except("a"))) == VALUE.except("a") }.all? }
    end
    assert threads.all?(&:value)
  end
end
