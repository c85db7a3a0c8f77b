# frozen_string_literal: true

# Batches of 500 slices of 14 KB, fetched from SQLite and decoded to Ruby's objects: the gem's store
# beside the sqlite3 gem with msgpack. Both build the same hashes and arrays in the same thread; the
# store also checks the checksum of every value. The batches are compared before anything is timed;
# the rounds take turns; what counts is the ratio of the medians, by the clock.
#
#   ruby -Ilib benches/slices.rb
#
# ROUNDS says how many rounds (21), CODECS what the store keeps the slices in (msgpack,msgpack+lz4,
# msgpack+zstd).

require "regauge"
require "msgpack"
require "sqlite3"
require "tmpdir"
require_relative "../../../benches/record"

ROUNDS = Integer(ENV.fetch("ROUNDS", "21"))
CODECS = ENV.fetch("CODECS", "msgpack,msgpack+lz4,msgpack+zstd").split(",")
SLICES = 2_000
BATCH = 500
SECOND = 1_000_000_000

# A point a minute, five keys each, as `regauge sample time-slice` makes them.
def slice(number, random)
  points = Array.new(155) do |minute|
    { "timestamp" => 1_325_376_000 + (60 * ((155 * number) + minute)), "active_users" => random.rand(10..99),
      "request_rate" => random.rand(100..999) + (0.1 * random.rand(1..9)),
      "mean_latency_ms" => random.rand(10..99) + (0.01 * random.rand(1..99)),
      "state" => %w[normal normal loaded paused].sample(random: random) }
  end
  { "account_id" => random.rand(10_000..99_999), "series" => "storage.sessions", "resolution" => 60,
    "complete" => true, "points" => points }
end

# Ruby's sqlite3.
class Sqlite
  def initialize(path)
    @connection = SQLite3::Database.new(path)
    @connection.execute("PRAGMA journal_mode = WAL")
    @connection.execute("CREATE TABLE slices (time INTEGER PRIMARY KEY, slice BLOB)")
    @select = @connection.prepare("SELECT time, slice FROM slices ORDER BY time DESC LIMIT ?")
  end

  def put(slices)
    @connection.transaction do
      slices.each_with_index { |one, at| @connection.execute("INSERT INTO slices VALUES (?, ?)", [at, SQLite3::Blob.new(one)]) }
    end
  end

  def fetch(count) = @select.execute(count).map { |row| MessagePack.unpack(row[1]) }
end

def timed
  GC.start
  before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  found = yield
  [Process.clock_gettime(Process::CLOCK_MONOTONIC) - before, found]
end

def median(values) = values.sort[values.length / 2]

def measure(driver, url, slices)
  driver.put(slices.map { |one| MessagePack.pack(one) })
  CODECS.each do |codec|
    store = Regauge::Store.open(url, collection: "ruby_#{codec.tr("+", "_")}", codec: codec)
    series = store.series("s")
    slices.each_with_index.each_slice(100) { |some| series.store_many(some.map { |one, at| [at * SECOND, one] }) }
    first = (SLICES - BATCH) * SECOND
    mine = -> { series.each(from: first, reverse: true).map { |_, value| value } }
    raise "#{codec}: other slices than the driver's" unless mine.call == driver.fetch(BATCH)

    ours, theirs = [], []
    ROUNDS.times do
      theirs << timed { driver.fetch(BATCH) }[0]
      ours << timed(&mine)[0]
    end
    Record.samples(codec, "Ruby, sqlite3", "regauge", ours, size: BATCH)
    Record.samples(codec, "Ruby, sqlite3", "driver", theirs, size: BATCH)
    ratios = theirs.zip(ours).map { |their, our| their / our }
    puts format("%<codec>s: regauge %<ours>.1f ms, driver %<theirs>.1f ms, %<ratio>.2fx (%<least>.2f to %<most>.2f)",
                codec: codec, ours: median(ours) * 1000, theirs: median(theirs) * 1000,
                ratio: median(theirs) / median(ours), least: ratios.min, most: ratios.max)
    store.close
  end
end

random = Random.new(7)
slices = Array.new(SLICES) { |number| slice(number, random) }
puts "#{BATCH} slices of #{slices.sum { |one| MessagePack.pack(one).bytesize } / SLICES} bytes a batch, #{ROUNDS} rounds"
Record.versions({ "Ruby" => RUBY_VERSION, "msgpack" => MessagePack::VERSION, "sqlite3" => SQLite3::VERSION })
Dir.mktmpdir do |folder|
  measure(Sqlite.new("#{folder}/driver.db"), "sqlite:#{folder}/store.db", slices)
end
