# frozen_string_literal: true

# Ratios to the peers, on real documents: for each pair of contenders the rounds alternate, and the
# figure is the median of the ratios of CPU time, peer / regauge: above 1 the gem is faster. Every
# answer is checked against the peer's before the clock starts.
#
#   ruby -Ilib benches/codecs.rb [name of a table …]
#
# `make data` fetches the data. RUBY_MARC_LIB is the path of ruby-marc's lib, ROUNDS the number of
# rounds (21), SLICE the minimum CPU time of a round in seconds (0.05).

require "regauge"
require "json"
require "set"
require "date"
require "stringio"
require_relative "../../../benches/record"

module Bench
  ROUNDS = Integer(ENV.fetch("ROUNDS", "21"))
  SLICE = Float(ENV.fetch("SLICE", "0.05"))
  DATA = File.expand_path("../../../build/data", __dir__)

  module_function

  def library(name)
    require name
    true
  rescue LoadError
    warn "skipped: no #{name}"
    false
  end

  def cpu
    Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
  end

  # Returns the CPU seconds of one call, averaged over enough calls to fill a slice.
  def time(times, act)
    start = cpu
    times.times { act.call }
    (cpu - start) / times
  end

  def calls(act)
    start = cpu
    act.call
    [(SLICE / [cpu - start, 1e-7].max).ceil, 1].max
  end

  def median(values)
    sorted = values.sort
    (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2.0
  end

  # Prints the ratio of each peer to ours.
  def compare(title, mine, peers)
    acts = { "regauge" => mine }.merge(peers)
    times = acts.transform_values { |act| calls(act) }
    samples = acts.transform_values { [] }
    ROUNDS.times do |round|
      acts.to_a.rotate(round).each do |name, act|
        GC.start
        samples[name] << time(times[name], act)
      end
    end
    ratios = peers.keys.to_h do |name|
      [name, median(samples[name].zip(samples["regauge"]).map { |theirs, ours| theirs / ours })]
    end
    table, kase = title.match(/\A(.* (?:load|dump)) (\S+)\z/)&.captures || [title, ""]
    samples.each { |name, taken| Record.samples(table, kase, name, taken) }
    shown = ratios.map { |name, ratio| format("%<name>s %<ratio>.2fx", name: name, ratio: ratio) }.join("  ")
    puts format("%-34s %10.3f ms   %s", title, median(samples["regauge"]) * 1000, shown)
  end

  def same(title, mine, theirs)
    raise "#{title}: another answer than the peer's" unless mine == theirs
  end
end

tables = ARGV
wanted = ->(name) { tables.empty? || tables.include?(name) }
R = Regauge
documents = %w[twitter canada citm_catalog].to_h { |name| [name, File.read(File.join(Bench::DATA, "json/#{name}.json"))] }

Record.versions({ "Ruby" => RUBY_VERSION })
puts "ruby #{RUBY_VERSION}#{" yjit" if defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled?}, median ratios of #{Bench::ROUNDS} interleaved rounds"

if wanted["json"]
  oj = Bench.library("oj")
  Record.versions({ "json" => JSON::VERSION }.merge(oj ? { "Oj" => Oj::VERSION } : {}))
  puts "json #{JSON::VERSION}#{", oj #{Oj::VERSION}" if oj}"
  documents.each do |name, text|
    value = JSON.parse(text)
    Bench.same(name, R::JSON.load(text), value)
    Bench.same(name, JSON.parse(R::JSON.dump(value)), value)
    peers = { "json" => -> { JSON.parse(text) } }
    if oj
      peers["oj"] = -> { Oj.load(text, mode: :strict) }
      peers["oj parser"] = -> { Oj::Parser.usual.parse(text) } if Oj.const_defined?(:Parser)
    end
    Bench.compare("JSON load #{name}", -> { R::JSON.load(text) }, peers)
    peers = { "json" => -> { JSON.generate(value) } }
    peers["oj"] = -> { Oj.dump(value, mode: :strict) } if oj
    Bench.compare("JSON dump #{name}", -> { R::JSON.dump(value) }, peers)
  end
end

if wanted["msgpack"] && Bench.library("msgpack")
  Record.versions({ "msgpack" => MessagePack::VERSION })
  puts "msgpack #{MessagePack::VERSION}"
  documents.each do |name, text|
    value = JSON.parse(text)
    bytes = MessagePack.pack(value)
    Bench.same(name, R::MessagePack.load(bytes), value)
    Bench.same(name, MessagePack.unpack(R::MessagePack.dump(value)), value)
    Bench.compare("MessagePack load #{name}", -> { R::MessagePack.load(bytes) }, { "msgpack" => -> { MessagePack.unpack(bytes) } })
    Bench.compare("MessagePack dump #{name}", -> { R::MessagePack.dump(value) }, { "msgpack" => -> { MessagePack.pack(value) } })
  end
end

if wanted["cbor"] && Bench.library("cbor")
  version = CBOR.const_defined?(:VERSION) ? CBOR::VERSION : Gem.loaded_specs["cbor"]&.version.to_s
  Record.versions({ "cbor" => version })
  puts "cbor #{version}"
  documents.each do |name, text|
    value = JSON.parse(text)
    bytes = CBOR.encode(value)
    Bench.same(name, R::CBOR.load(bytes), value)
    Bench.same(name, CBOR.decode(R::CBOR.dump(value)), value)
    Bench.compare("CBOR load #{name}", -> { R::CBOR.load(bytes) }, { "cbor" => -> { CBOR.decode(bytes) } })
    Bench.compare("CBOR dump #{name}", -> { R::CBOR.dump(value) }, { "cbor" => -> { CBOR.encode(value) } })
  end
end

if wanted["bson"] && Bench.library("bson")
  Record.versions({ "bson" => BSON::VERSION })
  puts "bson #{BSON::VERSION}"
  documents.each do |name, text|
    value = JSON.parse(text)
    document = BSON::Document.new(value)
    bytes = document.to_bson.to_s
    Bench.same(name, R::BSON.load(bytes), value)
    Bench.same(name, Hash.from_bson(BSON::ByteBuffer.new(R::BSON.dump(value))), value)
    Bench.compare("BSON load #{name}", -> { R::BSON.load(bytes) }, { "bson" => -> { Hash.from_bson(BSON::ByteBuffer.new(bytes)) } })
    Bench.compare("BSON dump #{name}", -> { R::BSON.dump(value) }, { "bson" => -> { value.to_bson.to_s } })
  end
end

if wanted["yaml"] && Bench.library("yaml")
  Record.versions({ "Psych" => Psych::VERSION })
  puts "psych #{Psych::VERSION}"
  %w[yaml/legislators-current.yaml yaml/languages.yml yaml/senators-48k.yaml].each do |path|
    text = File.read(File.join(Bench::DATA, path))
    value = YAML.safe_load(text, aliases: true)
    Bench.same(path, R::YAML.load(text), value)
    Bench.same(path, YAML.safe_load(R::YAML.dump(value)), value)
    name = File.basename(path, ".*")
    Bench.compare("YAML load #{name}", -> { R::YAML.load(text) }, { "psych" => -> { YAML.safe_load(text, aliases: true) } })
    Bench.compare("YAML dump #{name}", -> { R::YAML.dump(value) }, { "psych" => -> { YAML.dump(value) } })
  end
end

class Simple
  def initialize(number)
    @id = number
    @name = "name #{number}"
    @price = number * 0.25
  end
  attr_reader :id, :name, :price
  def ==(other) = other.class == self.class && other.id == id && other.name == name && other.price == price
end

if wanted["marshal"]
  documents.each do |name, text|
    value = JSON.parse(text)
    bytes = Marshal.dump(value)
    Bench.same(name, R::Marshal.load(bytes), value)
    Bench.same(name, R::Marshal.dump(value), bytes)
    Bench.compare("Marshal load #{name}", -> { R::Marshal.load(bytes) }, { "Marshal" => -> { Marshal.load(bytes) } })
    # With other limits than the default, the library's reader does it: docs/design.md has the ratio.
    limits = { depth: 512 }
    Bench.compare("second reader #{name}", -> { R::Marshal.load(bytes) },
                  { "the library's reader" => -> { R::Marshal.load(bytes, limits: limits) } })
    Bench.compare("Marshal dump #{name}", -> { R::Marshal.dump(value) }, { "Marshal" => -> { Marshal.dump(value) } })
  end
  objects = Array.new(100_000) { |number| Simple.new(number) }
  each = objects.map { |object| Marshal.dump(object) }
  whole = Marshal.dump(objects)
  permitted = R::Marshal.permitting(Simple)
  Bench.same("objects", objects.first(1000).map { |object| R::Marshal.dump(object) }, each.first(1000))
  Bench.same("objects", R::Marshal.load(whole, permit: [Simple]), objects)
  Bench.same("objects", each.first(1000).map { |bytes| permitted.load(bytes) }, objects.first(1000))
  permit = [Simple].freeze
  Bench.compare("objects one by one, dump", -> { objects.each { |object| R::Marshal.dump(object) } },
                { "Marshal" => -> { objects.each { |object| Marshal.dump(object) } } })
  Bench.compare("objects one by one, load", -> { each.each { |bytes| R::Marshal.load(bytes, permit: permit) } },
                { "Marshal" => -> { each.each { |bytes| Marshal.load(bytes) } } })
  Bench.compare("objects in one array, dump", -> { R::Marshal.dump(objects) }, { "Marshal" => -> { Marshal.dump(objects) } })
  Bench.compare("objects in one array, load", -> { R::Marshal.load(whole, permit: permit) }, { "Marshal" => -> { Marshal.load(whole) } })
end

if wanted["marc"] && ENV["RUBY_MARC_LIB"]
  $LOAD_PATH.unshift(ENV["RUBY_MARC_LIB"])
  require "marc"
  nokogiri = Bench.library("nokogiri")
  Record.versions({ "ruby-marc" => MARC::VERSION }.merge(nokogiri ? { "Nokogiri" => Nokogiri::VERSION } : {}))
  puts "ruby-marc #{MARC::VERSION}#{", nokogiri #{Nokogiri::VERSION}" if nokogiri}"
  source = Dir[File.join(Bench::DATA, "marc/binary/evergreen*/**/*.mrc")].max_by { |path| File.size(path) } ||
           Dir[File.join(Bench::DATA, "marc/binary/**/*.mrc")].max_by { |path| File.size(path) }
  records = R::MARC::Reader.new(source, as: MARC::Record, bad: :skip).first(1000)
  bytes = records.map { |record| MARC::Writer.encode(record) }.join.b
  visit = lambda do |record|
    count = 0
    record.each do |field|
      if field.respond_to?(:subfields)
        field.subfields.each { |subfield| count += subfield.value.length + subfield.code.length }
      else
        count += field.value.length
      end
    end
    count
  end
  mine = -> { R::MARC.each(bytes).sum(&visit) }
  theirs = -> { MARC::Reader.new(StringIO.new(bytes), external_encoding: "UTF-8").sum(&visit) }
  Bench.same("records", mine.call, theirs.call)
  Bench.compare("MARC 21 to records, all read", mine, { "ruby-marc" => theirs })
  Bench.compare("MARC 21 to MARC::Record", -> { R::MARC.each(bytes, as: MARC::Record).sum(&visit) }, { "ruby-marc" => theirs })
  untouched = R::MARC.load_all(bytes)
  touched = R::MARC.load_all(bytes).each(&:fields)
  Bench.same("written", touched.map { |record| R::MARC.dump(record) }.join.b, bytes)
  written = -> { records.each { |record| MARC::Writer.encode(record) } }
  Bench.compare("records to MARC 21", -> { touched.each { |record| R::MARC.dump(record) } }, { "ruby-marc" => written })
  Bench.compare("untouched records to MARC 21", -> { untouched.each { |record| R::MARC.dump(record) } }, { "ruby-marc" => written })
  Bench.compare("MARC::Records to MARC 21", -> { records.each { |record| R::MARC.dump(record) } }, { "ruby-marc" => written })
  xml = R::MARC::XML.dump(touched)
  Bench.same("xml", R::MARC::XML.each(xml).sum(&visit), mine.call)
  peer = -> { MARC::XMLReader.new(StringIO.new(xml), parser: nokogiri ? "nokogiri" : "rexml").sum(&visit) }
  Bench.same("xml", peer.call, mine.call)
  Bench.compare("MARCXML to records, all read", -> { R::MARC::XML.each(xml).sum(&visit) }, { nokogiri ? "ruby-marc nokogiri" : "ruby-marc rexml" => peer })
  Bench.compare("records to MARCXML", -> { touched.each { |record| R::MARC::XML.dump(record) } },
                { "ruby-marc fast" => -> { records.each { |record| MARC::UnsafeXMLWriter.encode(record) } } })
end
