# frozen_string_literal: true

# Checks the backend that drives the executable, on JRuby or, with REGAUGE_BACKEND=command, on any
# Ruby:
#
#   REGAUGE_COMMAND=target/release/regauge java -jar jruby-complete.jar -Ilib test/front_check.rb

ENV["REGAUGE_BACKEND"] = "command"
require "minitest/autorun"
require "stringio"
require "tmpdir"
require "regauge"

class FrontTest < Minitest::Test
  R = Regauge

  def test_it_says_what_it_is
    assert_equal :command, R::BACKEND
    error = assert_raises(R::Unavailable) { R::MessagePack }
    assert_match(/convert/, error.message)
    assert_raises(NameError) { R::Nothing }
    assert_raises(NameError) { R::MARC::Nothing }
    assert_equal "Regauge", R.inspect
  end

  def test_anything_else_is_unavailable
    assert_operator R::Unavailable, :<, R::Error
    [
      -> { R.load("1") }, -> { R.load_file("a.json") }, -> { R.dump(1, to: :json) }, -> { R.detect("1") },
      -> { R.events("1") }, -> { R.parse_events("1", self) }, -> { R.open_envelope("1") }, -> { R.register(Dir) },
      -> { R::JSON.each("1") { nil } }, -> { R::JSON.each_file("a.json") { nil } }, -> { R::JSON.events("1") },
      -> { R::NDJSON.events("1") }, -> { R::JSON.load("[1]", limits: {}) }, -> { R::JSON.dump([1], on_loss: :wrap) },
      -> { R::NDJSON.each("1", bad: :skip) }, -> { R::NDJSON.dump([1], pretty: true) },
      -> { R::JSON.with(numbers: :exact).load("1") }, -> { R.inspect("1", limits: {}) },
      -> { R.convert("1", to: :yaml, from: :json, head: 1) },
      -> { R.convert("1", to: :yaml, from: :json) { nil } }, -> { R::FORMATS }, -> { R::CacheCoder },
      -> { R::MARC.load("") }, -> { R::MARC.each("", as: Object) { nil } }, -> { R::MARC::Reader }, -> { R::MARC::XML }
    ].each_with_index { |call, index| assert_raises(R::Unavailable, "call #{index}") { call.call } }
  end

  def test_messages_and_text_are_utf8
    error = assert_raises(R::DecodeError) { R.convert('{"é":ü', from: :json, to: :msgpack) }
    assert_equal "Fehler für json: byte 6, at $[\"é\"]: found `ü` (U+00FC), expected a value", "Fehler für #{error.message}"
    assert_equal [6, '$["é"]', :json], [error.offset, error.path, error.format]
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

  def test_json_is_written_as_regauge_does_or_not_at_all
    assert_equal '{"a":["é",1,2.5,null,true]}', R::JSON.dump({ a: ["é".encode("UTF-16LE"), 1, 2.5, nil, true] })
    check = lambda do |object, message|
      error = assert_raises(R::EncodeError, message) { R::JSON.dump(object) }
      assert_equal message, error.message
      assert_equal :unrepresentable, error.kind
      error
    end
    check.({ nil => 1 }, "json: at $: found a key of the class NilClass, which JSON cannot hold")
    check.([{ a: 1, "a" => 2 }], 'json: at $[0]: found the keys :a and "a" in one Hash, which are written as the same text')
    check.({ "a b" => [Object.new] }, 'json: at $["a b"][0]: found an object of the class Object, which only the extension writes')
    check.({ a: 1..3 }, "json: at $.a: found an object of the class Range, which only the extension writes")
    check.(Rational(1, 3), "json: at $: found an object of the class Rational, which only the extension writes")
    check.([Time.at(0)], "json: at $[0]: found an object of the class Time, which only the extension writes")
    check.([Float::NAN], "json: at $[0]: found the number NaN, which JSON cannot hold")
    check.(["\xFF".b], "json: at $[0]: found 1 bytes of binary data, which JSON cannot hold")
    assert_equal "$[0]", check.(["\xFF"], "json: at $[0]: found text that is not valid UTF-8").path
  end

  def test_depth
    deepest = 512.times.inject(1) { |inner, _| [inner] }
    assert_equal [1], R::JSON.load(R::JSON.dump(deepest)).flatten
    own = []
    own << own
    [[deepest], own].each { |object| assert_equal :limit, assert_raises(R::LimitError) { R::JSON.dump(object) }.kind }
    assert_equal :limit, assert_raises(R::LimitError) { R::JSON.load("#{"[" * 513}#{"]" * 513}") }.kind
  end

  def test_json_is_read_as_regauge_does
    ['["\q"]', '["\x41"]', "[1e999]", "[-1e999]", "[1/*a*/]", "[1]//a", "[1.5e308000]", "[1#{"0" * 400}.0]", "",
     "[01]", "[NaN]", "[\"\xFF\"]"].each do |text|
      assert_raises(R::DecodeError, text) { R::JSON.load(text) }
    end
    read = R::JSON.load("\uFEFF[-0, 1E2, 2e-400, \"\\ud83d\\ude00\\/\", \"https://a\"]")
    assert_equal [-0.0, 100.0, 0.0, "\u{1F600}/", "https://a"], read
    assert_equal "-0.0", read[0].to_s
    assert_equal ["é"], R::JSON.load('["é"]'.encode("UTF-16LE"))
    assert_raises(TypeError) { R::JSON.load(nil) }
    error = assert_raises(R::DecodeError) { R::JSON.load("[1,\n \"é\\q\"]") }
    assert_equal [8, 2, 4, "$[1]", nil], [error.offset, error.line, error.column, error.path, error.record]
    assert_match(/\Ajson: byte 8 \(line 2, column 4\), at \$\[1\]: found `\\q` in a string/, error.message)
  end

  def test_the_corpus_of_json
    corpus = File.expand_path("../../../corpus/json", __dir__)
    skip "no corpus" unless File.directory?(corpus)
    valid, broken = Dir["#{corpus}/valid/*.json"].partition { |path| !path.end_with?("/surrogates.json") }
    valid.each { |path| R::JSON.load_file(path) }
    # Text that is not UTF-8 is refused by Ruby's own json.
    broken.each { |path| assert_raises(R::DecodeError) { R::JSON.load_file(path) } }
    Dir["#{corpus}/invalid/*.json"].each { |path| assert_raises(R::Error, path) { R::JSON.load_file(path) } }
  end

  def test_lines_of_json
    error = assert_raises(R::DecodeError) { R::NDJSON.load("{\"a\":1}\n\n{\"é\":\n") }
    assert_equal [2, 3, 6, 15, :ndjson], [error.record, error.line, error.column, error.offset, error.format]
    assert_match(/\Andjson: record 2, byte 15 \(line 3, column 6\), at \$\["é"\]: found the end of the line/, error.message)
    io = StringIO.new
    R::NDJSON::Writer.new(io) << { a: 1 } << [2]
    assert_equal "{\"a\":1}\n[2]\n", io.string
    Dir.mktmpdir do |folder|
      File.write("#{folder}/a.ndjson", io.string)
      assert_equal [{ "a" => 1 }, [2]], R::NDJSON.each_file("#{folder}/a.ndjson").to_a
      assert_equal [{ a: 1 }, [2]], R::NDJSON.load_file("#{folder}/a.ndjson", symbolize_names: true)
    end
    assert_equal({ a: 1 }, R::JSON.with(symbolize_names: true).load('{"a":1}'))
  end

  def test_records
    hash = { "leader" => "00000nam a2200000 a 4500", "fields" => [{ "001" => "x" }, { "245" => { "ind1" => " ", "ind2" => " ", "subfields" => [{ "a" => "é" }] } }] }
    marc = R.convert(R::NDJSON.dump([hash]), from: :marc_json, to: :marc)
    found = R::MARC.each(marc).to_a
    assert_equal hash["fields"], found[0]["fields"]
  end
end
