#!/usr/bin/env ruby
# frozen_string_literal: true

# Checks with a real Ruby what regauge writes and reads as Marshal.
#
#     ruby tools/ruby_marshal_check.rb path/to/regauge [FOLDER]
#
# - Plain data, and random documents of it, are converted from JSON to Marshal, and `Marshal.load`
#   returns the exact values.
# - Ruby values are converted from Marshal to Marshal, and the bytes are the same; and through JSON
#   in the reversible notation, and the values are equal.
# - In the encodings that regauge reads as text, every character of one and two bytes is decoded as
#   in Ruby.
# - With FOLDER, every JSON file in it is converted and loaded too.
#
# Exits with 1 if anything differs. Only data created by this file is loaded.

require "bigdecimal"
require "date"
require "json"
require "open3"
require "ostruct"
require "set"
require "tempfile"

REGAUGE = ARGV.fetch(0) { abort "usage: ruby tools/ruby_marshal_check.rb path/to/regauge [FOLDER]" }
SEED = 20_261_121
$checks = 0
$failures = 0

# Converts bytes with the command; returns the bytes, or nil after printing why.
def convert(bytes, from, to, *options)
  command = [REGAUGE, "convert", "-", "-", "--from", from, "--to", to, *options]
  written, message, status = Open3.capture3(*command, stdin_data: bytes, binmode: true)
  return written if status.success?

  puts "#{command.join(" ")}: #{message}"
  nil
end

def check(name, expected, found)
  $checks += 1
  return if found == expected

  $failures += 1
  puts "#{name}: expected #{expected.inspect[0, 300]}, found #{found.inspect[0, 300]}"
end

# Equal in class, encoding and sign too, which == ignores.
def same?(one, other)
  return false unless one.class == other.class

  case one
  when String then one == other && one.encoding == other.encoding
  when Float then [one].pack("G") == [other].pack("G")
  when Array then one.size == other.size && one.zip(other).all? { |a, b| same?(a, b) }
  when Hash then same?(one.to_a, other.to_a) && same?(one.default, other.default)
  else one == other
  end
end

class Point
  attr_accessor :x, :y

  def initialize(x, y) = (@x, @y = x, y)
  def ==(other) = other.is_a?(Point) && [x, y] == [other.x, other.y]
end

class Name < String; end
Pair = Struct.new(:left, :right)

class Sent
  attr_reader :value

  def initialize(value) = @value = value
  def marshal_dump = @value
  def marshal_load(value) = @value = value
  def ==(other) = other.is_a?(Sent) && value == other.value
end

# Numbers: fixnums, bignums of 31 to 64 bits and more, floats in every notation.
NUMBERS = [
  0, 1, -1, 122, 123, -123, -124, 255, 256, -256, -257, 65_535, 65_536, -65_536, -65_537,
  2**24, -2**24 - 1, 2**30 - 1, 2**30, -2**30, -2**30 - 1, 2**31, 2**62, 2**63 - 1, 2**63, -2**63,
  2**64 - 1, 2**64, -2**64, 10**40, -10**40,
  0.0, -0.0, 1.0, 1.5, -1.5, 0.1, 100.0, 1e15, 1e16, 1e17, 1e22, 1e23, 1e-4, 1e-5, 1.5e-7, 123.456,
  5e-324, Float::MAX, Float::MIN, Float::EPSILON, 1 / 3.0, 2.0**52, 2.0**53
].freeze

def random_value(random, depth = 4)
  case random.rand(depth.zero? ? 6 : 9)
  when 0 then [nil, true, false].sample(random: random)
  when 1 then NUMBERS.sample(random: random)
  when 2 then random.rand(-2**70..2**70) >> random.rand(70)
  when 3 then (random.rand - 0.5) * 10.0**random.rand(-300..300)
  when 4 then "é€𝄞a\"\\\n".chars.sample(random.rand(7), random: random).join.encode("UTF-8")
  when 5 then "x" * random.rand(400)
  when 6 then Array.new(random.rand(130)) { |i| i < 120 ? i : random_value(random, 0) }
  when 7 then Array.new(random.rand(6)) { random_value(random, depth - 1) }
  else Array.new(random.rand(6)) { |i| ["key #{i}", random_value(random, depth - 1)] }.to_h
  end
end

def plain_data
  random = Random.new(SEED)
  documents = [NUMBERS, { "a" => { "b" => [] }, "" => {} }, "text", nil, 1.5]
  documents += Array.new(60) { random_value(random) }
  documents << documents.dup
  documents.each_with_index do |value, index|
    written = convert(JSON.generate(value), "json", "marshal")
    loaded = written && Marshal.load(written)
    $checks += 1
    next if written && same?(value, loaded)

    $failures += 1
    puts "plain data #{index}: #{value.inspect[0, 200]} became #{loaded.inspect[0, 200]}"
  end
