# frozen_string_literal: true

require "set"

# Random documents, of which many are not plain, or broken: what the drop-ins and the libraries have to
# treat alike.
class DropInsDocuments
  SCALARS = (%w[
    a b yes No oN nULL ~ true 1 -2 0 007 08 0x1F 0b1 0o7 1_000 1,000 1,,0 1.5 1,0.5 1e3 1.5e+3 .5 -.5 . .inf -.INF .NaN 1:30
    1:30:15 -1:30 1:60 1:30.5 :a :"b" ::C 2001-01-01 2001-1-1 2001-02-30 2001-01-01T10:20:30Z a:b a#b - -- --- ... == = << é 日本
    12345678901234567890 0_1 1_ +1 +.inf 'x' "y\n" "" '' 'it''s' "\u00e9" !x !!str &a *a @x `x %x >x |x x, [x {x x] x} ?x ? ! & * |
    > null off Y n 1. 1.e+3 00 -0 0x 1:2:3:4 1__0:00 [] {} [a,b] {a:1} [1,2] a:
  ] + [
    "a b", "x # c", "x #", "a\tb", "\"a b\"", "'a: b'", "[1, 2]", "[a, [b, c]]", "{a: 1, b: 2}", "{a: }", "[a, :b]", "{: a}",
    "{\"a\": 1}", "|\n    text\n    more", ">\n    fold\n    ed", "|-\n    text", "", "a\u0085b", "\u2028", "x\r", "[a,\n b]",
    "{a: 1,\n  b: 2}", "\"a\n  b\"", "a\n    b", "- x", "? x", "2001-12-14 21:59:43 -5", "2001-12-14 21:59:43 +0530"
  ]).freeze
  MARKS = "\n \t:-#[]{},&*!|>'\"%@`?~.0a=\\".chars.freeze
  JSON_MARKS = "\n \t:-#[]{},\"\\/0e.uNt\u0000+é".chars.freeze
  NUMBERS = %w[
    -0 -0.0 0 01 1. .5 1e5 1E+5 1e400 -1e-400 NaN Infinity -Infinity 123456789012345678901 1.7976931348623157e308 "\ud800" "\u0000"
    "\ud83d\ude00" "\a" "\x" [1,] {"a":1,} /**/1 -1.0 - {"a":1,"a":2}
  ].freeze
  TEXTS = [
    "", "a", "a b", "yes", "1", "é", "日本 語", "y", "x: y", "# c", "a\nb", "a\n", ":sym", "true", "~", " a", "a\tb", "\u0001",
    "\u007f", "\u2028", "/x", "</script>", "\"q\"", "it's", "\\", "a" * 39, "a" * 100, "two words " * 10, "2001-01-01", "=", "<<", "\u{1F600}",
    "\x80\xff", "\xff".b, "abc".b, "caf\xe9".dup.force_encoding("ISO-8859-1"), "ab".encode("UTF-16LE"),
    "ascii".dup.force_encoding("US-ASCII"), "a-b", "_a", "a/b.c@d+e", "Nan", "inf", "08", "No", "a--b c"
  ].freeze
  NUMERIC = [
    0, 1, -1, 127, 128, 255, 256, 2**31, 2**32, 2**53, 2**62, 2**63, 2**64 - 1, 2**64, -2**63, -2**63 - 1, 10**30, 0.0, -0.0, 1.5,
    1e-3, 9.99e-4, 1e-5, 1e14, 1e15, 1e16, 1e20, 5e-324, 0.1, 1.0 / 3, Float::NAN, Float::INFINITY
  ].freeze
  OTHERS = [
    Time.at(0), 1r, Set[1], 1..2, Class.new(Hash)[1, 2], [1, { "s" => 2 }], {}.compare_by_identity, Hash.new(1), Comparable
  ].freeze

  def self.yaml(count, seed) = new(seed).then { |random| Array.new(count) { random.yaml } }

  def self.objects(count, seed)
    random = new(seed)
    Array.new(count) { random.object(0) } + Array.new(count) { random.plain(0) }
  end

  def self.json(count, seed)
    random = new(seed)
    texts = Array.new(count) { random.changed(JSON.generate(random.plain(0)), JSON_MARKS + NUMBERS) } + NUMBERS
    texts + [99, 100, 101, 1200].map { |depth| "#{"[" * depth}#{"]" * depth}" } + ["", " ", "\uFEFF1", "[\"é\"]".b, "[1]".encode("UTF-16LE")]
  end

  def self.msgpack(count, seed)
    random = new(seed)
    marks = (0..255).map { |byte| byte.chr.b }
    documents = Array.new(count) { random.changed(MessagePack.pack(random.plain(0)), marks) }
    documents + ["", "\x82\xC4\x01a\x01\xA1b\x02".b]
  end

  def initialize(seed)
    @random = Random.new(seed)
  end

  def one(list) = list[@random.rand(list.length)]

  # Returns a document of YAML, or nearly so.
  def yaml
    text = changed(node(0).sub(/\A[ \n]/, ""), MARKS)
    text = "--- #{text}" if @random.rand(12).zero?
    text << "---\n#{one(SCALARS)}\n" if @random.rand(20).zero?
    text.chomp! if @random.rand(6).zero?
    text
  end

  def node(depth)
    inner = -> { depth < 4 ? node(depth + 1) : " z\n" }
    case @random.rand(10)
    when 0..4 then " #{one(SCALARS)}\n"
    when 5..7 then "\n#{lines(depth) { "#{@random.rand(3).zero? ? one(SCALARS) : one(%w[k key name])}:#{inner.call}" }}"
    else "\n#{lines(depth) { "-#{inner.call}" }}"
    end
  end

  def lines(depth) = Array.new(@random.rand(1..3)) { "#{"  " * depth}#{yield}" }.join

  # Returns half of the texts with a few characters inserted or missing.
  def changed(text, marks)
    text = text.dup
    return text if @random.rand(2).zero?

    @random.rand(4).times do
      at = @random.rand(text.length + 1)
      @random.rand(2).zero? ? text.insert(at, one(marks)) : text.slice!(at)
    end
    text
  end

  # Returns an object, of which parts may not be plain data.
  def object(depth)
    case @random.rand(depth > 3 ? 3 : 6)
    when 0 then one(TEXTS)
    when 1 then one(NUMERIC)
    when 2 then one([nil, true, :a, :yes, *OTHERS])
    when 3 then Array.new(@random.rand(4)) { object(depth + 1) }
    else Array.new(@random.rand(4)) { [key, object(depth + 1)] }.to_h
    end
  end

  def key = @random.rand(5).zero? ? one(TEXTS + NUMERIC) : one([:a, "b", "c"])

  # Returns an object of plain data.
  def plain(depth)
    case @random.rand(depth > 3 ? 2 : 5)
    when 0 then one(["a", "bc", "wörd", "x-y", "some text", 1, 2.5, -3, true])
    when 1 then one(%w[a yes 1.5])
    when 2 then Array.new(@random.rand(1..3)) { plain(depth + 1) }
    else Array.new(@random.rand(1..3)) { |index| ["k#{index}", plain(depth + 1)] }.to_h
    end
  end
end
