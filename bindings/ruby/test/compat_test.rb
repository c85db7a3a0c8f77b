# frozen_string_literal: true

require "helper"
require "regauge/marc/compat"

# `regauge/marc/compat` behaves like ruby-marc; test/ruby_marc_suite.rb runs ruby-marc's own tests.
class CompatTest < Minitest::Test
  include Helper

  def transcode(bytes, **options) = ::MARC::Marc8::ToUnicode.new.transcode(bytes, options)

  def test_marc_8_becomes_text
    ["", nil].each { |nothing| assert_equal "", transcode(nothing) }
    assert_equal "Conversação", transcode("Conversa\xF0c\xE4ao")
    assert_equal "Conversac\u0327a\u0303o", transcode("Conversa\xF0c\xE4ao", normalization: nil)
    assert_equal "a\u200F", transcode("a&#x200F;")
    assert_equal "a&#x200F;", transcode("a&#x200F;", expand_ncr: false)
    assert_equal "Москва", transcode("\e(NmOSKWA\e(B")
  end

  def test_bytes_that_mean_nothing_are_an_error_or_replaced
    # The last six of these characters are not EACC codes.
    bytes = "\e$1!PVK7oi$N!Q1!G4i$N!0p!Q+{6924f6}\e(B"
    error = assert_raises(Encoding::InvalidByteSequenceError) { transcode(bytes) }
    assert_equal "MARC8, input byte offset 30, code set: 0x31, code point: 0x7b3639, value: 米国の統治の仕組\uFFFD", error.message
    assert_equal "米国の統治の仕組\uFFFD", transcode(bytes, invalid: :replace)
    assert_equal "米国の統治の仕組", transcode(bytes, invalid: :replace, replace: "")
    assert_equal "米国の統治の仕組[?]", transcode(bytes, invalid: :replace, replace: "[?]")
    # An invalid code is followed by marks and other sets.
    assert_equal "a?caf\u00E9 \u041C", transcode("a\xFF!caf\xE2e \e(Nm\e(B", invalid: :replace, replace: "?")
    assert_equal "La Soci\u00E9t\e,", transcode("La Soci\xE2et\e,")
    # Wherever it is truncated, the result is text or this error.
    whole = "\e$1!PVK{69\e(B\e)4\xA1\xE2e\e(Nm\eg a\es\e)!E\xFF".b
    (0..whole.bytesize).each do |length|
      text = transcode(whole.byteslice(0, length), invalid: :replace)
      assert text.valid_encoding?
      begin
        assert_equal text, transcode(whole.byteslice(0, length))
      rescue Encoding::InvalidByteSequenceError => error
        assert_match(/\AMARC8, input byte offset \d+, code set: 0x\h+, code point: 0x\h+, value: /, error.message)
      end
    end
  end

  def test_codes_have_characters
    sets = ::MARC::Marc8::MapToUnicode::CODESETS
    assert_equal [0x6FD, false], sets[0x34][0xA1]
    assert_equal [0x301, true], sets[0x45][0xE2]
    assert_equal [0x7C73, false], sets[0x31]["!PV".bytes.inject { |high, low| high << 8 | low }]
    assert_equal [0x41, false], sets[0x42][0x41]
    assert_nil sets[0x31][0x7B3639]
    assert_nil sets[0x42][0x0A]
    assert_nil sets[0x99]
  end

  def test_tags_that_lost_their_zeros_get_them_back
    assert_equal %w[042 008 042 LO a], ["42", "8", 42, "LO", "a"].map { |tag| ::MARC::DataField.new(tag).tag }
    xml = <<~XML
      <record xmlns="http://www.loc.gov/MARC21/slim"><leader>      Z   22        4500</leader>
      <controlfield tag="001">1</controlfield>
      <datafield tag="42" ind1="0" ind2=" "><subfield code="a">dc</subfield></datafield></record>
    XML
    record = ::MARC::XMLReader.new(StringIO.new(xml)).first
    assert_equal "dc", record["042"]["a"]
    assert_equal ["0", " "], [record["042"].indicator1, record["042"].indicator2]
  end
end