end

def values_of_ruby
  noted = +"noted"
  noted.instance_variable_set(:@note, [:n])
  shared = [Point.new(1, "two")]
  cycle = [1]
  cycle << cycle
  times = [
    Time.at(0).utc, Time.at(1_700_000_000, 123_456_789, :nsec).utc, Time.utc(1800), Time.utc(99_999),
    Time.new(2026, 11, 21, 12, 0, 0, "+02:00"), Time.new(2026, 11, 21, 12, 0, 0, "-03:30")
  ]
  {
    "texts" => ["é", "a".b, "\xFF".b, "b".encode("US-ASCII"), "é".encode("ISO-8859-1"),
                "あ".encode("Shift_JIS"), "あ".encode("UTF-16LE"), "あ".encode("EUC-JP"),
                "い".encode("EUC-JP"), Name.new("Ada"), noted],
    "symbols" => [:a, :a, :é, "あ".encode("EUC-JP").to_sym, { b: 1, a: { b: 2 } }],
    "numbers" => NUMBERS, "objects" => [shared, shared, Pair.new(1, [2]), Sent.new({ 1 => 2 })],
    "hashes" => [Hash.new(5).merge(1 => 2), { [1] => { nil => 2.5 } }, {}.compare_by_identity],
    "times" => times, "dates" => [Date.new(2026, 11, 21), DateTime.new(2026, 11, 21, 12, 0, 0.5, "+01:00")],
    "library" => [Set[1, :two], 1..2, "a"..."b", Rational(1, 3), Complex(1.5, 2.5), Complex(1, 2),
                  OpenStruct.new(a: 1), String, Kernel, /a.b/mix, /é/],
    "cycle" => cycle
  }.each do |name, value|
    dump = Marshal.dump(value)
    check("#{name}: Marshal to Marshal", dump, convert(dump, "marshal", "marshal"))
    json = convert(dump, "marshal", "json", "--on-loss", "wrap")
    back = json && convert(json, "json", "marshal", "--unwrap", "--documents", "keep")
    if name == "cycle"
      loaded = back && Marshal.load(back)
      check("#{name}: through JSON", true, loaded && loaded[1].equal?(loaded))
    else
      check("#{name}: through JSON", value, back && Marshal.load(back))
    end
  end
end

ENCODINGS = %w[
  Shift_JIS Windows-31J EUC-JP EUC-KR CP949 GBK IBM866 ISO-8859-1 ISO-8859-2 ISO-8859-3 ISO-8859-4
  ISO-8859-5 ISO-8859-6 ISO-8859-7 ISO-8859-8 ISO-8859-10 ISO-8859-13 ISO-8859-14 ISO-8859-15
  ISO-8859-16 KOI8-R Windows-1250 Windows-1251 Windows-1252 Windows-1253 Windows-1254 Windows-1255
  Windows-1256 Windows-1257
].freeze

def encodings
  ENCODINGS.each do |encoding|
    raw = (0..255).map { |byte| [byte].pack("C") }
    unless encoding.start_with?("ISO", "Windows-12", "KOI", "IBM")
      raw += (0x81..0xFE).to_a.product((0x40..0xFE).to_a).map { |pair| pair.pack("CC") }
    end
    texts = raw.map { |bytes| bytes.force_encoding(encoding) }
    json = convert(Marshal.dump(texts), "marshal", "json", "--on-loss", "wrap")
    JSON.parse(json).zip(texts) do |found, text|
      next unless found.is_a?(Hash) && found["value"].is_a?(String)

      expected = begin
        text.encode("UTF-8")
      rescue EncodingError
        next # Ruby has no character there; ours gives back the same bytes.
      end
      check("#{encoding} #{text.b.inspect}", expected, found["value"])
    end
  end
end

def files(folder)
  Dir.glob(File.join(folder, "*.json")).sort.each do |path|
    text = File.read(path)
    written = convert(text, "json", "marshal", "--documents", "keep")
    check(path, true, written && same?(JSON.parse(text), Marshal.load(written)))
  end
end

plain_data
values_of_ruby
encodings
files(ARGV[1]) if ARGV[1]
puts "ruby_marshal_check: #{$checks} checks with Ruby #{RUBY_VERSION}, #{$failures} failed"
exit 1 unless $failures.zero?
