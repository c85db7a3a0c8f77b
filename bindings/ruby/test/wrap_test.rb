# frozen_string_literal: true

require "helper"
require "bigdecimal"
require "date"
require "stringio"

# The reversible notation: written with `on_loss: :wrap`, read with `unwrap: true`, and nowhere else.
class WrapTest < Minitest::Test
  include Helper

  R = Regauge
  FORMATS = (R::FORMATS.keys - %i[ndjson csv tsv]).freeze

  # Plain data that looks like the notation, or like its escapes.
  ALIKE = {
    "nan" => { "$numberDouble" => "NaN" },
    "bytes" => { "$binary" => { "base64" => "AQI=", "subType" => "00" } },
    "key" => { "$key:1" => 2, '$key:"$key:1"' => 3, "a" => 4 },
    "other" => { "$q" => 1 },
    "later" => { "a" => 1, "$literal" => { "$literal" => {} } },
    "literal" => { "$literal" => { "$literal" => { "$time" => "2026-11-21T12:00:00Z" } } },
    "list" => [{ "$ruby:object" => "Foo", "value" => { "$alias" => 1 } }, { "$" => [] }]
  }.freeze

  FORMATS.each do |name|
    codec = R::FORMATS.fetch(name)

    define_method("test_plain_#{name}_is_never_taken_for_the_notation") do
      assert_equal ALIKE, codec.load(codec.dump(ALIKE))
      # Marshal has a separate writer, which holds every object, and does not write the notation.
      next if name == :marshal

      written = codec.dump(ALIKE, on_loss: :wrap)
      assert_equal ALIKE, codec.load(written, unwrap: true)
      raw = codec.load(written)
      assert_equal({ "$literal" => { "$q" => 1 } }, raw["other"])
      assert_equal raw, codec.load(codec.dump(raw, on_loss: :wrap), unwrap: true)
    end

    # Documents of BSON are joined into an array, which TOML cannot hold.
    FORMATS.reject { |there| [name, there].sort == %i[bson toml] }.each do |there|
      define_method("test_#{name}_to_#{there}_and_back") do
        source = codec.dump(ALIKE)
        [[{}, {}], [{ on_loss: :wrap }, { unwrap: true }]].each do |wrap, unwrap|
          converted = R.convert(source, from: name, to: there, **wrap)
          back = codec.load(R.convert(converted, from: there, to: name, **unwrap))
          # A BSON file holds any number of documents, which are joined into an array.
          back = back.first if there == :bson && back.is_a?(Array)
          assert_equal ALIKE, back
        end
      end
    end
  end

  def test_dates_and_decimals_come_back
    value = [Date.new(2026, 11, 21), DateTime.new(2026, 11, 21, 12, 0, 0, "+02:00"), BigDecimal("1.5"), 1.5]
    source = ::Marshal.dump(value)
    (FORMATS - %i[marshal bson toml]).each do |there|
      converted = R.convert(source, from: :marshal, to: there, on_loss: :wrap)
      found = ::Marshal.load(R.convert(converted, from: there, to: :marshal, unwrap: true))
      assert_equal value, found, there
      assert_equal value.map(&:class), found.map(&:class), there
    end
    written = R::JSON.dump(value.values_at(0, 2, 3), on_loss: :wrap)
    found = R::JSON.load(written, unwrap: true)
    assert_equal [Date, BigDecimal, Float], found.map(&:class)
  end

  def test_a_nan_keeps_its_payload
    odd = ["7ff8000000000001"].pack("H*").unpack1("G")
    found = R::JSON.load(R::JSON.dump([odd], on_loss: :wrap), unwrap: true)
    assert_equal "7ff8000000000001", [found[0]].pack("G").unpack1("H*")
    assert_raises(R::EncodeError) { R::YAML.dump(odd) }
  end

  def test_load_says_what_it_takes
    error = assert_raises(ArgumentError) { R::JSON.load("{}", on_loss: :wrap) }
    assert_includes error.message, "unwrap: true"
    error = assert_raises(R::DecodeError) { R::JSON.load('[{"$q": 1}]', unwrap: true) }
    assert_includes error.message, "without unwrap"
  end

  def test_a_store_reads_what_it_wrote
    value = ALIKE.merge("raw" => "\xFF".b, 5 => 1)
    Dir.mktmpdir do |folder|
      url = "sqlite:#{folder}/wrap.db"
      store = R::Store.open(url, collection: "wrapped", codec: "json", on_loss: :wrap)
      store["a"] = value
      assert_equal value, store["a"]
      plain = R::Store.open(url, collection: "wrapped")
      assert_equal({ "$literal" => { "$q" => 1 } }, plain["a"]["other"])
      plain["b"] = ALIKE
      assert_raises(R::DecodeError) { store["b"] }
      lenient = R::Store.open(url, collection: "wrapped", on_loss: :wrap, unwrap: false)
      assert_equal ALIKE, lenient["b"]
      [store, plain, lenient].each(&:close)
    end
  end

  def test_references_of_marc_8
    text = "\u4e2d &#x4E2D; \u{1f600}"
    field = { "245" => { "ind1" => " ", "ind2" => " ", "subfields" => [{ "a" => text }] } }
    json = R::JSON.dump({ "leader" => "00000nam  2200000 a 4500", "fields" => [field] })
    written = R.convert(json, from: :"marc-json", to: :marc, on_loss: :wrap)
    assert_includes written, "&#x1F600;"
    read = ->(**options) { R::MARC::Reader.new(StringIO.new(written), **options).first["245"]["a"] }
    assert_equal text, read.call(unwrap: true)
    refute_equal text, read.call
  end

  def test_rows_that_are_wrapped_as_a_whole
    rows = [5, 6]
    wrapped = R::CSV.dump(rows, on_loss: :wrap)
    assert_equal rows, R::CSV.load(wrapped, unwrap: true)
    assert_equal rows, R::CSV.each(wrapped, unwrap: true).to_a
    lines = R::NDJSON.dump([{ "a" => "x".b }, "y".b], on_loss: :wrap)
    assert_equal [{ "a" => "x".b }, "y".b], R::NDJSON.load(lines, unwrap: true)
    error = assert_raises(R::DecodeError) { R::NDJSON.load("1\n{\"a\":{\"$bytes\":5}}\n", unwrap: true) }
    assert_equal "$[1].a", error.path
  end
end
