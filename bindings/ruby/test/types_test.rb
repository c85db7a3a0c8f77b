# frozen_string_literal: true

require "helper"

# Values beyond plain data: what happens to them in each format.
class TypesTest < Minitest::Test
  include Helper

  R = Regauge
  Pair = Struct.new(:left, :right)
  class Money
    attr_reader :cents

    def initialize(cents) = @cents = cents
    def to_regauge = { "cents" => cents }
  end
  class Celsius
    attr_reader :degrees

    def initialize(degrees) = @degrees = degrees
    def ==(other) = other.is_a?(Celsius) && degrees == other.degrees
  end
  class Shy
    def to_h = { "shy" => true }
  end

  def teardown
    R.unregister(Celsius)
  end

  def test_strings_in_any_encoding
    latin = "é".encode("ISO-8859-1")
    utf16 = "é\u{1F600}".encode("UTF-16LE")
    assert_equal ["é", "é\u{1F600}"], R::JSON.load(R::JSON.dump([latin, utf16]))
    assert_equal ["é"], R::MessagePack.load(R::MessagePack.dump([latin]))
    bytes = "\xFF\x00é".b
    [R::MessagePack, R::CBOR, R::BSON, R::YAML, R::Pickle, R::Marshal].each do |codec|
      found = codec.load(codec.dump({ "b" => bytes }))["b"]
      assert_equal bytes, found
      assert_equal Encoding::BINARY, found.encoding
    end
    assert_raises(R::EncodeError) { R::JSON.dump("\xFF") }
    assert_raises(R::EncodeError) { R::JSON.dump("\xFF".dup.force_encoding("EUC-JP")) }
    assert_equal ["é"], R::JSON.load(R::JSON.dump({ latin => 1 })).keys
  end

  def test_symbols_are_text_unless_they_are_kept
    [R::JSON, R::MessagePack, R::CBOR, R::YAML, R::BSON].each do |codec|
      assert_equal({ "a" => "b" }, codec.load(codec.dump({ a: :b })))
    end
    assert_equal [:b], R::BSON.load(R::BSON.dump({ "a" => [:b] }, symbols: :keep))["a"]
    assert_equal({ "é" => 1 }, R::JSON.load(R::JSON.dump({ é: 1 })))
  end

  def test_times
    utc = Time.at(1_600_000_000, 123_456_789, :nsec).utc
    there = Time.at(1_600_000_000, 500_000_000, :nsec, in: "+05:30")
    assert_equal [utc, there], R::MessagePack.load(R::MessagePack.dump([utc, there]))
    assert_equal [utc, there], R::CBOR.load(R::CBOR.dump([utc, there]))
    found = R::YAML.load(R::YAML.dump([utc, there]))
    assert_equal [utc, there], found
    assert_equal 19_800, found[1].utc_offset
    milli = Time.at(1_600_000_000, 123, :millisecond).utc
    assert_equal milli, R::BSON.load(R::BSON.dump({ "t" => milli }))["t"]
    assert_raises(R::EncodeError) { R::BSON.dump({ "t" => utc }) }
    assert_raises(R::EncodeError) { R::JSON.dump(utc) }
    assert_equal "\"2020-09-13T12:26:40.123456789Z\"", R::JSON.dump(utc, on_loss: :approximate)
    assert_equal [utc, there], R::JSON.load(R::JSON.dump([utc, there], on_loss: :wrap), unwrap: true)
  end

  def test_dates
    date = Date.new(2026, 11, 21)
    moment = DateTime.new(2026, 11, 21, 12, 30, 15.5r, "+02:00")
    assert_equal [date], R::YAML.load(R::YAML.dump([date]))
    assert_equal [date], R::CBOR.load(R::CBOR.dump([date]))
    assert_equal moment.to_time, R::CBOR.load(R::CBOR.dump([moment]))[0]
    assert_equal [date, moment.to_time], R::JSON.load(R::JSON.dump([date, moment], on_loss: :wrap), unwrap: true)
    assert_equal "[\"2026-11-21\"]", R::JSON.dump([date], on_loss: :approximate)
  end

  # Ruby's own are Julian; other formats have the Gregorian calendar throughout.
  def test_dates_before_the_reform_keep_their_day
    date = Date.new(1500, 1, 1)
    assert_equal "d = 1500-01-10\n", R::TOML.dump({ "d" => date })
    moment = DateTime.new(1500, 1, 1, 12)
    [R::TOML, R::YAML, R::CBOR, R::Pickle].each do |codec|
      assert_equal date, codec.load(codec.dump({ "d" => date }))["d"], codec
      assert_equal Time.utc(1500, 1, 10, 12), codec.load(codec.dump({ "d" => moment }))["d"], codec
    end
    assert_equal Date.new(1582, 10, 10, Date::GREGORIAN), R::TOML.load("d = 1582-10-10\n")["d"]
    assert_equal "1582-10-10", R::TOML.load("d = 1582-10-10\n")["d"].to_s
    assert_equal ::Marshal.dump(Date.new(1582, 10, 15)), ::Marshal.dump(R::TOML.load("d = 1582-10-15\n")["d"])
  end

  def test_numbers
    values = [Rational(1, 3), Complex(1.0, -2.5), BigDecimal("1.10"), BigDecimal("-12345678901234567890.125"), BigDecimal("0")]
    assert_equal [Rational(1, 3), BigDecimal("-12345678901234567890.125")], R::CBOR.load(R::CBOR.dump([values[0], values[3]]))
    wrapped = R::JSON.dump(values, on_loss: :wrap)
    assert_equal values, R::JSON.load(wrapped, unwrap: true, permit: [Rational, Complex], numbers: :exact)
    assert_equal "[1.1]", R::JSON.dump([BigDecimal("1.1")])
    assert_equal "1.2345678901234567890123456789", R::JSON.dump(BigDecimal("1.2345678901234567890123456789"))
    assert_raises(R::EncodeError) { R::MessagePack.dump(BigDecimal("1.2345678901234567890123456789")) }
    assert_raises(R::EncodeError) { R::JSON.dump(BigDecimal("NaN")) }
  end

  def test_sets_ranges_structs_and_patterns
    values = { "set" => Set[1, "a"], "range" => 1...5, "open" => (2..), "struct" => Pair.new(1, [2]), "pattern" => /a.b/mi }
    R::JSON.dump(values, on_loss: :wrap).then do |text|
      found = R::JSON.load(text, unwrap: true, permit: [Set, Range, Pair, Regexp])
      assert_equal values.except("pattern"), found.except("pattern")
    end
    assert_equal Set[1, 2], R::CBOR.load(R::CBOR.dump(Set[1, 2]))
    assert_equal Set[1, 2], R::Pickle.load(R::Pickle.dump(Set[1, 2]))
    assert_equal values.except("pattern"), R::YAML.load(R::YAML.dump(values.except("pattern"), on_loss: :wrap), unwrap: true, permit: [Set, Range, Pair])
    assert_raises(R::EncodeError) { R::JSON.dump(Set[1]) }
    assert_equal "{\"left\":1,\"right\":2}", R::JSON.dump(Pair.new(1, 2), objects: :data)
    found = R::BSON.load(R::BSON.dump({ "p" => /a.b/mi }))["p"]
    assert_equal R::Special.new(:regex, "a.b", "ims"), found
    assert_equal R::BSON.dump({ "p" => /a.b/mi }), R::BSON.dump({ "p" => found })
    if defined?(::Data) && ::Data.respond_to?(:define)
      Object.const_set(:Coordinate, ::Data.define(:x, :y)) unless Object.const_defined?(:Coordinate)
      text = R::JSON.dump([Coordinate.new(x: 1, y: 2)], on_loss: :wrap)
      assert_equal [Coordinate.new(x: 1, y: 2)], R::JSON.load(text, unwrap: true, permit: [Coordinate])
    end
  end

  def test_own_classes_by_a_method_by_default_and_by_to_h
    assert_equal '[{"cents":5}]', R::JSON.dump([Money.new(5)])
    assert_equal({ "cents" => 5 }, R::MessagePack.load(R::MessagePack.dump(Money.new(5))))
    assert_raises(R::EncodeError) { R::JSON.dump(Shy.new) }
    assert_equal '{"shy":true}', R::JSON.dump(Shy.new, to_h: true)
    assert_equal '{"q":1}', R::JSON.dump(Struct.new(:q).new(1), to_h: true)
    assert_equal '["TypesTest::Shy"]', R::JSON.dump([Shy.new], default: ->(object) { object.class.name })
    forever = ->(object) { [object] }
    assert_raises(R::LimitError) { R::JSON.dump(Shy.new, default: forever) }
  end

  def test_registered_classes
    R.register(Celsius, ext: 5, yaml_tag: "!celsius", cbor_tag: 4711,
                        dump: ->(it) { it.degrees },
                        load: ->(it) { Celsius.new(it.is_a?(String) ? R::MessagePack.load(it) : it) })
    value = [Celsius.new(21.5)]
    assert_equal value, R::MessagePack.load(R::MessagePack.dump(value))
    assert_equal value, R::YAML.load(R::YAML.dump(value))
    assert_match(/!celsius 21.5/, R::YAML.dump(value))
    assert_equal value, R::CBOR.load(R::CBOR.dump(value))
    assert_equal "[21.5]", R::JSON.dump(value)
    assert_raises(ArgumentError) { R.register(Celsius, ext: 200) }
  end

  def test_values_of_one_format_only_come_back_as_they_were
    bson = R::BSON.dump({ "a" => R::Special.new(:object_id, "\x01".b * 12), "b" => R::Special.new(:min_key), "c" => R::Special.new(:binary, 128, "x".b) })
    found = R::BSON.load(bson)
    assert_equal "01" * 12, found["a"].to_s
    assert_equal bson, R::BSON.dump(found)
    ext = R::MessagePack.load("\xC7\x02\x07ab".b)
    assert_equal R::Special.new(:msgpack, 7, "ab".b), ext
    assert_equal "\xD5\x07ab".b, R::MessagePack.dump(ext)
    tagged = R::CBOR.load("\xD9\x12\x67\x61a".b)
    assert_equal [:cbor, "4711", "a"], [tagged.origin, tagged.name, tagged.value]
    assert_equal "\xD9\x12\x67\x61a".b, R::CBOR.dump(tagged)
    yaml = R::YAML.load("!mine {a: 1}")
    assert_equal "!mine", yaml.name
    assert_equal yaml, R::YAML.load(R::YAML.dump(yaml))
    assert_raises(R::EncodeError) { R::JSON.dump(yaml) }
  end

  def test_a_pickle_is_inert
    call = "cos\nsystem\n(S'true'\ntR.".b
    found = R::Pickle.load(call)
    assert_instance_of R::Typed, found
    assert_equal :python, found.origin
    assert_equal [1, "a", nil, { "b" => 2.5 }], R::Pickle.load(R::Pickle.dump([1, "a", nil, { "b" => 2.5 }]))
  end
end
