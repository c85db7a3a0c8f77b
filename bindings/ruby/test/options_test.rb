# frozen_string_literal: true

require "helper"

# One option, one name: every row of the library's table, in every method.
class OptionsTest < Minitest::Test
  R = Regauge
  SHORT = {
    json: "{}", ndjson: "{}\n", yaml: "a: 1\n", msgpack: "\x80".b, cbor: "\xA0".b, bson: "\x05\0\0\0\0".b,
    marshal: "\x04\x08{\0".b, pickle: "}.", marc: "", marcxml: "<collection/>", marc_json: "", mrk: "", alephseq: "", toml: "", csv: "a\n1\n", tsv: "a\n1\n"
  }.freeze
  ROWS = R::Native.option_table.reject { |row| %i[from to].include?(row[0]) }.freeze

  def take
    yield
  rescue R::Error
    # A document may be refused, but a keyword or its value may not.
  end

  # Returns the warnings about old names.
  def warnings
    was = Warning[:deprecated]
    Warning[:deprecated] = true
    _out, err = capture_io { yield }
    err.lines.grep(/the old name will go away/)
  ensure
    Warning[:deprecated] = was
  end

  # Calls every method that takes the option, in the format's module and of all formats.
  def call_own(name, value, side, formats)
    formats.each do |format|
      codec = R.codec(format)
      bytes = SHORT.fetch(format)
      if %i[read both].include?(side)
        take { codec.load(bytes, name => value) }
        take { codec.each(bytes, name => value).to_a }
        take { codec.events(bytes, name => value).to_a } if codec.respond_to?(:events)
      end
      next unless %i[write both].include?(side)

      take { codec.dump(format.to_s.start_with?("marc") ? [] : {}, name => value) }
    end
  end

  def call_generic(name, value, side, formats)
    formats.each do |format|
      bytes = SHORT.fetch(format)
      if %i[read both].include?(side)
        take { R.load(bytes, from: format, name => value) }
        take { R.events(bytes, from: format, name => value).to_a }
      end
      if %i[write both].include?(side)
        take { R.dump(format.to_s.start_with?("marc") ? [] : {}, to: format, name => value) }
      end
      take { R.convert(bytes, from: format, to: format, name => value) }
    end
  end

  # How `Regauge.load` marks its calls is not a keyword.
  def test_the_mark_of_generic_methods_is_no_keyword
    R::FORMATS.each_key do |format|
      [-> { R.codec(format).load(SHORT.fetch(format), generic: true) },
       -> { R.codec(format).each(SHORT.fetch(format), generic: true).to_a },
       -> { R.codec(format).dump({}, generic: true) },
       -> { R.load(SHORT.fetch(format), from: format, generic: true) },
       -> { R.dump({}, to: format, generic: true) }].each do |call|
        error = assert_raises(ArgumentError, &call)
        assert_equal "unknown keyword: :generic", error.message, format
      end
    end
  end

  ROWS.each do |name, full, old, old_generic, values, side, formats|
    formats = SHORT.keys if formats.empty?

    define_method("test_#{full}_has_one_name") do
      values.each do |text|
        value = eval(text)
        assert_empty(warnings { call_own(name, value, side, formats) })
        assert_empty(warnings { call_generic(full, value, side, formats) })
      end
      value = eval(values.first)
      old.each do |older|
        next if side == :convert

        told = warnings { call_own(older, value, side, formats) }
        refute_empty told
        assert(told.all? { |line| line.include?("#{older}: is now #{name}:") && line.include?("options_test.rb:") }, told.join)
      end
      old_generic.each do |older|
        told = warnings { call_generic(older, value, side, formats) }
        refute_empty told
        assert(told.all? { |line| line.include?("#{older}: is now ") && line.include?("options_test.rb:") }, told.join)
      end
    end
  end

  def test_old_names_do_the_same
    warnings do
      assert_equal R::JSON.dump("é", ascii: true), R::JSON.dump("é", ascii_only: true)
      assert_equal R.dump([1], to: :json, json_indent: 2), R.dump([1], to: :json, indent: 2)
      assert_equal R.convert("[1]", from: :json, to: :json, json_indent: 2), R.convert("[1]", from: :json, to: :json, indent: 2)
      assert_equal 1, R::NDJSON.each("[\n1\n", skip_bad: true).count { |value| value.is_a?(R::BadRecord) }
      assert_equal [true], R.load("[yes]", from: :yaml, schema: "1.1")
    end
    assert_equal ["yes"], R.load("[yes]", from: :yaml, yaml_schema: "core")
  end

  def test_the_old_name_of_bad_in_marc
    told = warnings do
      assert_empty R::MARC::Reader.new(StringIO.new(""), skip_bad: true).to_a
      assert_empty R::MARC.each("", skip_bad: true).to_a
    end
    assert_equal 2, told.length
    assert(told.all? { |line| line.include?("options_test.rb:") && line.include?("skip_bad: is now bad:") }, told.join)
  end

  def test_the_old_name_of_jobs_in_marc
    told = warnings do
      assert_empty R::MARC::Reader.new(StringIO.new(""), threads: 2).to_a
      assert_empty R::MARC::Reader.new(StringIO.new("")).each(threads: 2).to_a
      assert_empty R::MARC.each("", threads: 2).to_a
    end
    assert_equal 3, told.length
    assert(told.all? { |line| line.include?("options_test.rb:") && line.include?("threads: is now jobs:") }, told.join)
  end

  def test_options_of_other_formats
    assert_equal [1], R.load("[1]", yaml_schema: "core", json_comments: true)
    assert_raises(ArgumentError) { R.load("[1]", yaml_colour: 1) }
    assert_raises(ArgumentError) { R::JSON.load("[1]", json_comments: true) }
    assert_raises(ArgumentError) { R.convert("[1]", from: :json, to: :yaml, colour: 1) }
  end

  # Options of the library are documented under the name that they have in a format's module.
  def test_the_guide_lists_every_option
    guide = File.read(File.expand_path("../../../docs/ruby.md", __dir__))
    ROWS.each { |row| assert_includes guide, "`#{row[0]}:" }
  end

  def test_options_that_would_have_no_effect
    error = assert_raises(ArgumentError) { Regauge::Marshal.load("\x04\b0", permit: ["Time"]) }
    assert_match(/permit: takes an array of classes and modules/, error.message)
    assert_raises(ArgumentError) { Regauge::Marshal.load("\x04\b0", permit: "Time") }
    assert_nil Regauge::Marshal.load("\x04\b0", permit: [Time, Comparable])
    error = assert_raises(ArgumentError) { Regauge::JSON.dump(1, default: 5) }
    assert_match(/default: takes anything with a method call/, error.message)
  end
end
