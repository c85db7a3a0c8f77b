# frozen_string_literal: true
# runtime: ruby
# name: Ruby
# suffix: rb
# command: {data}/ruby-suite/ruby {runner} {adapter}
# command: ruby {runner} {adapter}
# environment: GEM_PATH={data}/ruby{separator}{GEM_PATH}
# needs: Ruby 3.0 or newer
# set up: always
# have: {program} --version
# debian: ruby
# suite: ruby ruby-nokogiri ruby-psych ruby-sqlite3
# missing: {program} {runner} --missing {libraries}
# each: install a gem: gem install --no-document --install-dir {data}/ruby {library}
# remark: With Bundler instead of gem: BUNDLE_GEMFILE={lab}/contenders/ruby/Gemfile bundle install

# Runs one Ruby contender for `regauge measure`.
#
#     ruby ruby.rb ADAPTER.rb
#
# Commands arrive on standard input, one JSON object per line; each is answered by one line of JSON
# on the original standard output. docs/measure.md lists the commands. If you add a command, add it
# to the other runners and to the native one too: all answer alike.
#
#     ruby ruby.rb --missing GEM…
#
# prints the gems among these that cannot be found, for the set-up.

if ARGV.first == "--missing"
  # The one gem that is required under another name.
  files = {"yajl-ruby" => "yajl"}
  ARGV.drop(1).each do |gem|
    require files.fetch(gem, gem)
  rescue LoadError
    puts gem
  end
  exit
end

require "json"

# A library that prints must not break the protocol: answers go to a private copy of standard
# output, and anything printed goes to standard error, which the parent keeps for reports.
ANSWERS = $stdout.dup
$stdout.reopen($stderr)
ANSWERS.sync = true

# Oj may replace methods of the json gem: keep the originals from before the adapter is loaded.
SAY = JSON.method(:generate)
HEAR = JSON.method(:parse)

# Interpreter-specific parts. Another Ruby defines them before this file is loaded; see jruby.rb.
unless defined?(Host)
  module Host
    def self.runtime = "MRI Ruby #{RUBY_VERSION}"

    def self.cpu_ns = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)

    # Returns nanoseconds in the collector since the start, or nil before Ruby 3.1.
    def self.collector_ns = GC.respond_to?(:total_time) ? GC.total_time : nil

    def self.collector
      jit = defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? ? "YJIT on" : "no JIT"
      "generational; #{jit}"
    end
  end
end

# Reference bytes and the objects decoded from them.
class Bench
  attr_reader :documents, :objects

  def initialize(adapter)
    @adapter = adapter
    @streams = adapter.respond_to?(:decode_stream)
    @data = ""
    @documents = []
    @objects = []
  end

  # `spans` names a JSON list of start, end, start, end …
  def load(path, spans)
    @objects = []
    @data = File.binread(path)
    # JSON and XML libraries interpret a String by its encoding; for MessagePack, Marshal and MARC
    # 21 the label does no harm.
    @data.force_encoding(Encoding::UTF_8)
    @documents =
      if spans
        HEAR.call(File.read(spans)).each_slice(2).map { |from, to| @data.byteslice(from, to - from) }
      else
        [@data]
      end
    @data = "" unless @streams
  end

  def streams? = @streams

  def each_decoded(&block)
    return enum_for(:each_decoded) unless block
    if @streams
      @adapter.decode_stream(@data).each(&block)
    else
      @documents.each { |document| yield @adapter.decode(document) }
    end
  end

  def hold
    @objects = []
    each_decoded { |object| @objects << object }
    @objects.size
  end

  def decode_all(times)
    adapter = @adapter
    if @streams
      data = @data
      times.times { adapter.decode_stream(data).each { |record| record } }
    else
      documents = @documents
      times.times { documents.each { |document| adapter.decode(document) } }
    end
  end

  def encode_all(times)
    adapter = @adapter
    objects = @objects
    if @streams
      times.times { adapter.encode_stream(objects) }
    else
      times.times { objects.each { |object| adapter.encode(object) } }
    end
  end
end

# An error before the library had the data: it says nothing about the library.
class RunnerError < StandardError; end

