# frozen_string_literal: true

# Measures the plain calls of `regauge/compat` against regauge's own and against the libraries.
#
#   ruby -Ilib benches/drop_ins.rb [psych json msgpack oj bson …]
#
# Measures CPU time, in turns within one process; prints medians as a Markdown table. The documents are a
# hash of five pairs (small) and an array of 200 hashes of eight values each (large). ROUNDS is the number
# of rounds (21).

require "regauge/compat"
require "bson"
require "json"
require "msgpack"
require "oj"
require "yaml"

ROUNDS = Integer(ENV.fetch("ROUNDS", "21"))
# How long a call is repeated in each round.
SLICE = 0.004
SMALL = { "id" => 17, "name" => "Ada", "tags" => %w[a b], "ok" => true, "score" => 2.5 }.freeze
LARGE = Array.new(200) do |index|
  { "id" => index, "name" => "name #{index}", "tags" => %w[alpha beta gamma].map(&:dup), "ok" => index.even?,
    "score" => index / 7.0 + 1, "nested" => { "x" => index, "z" => "w" } }
end.freeze
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
    "Oj.load" => [->(it) { Regauge::JSON.load(it) }, ->(it) { Oj.load(it, mode: :compat) }]
  },
  "bson" => {
    "Hash#to_bson" => [->(it) { Regauge::BSON.dump(it) }, ->(it) { it.to_bson }],
    "BSON::Document.from_bson" => [->(it) { Regauge::BSON.load(it) }, ->(it) { BSON::Document.from_bson(BSON::ByteBuffer.new(it)) }]
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

puts "| call | drop-in | vs regauge's own | vs the library |", "|---|---:|---:|---:|"
CALLS.slice(*(ARGV.empty? ? CALLS.keys : ARGV)).each do |name, calls|
  { "small" => SMALL, "large" => LARGE }.each do |size, object|
    calls.each do |label, (own, call)|
      # A document of BSON is a hash.
      object = { "rows" => object } if name == "bson" && object.is_a?(Array)
      text = TEXTS.fetch(name).call(object)
      document = label.match?(/dump|generate|pack\z|to_bson/) && !label.end_with?("unpack") ? object : text
      mine, drop_in, theirs = measure(name, own, call, document)
      puts format("| %s, %s | %.2f µs | %.2f | %.2f |", label, size, drop_in * 1e6, mine / drop_in, theirs / drop_in)
    end
  end
end
