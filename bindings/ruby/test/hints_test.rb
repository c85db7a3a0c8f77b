# frozen_string_literal: true

require "helper"

# The method that raised accepts what a hint suggests; and it helps.
class HintsTest < Minitest::Test
  KEYWORD = /
    (?<![\w.:"])(?<name>[a-z_0-9]+):\s
    (?:(?<limit>\{\s\w+:\s…\s\})|(?<words>(?::\w+|"[^"]*")(?:(?:,\s:\w+)*\sor\s:\w+)?)|(?<other>true|false|nil|…|\d+(?:\sor\s\d+)*))
  /x.freeze

  SHORT = {
    json: "{}", ndjson: "{}\n", yaml: "a: 1\n", msgpack: "\x80".b, cbor: "\xA0".b, bson: "\x05\0\0\0\0".b,
    marshal: "\x04\x08{\0".b, pickle: "}.", marc: "", marcxml: "<collection/>", marc_json: "", mrk: "", alephseq: "", toml: "", csv: "a\n1\n", tsv: "a\n1\n"
  }.freeze

  # Yields the keywords that a hint names, one by one with each value.
  def advised(hint)
    hint.to_enum(:scan, KEYWORD).flat_map do
      found = Regexp.last_match
      values =
        if found[:limit] then [eval(found[:limit].sub("…", "nil"))]
        elsif found[:words] then found[:words].scan(/:(\w+)|"([^"]*)"/).map { |word, text| word ? word.to_sym : text }
        elsif found[:other].match?(/\d/) then found[:other].scan(/\d+/).map(&:to_i)
        else [{ "true" => true, "false" => false, "nil" => nil }.fetch(found[:other], 1 << 40)]
        end
      values.map { |value| [found[:name].to_sym, value] }
    end
  end

  # Calls again as the hint suggests; returns the hint.
  def follow(options = {}, &call)
    error = assert_raises(Regauge::Error) { call.call(**options) }
    if error.hint.nil?
      refute_includes error.message, "; pass"
      return nil
    end
    assert error.message.end_with?("; #{error.hint}"), error.message
    refute_match(/(?<!xmllint )--[a-z]|\bregauge (inspect|convert)\b/, error.hint)
    advised(error.hint).each do |name, value|
      next if error.hint.include?("without #{name}:")

      begin
        call.call(**options, name => value)
      rescue Regauge::Error => second
        # The next error may be different, but the same hint must not recur.
        refute_equal error.message, second.message
      end
    end
    error.hint
  end

  DEEP = "#{"[" * 600}#{"]" * 600}"

  LOADS = [
    [:json, "[1,]", {}, "pass trailing_commas: true to accept it"],
    [:json, "/* */ 1", {}, "pass comments: true to accept // and /* */"],
    [:json, "[NaN]", {}, "pass allow_nan: true to accept NaN, Infinity and -Infinity"],
    [:json, "[1e999]", {}, "pass numbers: :exact to keep its digits"],
    [:json, DEEP, {}, "pass limits: { depth: … } to raise it, up to 1024"],
    [:json, "1" * 5000, {}, "pass limits: { integer_digits: … } to raise it"],
    [:json, "{\"a\":1}\n{\"a\":2}", {}, "use Regauge::NDJSON if every line holds a document"],
    [:json, '{"a":1,"a":2}', { duplicate_keys: :refuse }, "pass duplicate_keys: :last to have the last"],
    [:ndjson, "{\n\"a\":1}", {}, "use Regauge::JSON if a document spans several lines"],
    [:yaml, "a", { schema: :json }, "pass schema: :core to read it as text"],
    [:msgpack, "#{"\x91" * 600}\x01".b, {}, "pass limits: { depth: … } to raise it, up to 1024"],
    [:cbor, "#{"\x81" * 600}\x01".b, {}, "pass limits: { depth: … } to raise it, up to 1024"],
    [:pickle, "U\x01\xE9.".b, {}, "pass strings: :utf8, :latin1 or :bytes to read it that way"]
  ].freeze

  def test_hints_of_load
    LOADS.each do |format, data, options, expected|
      hint = follow(options) { |**given| Regauge.codec(format).load(data, **given) }
      assert_equal expected, hint, data[0, 20].inspect
    end
  end

  # `Regauge.load` has its keywords under other names, and its hints too.
  def test_hints_of_load_in_any_format
    LOADS.each do |format, data, options, expected|
      next unless options.empty?

      generic = expected.sub(/(?<=pass )(trailing_commas|comments|allow_nan|strings)(?=:)/, "#{format}_\\1")
      [->(**given) { Regauge.load(data, from: format, **given) },
       ->(**given) { Regauge.load(data, from: format, symbolize_names: true, **given) }].each do |call|
        assert_equal generic, follow(&call), data[0, 20].inspect
      end
    end
    hint = follow { |**given| Regauge.events("[1,]", from: :json, **given).to_a }
    assert_equal "pass json_trailing_commas: true to accept it", hint
  end

  def test_hints_of_dump
    bytes = "\xE9".b
    hint = follow { |**given| Regauge::JSON.dump([bytes], **given) }
    assert_match(/\Apass on_loss: :wrap to write .* or on_loss: :approximate to write /, hint)
    hint = follow({ document_bytes: 5 }) { |**given| Regauge::BSON.dump({ "a" => 1 }, **given) }
    assert_equal "pass document_bytes: … to raise it, or leave it out", hint
    assert_nil(follow { |**given| Regauge::BSON.dump([1], **given) })
  end

  CONVERSIONS = [
    ["[NaN]", :json, :yaml, {}, "pass json_allow_nan: true"],
    ["\xC4\x01a".b, :msgpack, :json, {}, "pass on_loss: :wrap"],
    ["\x01\x02", :msgpack, :json, { documents: :keep }, "pass to: :ndjson, or documents: :join"],
    ["[{}]", :json, :bson, { documents: :keep }, "pass documents: :split"],
    ['{"a":{"$oid":1}}', :json, :json, { json_extended: :relaxed }, "read without json_extended:"],
    ["\x04\x08o:\x08Foo\x06:\x07@ai\x06".b, :marshal, :json, {}, "pass objects: :data"]
  ].freeze

  def test_hints_of_convert
    CONVERSIONS.each do |data, from, to, options, expected|
      hint = follow({ to: to, **options }) { |**given| Regauge.convert(data, from: from, **given) }
      assert hint.start_with?(expected), hint
    end
  end

  CORPUS = File.expand_path("../../../corpus", __dir__)
  SUFFIXES = {
    ".json" => :json, ".ndjson" => :ndjson, ".yaml" => :yaml, ".msgpack" => :msgpack, ".cbor" => :cbor, ".bson" => :bson,
    ".marshal" => :marshal, ".pickle" => :pickle, ".mrc" => :marc, ".marcxml" => :marcxml, ".xml" => :marcxml, ".toml" => :toml, ".csv" => :csv, ".tsv" => :tsv
  }.freeze

  def test_the_hints_of_every_invalid_file
    hints = Dir[File.join(CORPUS, "*/invalid/*")].sort.flat_map do |path|
      next [] unless (format = SUFFIXES[File.extname(path)])

      data = File.binread(path)
      calls = [
        ->(**options) { Regauge.codec(format).each(data, **options).to_a },
        ->(**options) { Regauge.convert(data, from: format, to: :json, **options) }
      ]
      calls.filter_map do |call|
        call.call
        nil
      rescue Regauge::Error
        follow { |**options| call.call(**options) }
      end
    end
    assert_operator hints.uniq.size, :>, 20
    assert(hints.any? { |hint| hint.include?("marc_repair: true") })
  end
end
