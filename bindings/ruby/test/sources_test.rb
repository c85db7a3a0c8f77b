# frozen_string_literal: true

require_relative "helper"
require "pathname"

# What methods take to read from, and to write to.
class SourcesTest < Minitest::Test
  R = Regauge

  # What is no source of bytes.
  NONE = [5, 1.5, :text, ["aaa"] * 9, { "a" => 1 }, Object.new].freeze

  # An IO whose `read` returns something else than a String.
  class Odd
    def initialize(found) = @found = found
    def read(*) = @found
  end

  def test_what_is_no_source_is_a_type_error
    [*NONE, *NONE.map { |found| Odd.new(found) }].each do |source|
      [-> { R.convert(source, from: :json, to: :yaml) }, -> { R.convert(source, to: :yaml) },
       -> { R.convert(source, from: :marc, to: :json) }, -> { R.inspect(source, from: :json) }, -> { R.inspect(source) },
       -> { R.open_envelope(source) }, -> { R.load(source, from: :json) }, -> { R::JSON.load(source) }].each do |call|
        error = assert_raises(TypeError, source.inspect, &call)
        assert_match(/expected a String/, error.message)
      end
    end
    NONE.each do |source|
      [-> { R.detect(source) }, -> { R.load(source) }, -> { R::JSON.each(source).first },
       -> { R::JSON.events(source).first }, -> { R::MARC.each(source).first }].each do |call|
        assert_match(/expected a String/, assert_raises(TypeError, source.inspect, &call).message)
      end
    end
    [nil, Odd.new(nil)].each do |source|
      error = assert_raises(TypeError) { R.convert(source, from: :json, to: :yaml) }
      assert_match(/found nil, expected a String/, error.message)
    end
    assert_nil R.detect(nil)
  end

  def test_a_pathname_is_read_once
    Dir.mktmpdir do |folder|
      path = Pathname("#{folder}/two.ndjson")
      path.write("1\n2\n")
      assert_equal [1, 2], R::NDJSON.each(path).first(5)
      assert_equal [1, 2], R::NDJSON.events(path).filter_map { |kind, value| value if kind == :value }
      assert_equal [1, 2], R.events(path).filter_map { |kind, value| value if kind == :value }
      seen = []
      R.parse_events(path, Struct.new(:seen) { def value(found) = seen << found }.new(seen))
      assert_equal [1, 2], seen
      File.open(path) { |file| assert_equal [1, 2], R::NDJSON.each(file).to_a }
    end
  end

  def test_text_in_another_encoding_is_transcoded
    # "Ã©" in ISO-8859-1 are the bytes of "é" in UTF-8.
    text = "\"\u00C3\u00A9\"".encode("ISO-8859-1")
    assert_equal "\u00C3\u00A9", R::JSON.load(text)
    assert_equal "\u00C3\u00A9", R::YAML.load(text.encode("Windows-1252"))
    assert_equal ["\u00C3\u00A9"], R::JSON.each(text).to_a
    assert_equal [:value, "\u00C3\u00A9"], R::JSON.events(text).to_a[1]
    assert_equal "\"\u00C3\u00A9\"", R.convert(text, from: :json, to: :ndjson).chomp
    assert_equal "[\"\u00C3\u00A9\"]", R.convert("[#{text}]".encode("ISO-8859-1"), to: :json).strip
    assert_equal "\u00E9", R::JSON.load("\"\u00E9\"".encode("UTF-16LE"))
    Dir.mktmpdir do |folder|
      File.binwrite("#{folder}/a.json", "\"\xE9\"".b)
      File.open("#{folder}/a.json", "r:ISO-8859-1") { |file| assert_equal "\u00E9", R::JSON.load(file) }
    end
    # Bytes stay as they are.
    assert_equal "\u00E9", R::JSON.load("\"\u00E9\"".b)
    assert_equal({ "a" => "\u00E9" }, R::MessagePack.load(R::MessagePack.dump({ "a" => "\u00E9" }).force_encoding("ISO-8859-1")))
    assert_raises(Encoding::UndefinedConversionError) { R::JSON.load("\"\x81\"".dup.force_encoding("Windows-1252")) }
  end

  def test_files_that_are_not_there_are_errors_of_the_system
    Dir.mktmpdir do |folder|
      File.write("#{folder}/a.json", "1")
      error = assert_raises(Errno::ENOENT) { R.convert_file("#{folder}/none.json", "#{folder}/b.yaml") }
      assert_includes error.message, "none.json"
      error = assert_raises(Errno::ENOENT) { R.convert_file("#{folder}/a.json", "#{folder}/none/b.yaml") }
      assert_includes error.message, "none/b.yaml"
      refute File.exist?("#{folder}/b.yaml")
      assert_equal ["a.json"], Dir.children(folder)
    end
  end
end
