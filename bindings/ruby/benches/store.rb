# frozen_string_literal: true

# The store compared with Active Record with a Marshal column, both on SQLite: puts, each in its own
# transaction and many in one; gets, one by one and many at once. The rounds alternate; the figure
# is the median of the ratios, Active Record / store: above 1 the store is faster.
#
#   ruby -Ilib benches/store.rb
#
# Both databases have the same settings (WAL, synchronous FULL: each change is on the disk), and are
# in the folder TMPDIR. ROUNDS is the number of rounds (11), COUNT the number of values per round
# (300).

require "regauge"
require "active_record"
require "sqlite3"
require "tmpdir"
require "zlib"
require_relative "../../../benches/record"

ROUNDS = Integer(ENV.fetch("ROUNDS", "11"))
COUNT = Integer(ENV.fetch("COUNT", "300"))
ENV["RAILS_ENV"] = "production"
ActiveRecord::Base.logger = nil

# Ruby's own Marshal as Rails used it in a column.
class OwnMarshal
  def self.dump(object) = object.nil? ? nil : Marshal.dump(object)
  def self.load(bytes) = bytes.nil? ? nil : Marshal.load(bytes)
end

# About a kilobyte, and about 14 KB: an order, and a slice of measurements.
VALUES = {
  "1 KB" => lambda { |number|
    { "id" => number, "customer" => "Customer #{number}", "state" => "open", "paid" => false,
      "lines" => (0...8).map { |line| { "article" => "A-#{number + line}", "count" => line + 1, "price" => line * 1.25, "note" => "to be sent with the others" } },
      "address" => { "street" => "Long Street #{number % 100}", "town" => "Somewhere", "code" => "12345" } }
  },
  "14 KB" => lambda { |number|
    { "series" => "temperature", "start" => number * 3600, "unit" => "celsius",
      "samples" => (0...450).map { |index| { "t" => index * 8, "v" => 20.0 + (index * 37 % 100) / 7.0, "q" => index % 3 } } }
  }
}.freeze

def median(values)
  sorted = values.sort
  (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2.0
end

def both
  wall = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  yield
  [Process.clock_gettime(Process::CLOCK_MONOTONIC) - wall, Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - cpu]
end

def compare(title, ours, theirs)
  samples = { ours => [], theirs => [] }
  ROUNDS.times do |round|
    [ours, theirs].rotate(round).each do |act|
      GC.start
      samples[act] << both { act.call(round) }
    end
  end
  [["clock", 0], ["processor time", 1]].each do |table, kind|
    Record.samples(table, title, "regauge", samples[ours].map { |one| one[kind] }, size: COUNT)
    Record.samples(table, title, "Active Record", samples[theirs].map { |one| one[kind] }, size: COUNT)
  end
  ratios = [0, 1].map { |kind| median(samples[theirs].zip(samples[ours]).map { |their, our| their[kind] / our[kind] }) }
  puts format("%-28s %8.1f us a value   %5.2fx wall %5.2fx CPU", title, median(samples[ours].map(&:first)) * 1e6 / COUNT, *ratios)
end

Record.versions({ "Ruby" => RUBY_VERSION, "Active Record" => ActiveRecord.version.to_s, "sqlite3" => SQLite3::VERSION })
puts "ruby #{RUBY_VERSION}, Active Record #{ActiveRecord.version}, sqlite3 #{SQLite3::VERSION}, #{ROUNDS} rounds of #{COUNT} values"
Dir.mktmpdir do |folder|
  VALUES.each do |size, make|
    values = Array.new(COUNT) { |number| make.call(number) }
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: "#{folder}/records#{size.to_i}.db")
    connection = ActiveRecord::Base.connection
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    ActiveRecord::Schema.verbose = false
    ActiveRecord::Schema.define do
      create_table(:records) do |table|
        table.string :name, null: false, index: { unique: true }
        table.binary :object
      end
    end
    Object.send(:remove_const, :Kept) if defined?(Kept)
    Kept = Class.new(ActiveRecord::Base) do
      self.table_name = "records"
      ActiveRecord.version >= Gem::Version.new("7.1") ? serialize(:object, coder: OwnMarshal) : serialize(:object, OwnMarshal)
    end
    %w[msgpack marshal].each do |codec|
      store = Regauge::Store.open("sqlite:#{folder}/#{codec}#{size.to_i}.db", codec: codec)
      Kept.delete_all
      put = ->(round) { values.each_with_index { |value, index| store["put/#{round}/#{index}"] = value } }
      create = ->(round) { values.each_with_index { |value, index| Kept.create!(name: "#{codec}/#{round}/#{index}", object: value) } }
      compare("#{codec} #{size}: put, each", put, create)
      put_many = ->(round) { store.store_many(values.each_with_index.map { |value, index| ["many/#{round}/#{index}", value] }) }
      create_many = lambda do |round|
        Kept.transaction { values.each_with_index { |value, index| Kept.create!(name: "many/#{codec}/#{round}/#{index}", object: value) } }
      end
      compare("#{codec} #{size}: put, together", put_many, create_many)
      keys = Array.new(COUNT) { |index| "put/0/#{index}" }
      names = Array.new(COUNT) { |index| "#{codec}/0/#{index}" }
      raise "another answer" unless keys.map { |key| store[key] } == names.map { |name| Kept.find_by!(name: name).object }

      compare("#{codec} #{size}: get, each", ->(_) { keys.each { |key| store[key] } }, ->(_) { names.each { |name| Kept.find_by!(name: name).object } })
      compare("#{codec} #{size}: get, together", ->(_) { store.restore_many(keys) }, ->(_) { Kept.where(name: names).map(&:object) })
      store.close
    end
    connection.disconnect!
  end
end
