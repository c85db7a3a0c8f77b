# frozen_string_literal: true

require_relative "helper"
require "set"

# What becomes of keys, flags and classes on the way out and back.
class ValuesTest < Minitest::Test
  R = Regauge

  Pair = Struct.new(:left, :right)

  # A class that is registered by a test.
  class Money < String; end

  # Classes of one line, two of which are registered.
  class A; end

  class B < A; end

  class C < B; end

  # Core classes with a representation of their own.
  class Loud < String
    def to_regauge = { "loud" => to_s.upcase }
  end

  class Sorted < Array
    def to_regauge = to_a.sort
  end

  class Bag < Hash
    def to_regauge = keys
  end

  # One that is itself plain data.
  class Same < String
    def to_regauge = self
  end

  def teardown
    [Money, Pair, A, B].each { |type| R.unregister(type) }
  end

  def by_identity(**)
    hash = {}.compare_by_identity
    [+"a", +"a", [1], [1], 7, :x].each_with_index { |key, index| hash[key] = index }
    hash
  end

  def test_a_hash_by_identity_keeps_equal_keys
    hash = by_identity
    bytes = ::Marshal.dump(hash)
    wrapped = R.convert(bytes, from: :marshal, to: :json, on_loss: :wrap)
    [R::Marshal.load(bytes), R::Marshal.load(bytes, freeze: true), R::JSON.load(wrapped, unwrap: true)].each do |found|
      assert_predicate found, :compare_by_identity?
      assert_equal hash.keys.map(&:to_s), found.keys.map(&:to_s)
      assert_equal hash.values, found.values
    end
    assert_predicate R::Marshal.load(bytes, freeze: true), :frozen?
    assert_equal bytes, R::Marshal.dump(R::Marshal.load(bytes))
  end

  def test_keys_of_a_hash_by_identity_keep_their_instance_variables
    hash = {}.compare_by_identity
    2.times { |value| hash["k".dup] = value }
    hash.keys.first.instance_variable_set(:@note, 1)
    bytes = ::Marshal.dump(hash)
    [{}, { freeze: true }].each do |options|
      found = R::Marshal.load(bytes, **options)
      assert_equal [[:@note], []], found.keys.map(&:instance_variables)
      assert_equal [options.any?], found.keys.map(&:frozen?).uniq
      assert_equal bytes, R::Marshal.dump(found)
    end
  end

  def test_a_hash_by_identity_with_a_default_or_with_itself_in_it
    hash = by_identity
    hash.default = { "a" => 1 }
    [{}, { freeze: true }].each do |options|
      found = R::Marshal.load(::Marshal.dump([hash, { "a" => 1 }]), **options)[0]
      assert_equal [hash.values, true, hash.default], [found.values, found.compare_by_identity?, found.default]
      refute_predicate found.default, :compare_by_identity?
    end
    hash = by_identity
    hash[:self] = hash
    found = R::Marshal.load(::Marshal.dump([hash, hash]))
    assert_same found[0], found[1]
    assert_same found[0], found[0][:self]
    assert_equal 7, found[0].size
    assert_raises(R::DecodeError) { R::JSON.load('{"$ruby:identity":"","value":[1,2]}', unwrap: true) }
  end

  def test_a_regexp_keeps_its_flags
    [/x/, /x/i, /x/m, /x/x, /x/u, /x/n, /\u00E9/, /x/mixn].each do |regexp|
      found = R::Marshal.load(::Marshal.dump(regexp), permit: [Regexp])
      assert_equal [regexp, regexp.options], [found, found.options]
    end
  end

  def test_core_classes_that_ruby_would_not_make_are_errors_of_ours
    broken = ["I/\b[/a\x00\x06:\x06EF", "U:\rRational[\ai\x06i\x00",
              "o:\nRange\b:\texclF:\nbegini\x06:\bendI\"\x06a\x06:\x06ET", "I:\x06\xFF\x06:\x06ET"]
    broken.each do |bytes|
      bytes = "\x04\b".b + bytes.b
      assert_raises(R::DecodeError, bytes.inspect) { R::Marshal.load(bytes, permit: R::Marshal::CORE) && flunk(bytes.inspect) }
    end
  end

  def test_bson_has_the_options_of_the_gem_bson
    { /a/ => "m", /a/i => "im", /a/m => "ms", /a/x => "mx", /a/mix => "imsx" }.each do |regexp, letters|
      assert_equal R::Special.new(:regex, "a", letters), R::BSON.load(R::BSON.dump({ "r" => regexp }))["r"]
    end
  end

  def test_a_registered_class_comes_back_from_every_format
    R.register(Pair, ext: 5, yaml_tag: "!pair", cbor_tag: 4711,
                     dump: ->(pair) { [pair.left, pair.right] }, load: ->((left, right)) { Pair.new(left, right) })
    [R::MessagePack, R::CBOR, R::YAML].each do |codec|
      value = { "pairs" => [Pair.new(1, "a"), Pair.new(nil, Pair.new(2, 3))] }
      assert_equal value, codec.load(codec.dump(value)), codec
    end
    assert_equal "\xC7\x03\x05\x92\x01\x02".b, R::MessagePack.dump(Pair.new(1, 2))
  end

  def test_the_payload_of_an_extension_may_be_bytes
    R.register(Pair, ext: 5, packed: false,
                     dump: ->(pair) { [pair.left, pair.right].pack("CC") }, load: ->(bytes) { Pair.new(*bytes.unpack("CC")) })
    assert_equal "\xD5\x05\x92\x01".b, R::MessagePack.dump(Pair.new(0x92, 1))
    assert_equal Pair.new(0x92, 1), R::MessagePack.load("\xD5\x05\x92\x01".b)
    R.register(Pair, ext: 5, packed: false, dump: ->(pair) { pair.to_a })
    error = assert_raises(R::EncodeError) { R::MessagePack.dump(Pair.new(1, 2)) }
    assert_match(/packed: false/, error.message)
  end

  def test_subclasses_of_core_classes_are_asked
    assert_equal '[{"loud":"HI"},[1,2],["k"],"s"]', R::JSON.dump([Loud.new("hi"), Sorted.new([2, 1]), Bag.new.merge!("k" => 1), Same.new("s")])
    assert_equal "[[0.5,1.5]]", R::JSON.dump([Sorted.new([1.5, 0.5])])
    assert_equal '"plain"', R::JSON.dump(Money.new("plain"))
    R.register(Money, ext: 7, dump: ->(money) { [money.to_s] }, load: ->((text)) { Money.new(text) })
    assert_equal '["1 EUR"]', R::JSON.dump(Money.new("1 EUR"))
    assert_instance_of Money, R::MessagePack.load(R::MessagePack.dump(Money.new("1 EUR")))
    extended = "own".dup.extend(Comparable)
    assert_equal '"own"', R::JSON.dump(extended)
  end

  def test_the_nearest_registered_ancestor_counts
    R.register(A, dump: ->(_) { "a" })
    R.register(B, dump: ->(_) { "b" })
    assert_equal '["a","b","b"]', R::JSON.dump([A.new, B.new, C.new])
    R.register(A, dump: ->(_) { "again" })
    assert_equal '["again","b","b"]', R::JSON.dump([A.new, B.new, C.new])
  end
end
