# frozen_string_literal: true

# Compares the gem with the fastest library of each format, over many documents.
#
#   ruby -Ibindings/ruby/lib benches/grid/ruby.rb [--used] [--only json,msgpack] [--documents twitter,canada] build/grid
#
# `build/grid` is what documents.py writes. A cell is the time of the fastest peer divided by ours, the median over
# rounds (ROUNDS, 9), in processor time: above 1, regauge is faster. All answers are compared before they are timed.
# Each document has a process of its own, or with --used all have the same one. Peers that are not installed, or that
# cannot hold a document, are left out of its cells.

require "json"
require "open3"
require "optparse"
require "regauge"
require_relative "../record"

# A library of a format: its name, version, and calls that read and write.
Peer = Struct.new(:name, :version, :load, :dump)

module Grid
  ROUNDS = Integer(ENV.fetch("ROUNDS", "9"))
  ROUND_S = 0.004
  OURS = { "json" => Regauge::JSON, "msgpack" => Regauge::MessagePack, "cbor" => Regauge::CBOR,
           "bson" => Regauge::BSON, "marshal" => Regauge::Marshal }.freeze

  module_function

  def peers
    @peers ||= {
      "json" => [Peer.new("json", JSON::VERSION, JSON.method(:parse), JSON.method(:generate)), oj].compact,
      "msgpack" => [peer("msgpack") { [MessagePack::VERSION, MessagePack.method(:unpack), MessagePack.method(:pack)] }].compact,
      "cbor" => [peer("cbor") { [Gem.loaded_specs["cbor"]&.version.to_s, CBOR.method(:decode), CBOR.method(:encode)] }].compact,
      "bson" => [peer("bson") { [BSON::VERSION, method(:read_bson), ->(value) { value.to_bson.to_s }] }].compact,
      "marshal" => [Peer.new("marshal", nil, Marshal.method(:load), Marshal.method(:dump))]
    }
  end

  def oj
    peer("oj") { [Oj::VERSION, ->(text) { Oj.load(text, mode: :strict) }, ->(value) { Oj.dump(value, mode: :strict) }] }
  end

  def read_bson(bytes)
    Hash.from_bson(BSON::ByteBuffer.new(bytes))
  end

  def peer(name)
    require name
    Peer.new(name, *yield)
  rescue LoadError
    nil
  end

  def cpu
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  end

  # Returns the CPU seconds of a call.
  def time(call, document, times)
    started = cpu
    times.times { call.call(document) }
    (cpu - started) / times
  end

  def median(values)
    sorted = values.sort
    (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2.0
  end

  def right?(call, document, expected)
    call.call(document) == expected
  rescue StandardError
    false
  end

  # Times calls in turn. Returns the ratio of the fastest peer, and its name.
  def race(row, name, document, calls)
    counts = calls.transform_values { |call| [(ROUND_S / [time(call, document, 2), 1e-7].max).to_i, 1].max }
    taken = calls.transform_values { [] }
    ROUNDS.times do |round|
      calls.to_a.rotate(round).each do |label, call|
        GC.start
        taken[label] << time(call, document, counts[label])
      end
    end
    ours = taken.delete("regauge")
    best, theirs = taken.min_by { |_, samples| median(samples) }
    Record.samples(row, name, "regauge", ours)
    Record.samples(row, name, best, theirs)
    [median(theirs.zip(ours).map { |one, mine| one / mine }), best]
  end

  # Returns the row, the ratio and the peer of each cell of a document.
  def cells(path, formats)
    text = File.read(path, encoding: "UTF-8")
    value = JSON.parse(text)
    formats.flat_map do |format|
      whole = format == "bson" && !value.is_a?(Hash) ? { "all" => value } : value
      fitting = peers[format].select { |one| right?(->(given) { one.load.call(one.dump.call(given)) }, whole, whole) }
      fitting.empty? ? [] : both(File.basename(path, ".json"), format, whole, text, fitting)
    end
  end

  # Returns the cells of a format.
  def both(name, format, whole, text, fitting)
    mine = OURS.fetch(format)
    # JSON as it is in the file, the others as the first of the peers writes them.
    data = format == "json" ? text : fitting.first.dump.call(whole)
    unless mine.load(data) == whole && mine.load(mine.dump(whole)) == whole
      raise "#{name}: #{format}: regauge's answer is another one"
    end

    reading = fitting.select { |one| right?(one.load, data, whole) }
    [[:load, data, reading], [:dump, whole, fitting]].reject { |_, _, those| those.empty? }.map do |call, given, those|
      calls = { "regauge" => mine.method(call), **those.to_h { |one| [one.name, one[call]] } }
      ["#{format} #{call}", *race("#{format} #{call}", name, given, calls)]
    end
  end

  # Returns the cells of a document, measured in a process of its own.
  def cells_apart(path, formats)
    said, status = Open3.capture2(RbConfig.ruby, *$LOAD_PATH.first(1).flat_map { |folder| ["-I", folder] }, __FILE__,
                                  "--cells", "--only", formats.join(","), path)
    raise "#{path} failed" unless status.success?

    JSON.parse(said)
  end
end

wanted = { formats: Grid::OURS.keys, documents: nil }
rest = OptionParser.new do |options|
  options.on("--used") { wanted[:used] = true }
  options.on("--cells") { wanted[:cells] = true }
  options.on("--only FORMATS", Array) { |formats| wanted[:formats] = formats }
  options.on("--documents NAMES", Array) { |names| wanted[:documents] = names }
end.parse(ARGV)
abort "usage: ruby benches/grid/ruby.rb FOLDER; benches/grid/documents.py writes the folder" unless rest.length == 1

if wanted[:cells]
  puts JSON.generate(Grid.cells(rest.first, wanted[:formats]))
  exit
end
paths = Dir[File.join(rest.first, "*.json")].select { |path| wanted[:documents]&.include?(File.basename(path, ".json")) != false }
abort "no documents in #{rest.first}: benches/grid/documents.py writes them" if paths.empty?

columns = wanted[:formats].flat_map { |format| ["#{format} load", "#{format} dump"] }
puts "| document | #{columns.join(" | ")} |", "| --- |#{" --: |" * columns.length}"
grid = columns.to_h { |column| [column, []] }
paths.sort.each do |path|
  found = wanted[:used] ? Grid.cells(path, wanted[:formats]) : Grid.cells_apart(path, wanted[:formats])
  shown = found.to_h { |row, ratio, best| [row, ratio < 0.995 ? format("**%.2f** %s", ratio, best) : format("%.2f", ratio)] }
  puts "| #{File.basename(path, ".json")} | #{columns.map { |column| shown[column] }.join(" | ")} |"
  $stdout.flush
  found.each { |row, ratio, _| grid[row] << ratio }
end
{ "median" => Grid.method(:median), "least" => :min.to_proc }.each do |name, of|
  puts "| #{name} | #{grid.values.map { |column| column.empty? ? "" : format("%.2f", of.call(column)) }.join(" | ")} |"
end
versions = Grid.peers.values_at(*wanted[:formats]).flatten.select(&:version).to_h { |one| [one.name, one.version] }
Record.versions({ "Ruby" => RUBY_VERSION, **versions })
puts "", "#{grid.values.flatten.count { |ratio| ratio < 0.995 }} of #{grid.values.flatten.length} cells below 1.0; " \
         "Ruby #{RUBY_VERSION}, regauge #{Regauge::VERSION}, #{versions.map { |pair| pair.join(" ") }.join(", ")}"
