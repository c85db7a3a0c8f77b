# frozen_string_literal: true

# Measures the plain calls of `regauge/compat` against regauge's own and against the libraries.
#
#   ruby -Ilib benches/drop_ins.rb [psych json msgpack oj bson …]
#
# Measures CPU time, in turns within one process; prints medians as a Markdown table. The documents are a hash of
# five pairs (small, some 60 bytes) and an array of hashes of eight values each: 4 (middle, some 500 bytes), or
# 200 (large). regauge's own call does the same work: with BSON, it creates the library's buffer too. ROUNDS is
# the number of rounds (21).

require "regauge/compat"
require "bson"
require "json"
require "msgpack"
require "oj"
require "yaml"

Oj.default_options = { mode: :compat }
ROUNDS = Integer(ENV.fetch("ROUNDS", "21"))
# How long a call is repeated in each round.
SLICE = 0.004
SMALL = { "id" => 17, "name" => "Ada", "tags" => %w[a b], "ok" => true, "score" => 2.5 }.freeze
ROWS = Array.new(200) do |index|
  { "id" => index, "name" => "name #{index}", "tags" => %w[alpha beta gamma].map(&:dup), "ok" => index.even?,
    "score" => index / 7.0 + 1, "nested" => { "x" => index, "z" => "w" } }
end.freeze
SIZES = { "small" => SMALL, "middle" => ROWS.first(4), "large" => ROWS }.freeze
CALLS = {
  "psych" => {
    "YAML.dump" => [->(it) { Regauge::YAML.dump(it, document_start: true) }, ->(it) { YAML.dump(it) }],
    "YAML.load" => [->(it) { Regauge::YAML.load(it, schema: "psych") }, ->(it) { YAML.load(it) }]
  },
  "json" => {
    "JSON.generate" => [->(it) { Regauge::JSON.dump(it) }, ->(it) { JSON.generate(it) }],
    "JSON.parse" => [->(it) { Regauge::JSON.load(it) }, ->(it) { JSON.parse(it) }]
  },
  "msgpack" => {
    "MessagePack.pack" => [->(it) { Regauge::MessagePack.dump(it) }, ->(it) { MessagePack.pack(it) }],
    "MessagePack.unpack" => [->(it) { Regauge::MessagePack.load(it) }, ->(it) { MessagePack.unpack(it) }]
  },
  "oj" => {
    "Oj.dump" => [->(it) { Regauge::JSON.dump(it) }, ->(it) { Oj.dump(it, mode: :compat) }],
    "Oj.load" => [->(it) { Regauge::JSON.load(it) }, ->(it) { Oj.load(it, mode: :compat) }],
    # The hash with the mode, which a call above creates, takes as long as the rest of what the drop-in adds.
    "Oj.dump, default mode" => [->(it) { Regauge::JSON.dump(it) }, ->(it) { Oj.dump(it) }],
    "Oj.load, default mode" => [->(it) { Regauge::JSON.load(it) }, ->(it) { Oj.load(it) }]
  },
  "bson" => {
    "Hash#to_bson" => [->(it) { BSON::ByteBuffer.new(Regauge::BSON.dump(it)) }, ->(it) { it.to_bson }],
    "BSON::Document.from_bson" => [
      ->(it) { Regauge::BSON.load(BSON::ByteBuffer.new(it).get_bytes(it.bytesize)) },
      ->(it) { BSON::Document.from_bson(BSON::ByteBuffer.new(it)) }
    ]
  }
}.freeze

TEXTS = {
  "psych" => YAML.method(:dump), "json" => JSON.method(:dump), "msgpack" => MessagePack.method(:dump),
  "oj" => JSON.method(:dump), "bson" => ->(object) { object.to_bson.to_s }
}.freeze

def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)

# Returns the CPU seconds of one call. The objects that the call before left are no part of it.
def time(call, document, times)
  GC.start
  start = cpu
  times.times { call.call(document) }
  (cpu - start) / times
end

def median(values) = values.sort[values.length / 2]

# Returns the medians of regauge's own call, of the drop-in and of the library.
def measure(name, own, call, document)
  times = [own, call].map { |one| [(SLICE / time(one, document, 3)).to_i, 1].max }
  rounds = Array.new(ROUNDS) do
    theirs = time(call, document, times[1])
    Regauge::Compat.install(name)
    # The first call after a change fills Ruby's caches of methods.
    3.times { call.call(document) }
    mine = time(call, document, times[0])
    Regauge::Compat.uninstall(name)
    3.times { call.call(document) }
    [time(own, document, times[0]), mine, theirs]
  end
  rounds.transpose.map { |values| median(values) }
end

puts "| call | drop-in | regauge's own | the library | vs own | vs the library |", "|---|---:|---:|---:|---:|---:|"
CALLS.slice(*(ARGV.empty? ? CALLS.keys : ARGV)).each do |name, calls|
  SIZES.each do |size, object|
    calls.each do |label, (own, call)|
      # A document of BSON is a hash.
      object = { "rows" => object } if name == "bson" && object.is_a?(Array)
      text = TEXTS.fetch(name).call(object)
      document = label.match?(/dump|generate|pack\z|to_bson/) && !label.end_with?("unpack") ? object : text
      mine, drop_in, theirs = measure(name, own, call, document)
      times = [drop_in, mine, theirs].map { |time| format("%.2f µs", time * 1e6) }.join(" | ")
      puts format("| %s, %s | %s | %.2f | %.2f |", label, size, times, mine / drop_in, theirs / drop_in)
    end
  end
end