# Queries to the clock and the file system.
module Run
  module_function

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

  # Collections and allocated objects since the start, if the interpreter counts them: MRI.
  def counts
    return [nil, nil] unless RUBY_ENGINE == "ruby"
    [GC.stat(:count), GC.stat(:total_allocated_objects)]
  end

  # Decodes the reference and writes the contender's result, one object at a time.
  def check(bench, command)
    began = now
    decode_ns = 0
    count = 0
    spans = []
    position = 0
    File.open(command["out"], "wb") do |out|
      if bench.streams?
        # An Enumerator would run the decoder in a Fiber with a small stack: a list is simpler.
        bench.hold
        decode_ns = now - began
        out << Contender.encode_stream(bench.objects)
      else
        bench.documents.each do |document|
          before = now
          object = Contender.decode(document)
          decode_ns += now - before
          encoded = Contender.encode(object)
          out << encoded
          spans.push(position, position + encoded.bytesize)
          position += encoded.bytesize
          count += 1
          next unless command["lines"]
          out << "\n"
          position += 1
        end
      end
    end
    whole = now - began
    File.write("#{command["out"]}.spans", SAY.call(spans))
    {documents: count, decode_ns: decode_ns, encode_ns: whole - decode_ns}
  end

  # Returns a document for the contender's library.
  def plain_in(document)
    plain = HEAR.call(document)
    Contender.respond_to?(:from_plain) ? Contender.from_plain(plain) : plain
  rescue StandardError, SystemStackError => error
    raise RunnerError, told(error)
  end

  # Writes reference bytes in the contender's own format, from JSON documents.
  def prepare(bench, command)
    bench.load(command["path"], command["spans"])
    spans = []
    position = 0
    File.open(command["out"], "wb") do |out|
      bench.documents.each do |document|
        encoded = Contender.encode(plain_in(document))
        out << encoded
        spans.push(position, position + encoded.bytesize)
        position += encoded.bytesize
      end
    end
    File.write("#{command["out"]}.spans", SAY.call(spans))
    {documents: spans.size / 2, bytes: position}
  end

  # Converts bytes in the contender's own format into JSON lines, which regauge can read.
  def reveal(bench, command)
    bench.load(command["path"], command["spans"])
    count = 0
    File.open(command["out"], "wb") do |out|
      bench.each_decoded do |value|
        value = Contender.to_plain(value) if Contender.respond_to?(:to_plain)
        out << SAY.call(value) << "\n"
        count += 1
      end
    end
    {documents: count}
  end

  # Handles each record separately, so that a failing one does not hide the others: it leaves an
  # empty span. A record of a stream gets the bytes before the first and after the last (XML).
  def sift(bench, command)
    data = File.binread(command["path"]).force_encoding(Encoding::UTF_8)
    ends = HEAR.call(File.read(command["spans"]))
    head = data.byteslice(0, ends.first)
    tail = data.byteslice(ends.last, data.bytesize - ends.last)
    again = lambda do |piece|
      if command["json"]
        plain = HEAR.call(piece)
        plain = Contender.from_plain(plain) if Contender.respond_to?(:from_plain)
        value = Contender.decode(Contender.encode(plain))
        value = Contender.to_plain(value) if Contender.respond_to?(:to_plain)
        SAY.call(value)
      elsif bench.streams?
        Contender.encode_stream(Contender.decode_stream(head + piece + tail).to_a)
      else
        Contender.encode(Contender.decode(piece))
      end
    end
    spans = []
    position = 0
    File.open(command["out"], "wb") do |out|
      ends.each_slice(2) do |from, to|
        encoded =
          begin
            again.call(data.byteslice(from, to - from))
          rescue StandardError, SystemStackError, NoMemoryError
            ""
          end
        out << encoded
        spans.push(position, position + encoded.bytesize)
        position += encoded.bytesize
      end
    end
    File.write("#{command["out"]}.spans", SAY.call(spans))
    {documents: spans.size / 2}
  end

  # Times `iterations` passes over the loaded data, decoding or encoding. Ruby tracks the
  # collector's time anyway, so reading it is free.
  def sample(bench, command)
    work = bench.method(command["op"] == "decode" ? :decode_all : :encode_all)
    iterations = command["iterations"]
    collector = Host.collector_ns
    counts_began = counts
    cpu_began = Host.cpu_ns
    began = now
    work.call(iterations)
    spent = now - began
    cpu_spent = Host.cpu_ns - cpu_began
    gc_ns = collector && Host.collector_ns - collector
    gc_count, allocations = counts.zip(counts_began).map { |now, then_| now && then_ && now - then_ }
    {ns: spent, cpu_ns: cpu_spent, gc_ns: gc_ns, gc_count: gc_count, allocations: allocations}
  end

  def answer(bench, command)
    case command["do"]
    when "load"
      bench.load(command["path"], command["spans"])
      {documents: bench.documents.size}
    when "check" then check(bench, command)
    when "prepare" then prepare(bench, command)
    when "reveal" then reveal(bench, command)
    when "sift" then sift(bench, command)
    when "hold" then {documents: bench.hold}
    when "sample" then sample(bench, command)
    else raise ArgumentError, "the runner knows no command #{command["do"].inspect}"
    end
  end
end

def say(message) = ANSWERS.write("#{SAY.call(message)}\n")

# A library's message may contain any bytes; the protocol is UTF-8.
# Some libraries quote the whole document.
def told(error) = "#{error.class}: #{error.message}".dup.force_encoding(Encoding::UTF_8).scrub[0, 500]

runtime = Host.runtime
begin
  Kernel.load(ARGV.fetch(0))
  say({ok: true, runtime: runtime, version: Contender.version.to_s, gc: Host.collector})
rescue LoadError => error
  say({ok: false, missing: error.message, runtime: runtime})
  exit
rescue StandardError => error
  say({ok: false, error: told(error), runtime: runtime})
  exit
end

bench = Bench.new(Contender)
while (line = $stdin.gets)
  command = HEAR.call(line)
  break if command["do"] == "exit"
  begin
    say({ok: true, **Run.answer(bench, command)})
  rescue RunnerError => error
    say({ok: false, error: error.message, by: "runner"})
  rescue StandardError, SystemStackError, NoMemoryError => error
    say({ok: false, error: told(error)})
  end
end
