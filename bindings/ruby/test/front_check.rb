# frozen_string_literal: true

# Checks the backend that drives the executable, on JRuby or, with REGAUGE_BACKEND=command, on any
# Ruby:
#
#   REGAUGE_COMMAND=target/release/regauge java -jar jruby-complete.jar -Ilib test/front_check.rb

ENV["REGAUGE_BACKEND"] = "command"
require "minitest/autorun"
require "tmpdir"
require "regauge"

class FrontTest < Minitest::Test
  R = Regauge

  def test_it_says_what_it_is
    assert_equal :command, R::BACKEND
    error = assert_raises(R::Unavailable) { R::MessagePack }
    assert_match(/convert/, error.message)
    assert_raises(NameError) { R::Nothing }
  end

  def test_messages_and_text_are_utf8
    error = assert_raises(R::DecodeError) { R.convert('{"é":ü', from: :json, to: :msgpack) }
    assert_equal "Fehler für json: byte 6, at $[\"é\"]: found `ü` (U+00FC), expected a value", "Fehler für #{error.message}"
    assert_equal "a: é\n", R.convert('{"a":"é"}', from: :json, to: :yaml)
    assert_equal Encoding::BINARY, R.convert('{"a":"é"}', from: :json, to: :cbor).encoding
  end

  def test_names_of_files_are_no_options
    Dir.mktmpdir do |folder|
      Dir.chdir(folder) do
        File.write("-x.json", "[1]")
        R.convert_file("-x.json", "-", to: :json)
        assert_equal "[1]\n", File.read("-")
        R.convert_file("-", "-y.yaml", from: :json)
        assert_equal "- 1\n", File.read("-y.yaml")
      end
    end
  end

  def test_convert_and_inspect
    packed = R.convert('{"a":[1,2.5]}', from: :json, to: :msgpack)
    assert_equal "\x81\xA1a\x92\x01\xCB\x40\x04\x00\x00\x00\x00\x00\x00".b, packed.b
    assert_equal '{"a":[1,2.5]}', R.convert(packed, from: :msgpack, to: :json).strip
    assert_raises(R::DecodeError) { R.convert("{", from: :json, to: :msgpack) }
    assert_raises(R::EncodeError) { R.convert("\xC4\x01a".b, from: :msgpack, to: :json) }
    assert_equal '{"$binary":{"base64":"YQ==","subType":"00"}}', R.convert("\xC4\x01a".b, from: :msgpack, to: :json, on_loss: :wrap).strip
    assert_equal "json", R.inspect('{"a":1}', from: :json)[:format]
    Dir.mktmpdir do |folder|
      File.write("#{folder}/a.json", '[{"a":1},{"a":2}]')
      R.convert_file("#{folder}/a.json", "#{folder}/a.ndjson")
      assert_equal [{ "a" => 1 }, { "a" => 2 }], R::NDJSON.each("#{folder}/a.ndjson", path: true).to_a
    end
  end

  def test_json_by_the_ruby_that_runs
    assert_equal({ a: 1 }, R::JSON.load('{"a":1}', symbolize_names: true))
    assert_raises(R::DecodeError) { R::JSON.load("{") }
    assert_equal [1, {}], R::NDJSON.load("1\n\n{}\n")
    assert_equal "[1]\n{}\n", R::NDJSON.dump([[1], {}])
  end

  def test_records
    hash = { "leader" => "00000nam a2200000 a 4500", "fields" => [{ "001" => "x" }, { "245" => { "ind1" => " ", "ind2" => " ", "subfields" => [{ "a" => "é" }] } }] }
    marc = R.convert(R::NDJSON.dump([hash]), from: :marc_json, to: :marc)
    found = R::MARC.each(marc).to_a
    assert_equal hash["fields"], found[0]["fields"]
  end
end
