# frozen_string_literal: true

# Shared by the Ruby programs of tasks: the protocol of docs/measure.md, and the clock.
#
# A program defines its cases with Task.define and ends with Task.serve. A case has
#   version   the library and its version, for the table
# check     a block that does the work once and returns figures (a Hash of numbers), or raises Wrong
# work      a block that does the work N times; with steps, it calls Task.mark at each

require "json"

# A library that prints must not break the protocol.
ANSWERS = $stdout.dup
$stdout.reopen($stderr)
ANSWERS.sync = true
# Oj may replace methods of the json gem: keep the originals from before it is loaded.
SAY = JSON.method(:generate)
HEAR = JSON.method(:parse)

# The result differs from the input.
class Wrong < StandardError; end

# The protocol.
module Task
  Case = Struct.new(:name, :version, :check, :work)

  @cases = {}
  @absent = []
  @marks = []

  class << self
    # Defines a case; `work` gets the number of iterations.
    def define(name, version: "", check:, work:)
      @cases[name] = Case.new(name, version, check, work)
    end

    # A case for which this machine lacks something.
    def absent(name, install)
      @absent << {name: name, install: install}
    end

    # Requires libraries; returns false if one is missing.
    def has?(*libraries)
      libraries.each { |library| require library }
      true
    rescue LoadError
      false
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)

    def cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :nanosecond)

    # Marks the end of a step of a line.
    def mark = @marks << now

    # Yields every number below `count`, and marks each `step`.
    def each_step(count, step)
      index = 0
      while index < count
        stop = [index + step, count].min
        while index < stop
          yield index
          index += 1
        end
        mark
      end
    end

    def try(name)
      {figures: @cases.fetch(name).check.call || {}}
    rescue Wrong => error
      {wrong: told(error)}
    end

    def work(name, iterations)
      work = @cases.fetch(name).work
      @marks = []
      # Garbage of another case must not be attributed to this one.
      GC.start
      cpu_began = cpu
      began = now
      work.call(iterations)
      ns = now - began
      {ns: ns, cpu_ns: cpu - cpu_began, marks: @marks.map { |at| at - began }}
    end

    def answer(command, &ready)
      case command["do"]
      when "ready"
        ready.call(command)
        {cases: @cases.values.map { |one| {name: one.name, version: one.version} }, absent: @absent}
      when "try" then try(command["case"])
      when "work" then work(command["case"], command["iterations"])
      else raise ArgumentError, "the program knows no command #{command["do"].inspect}"
      end
    end

    # Answers commands until told to exit. The block gets the command `ready`.
    def serve(version: "", &ready)
      jit = defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? ? "YJIT on" : "no JIT"
      runtime = "#{RUBY_ENGINE == "ruby" ? "MRI Ruby" : RUBY_ENGINE} #{RUBY_VERSION}"
      say({ok: true, runtime: runtime, version: version, gc: "on, run before each sample; #{jit}"})
      while (line = $stdin.gets)
        command = HEAR.call(line)
        break if command["do"] == "exit"
        begin
          say({ok: true, **answer(command, &ready)})
        rescue StandardError, SystemStackError, NoMemoryError => error
          say({ok: false, error: told(error)})
        end
      end
    end

    private

    def say(message) = ANSWERS.write("#{SAY.call(message)}\n")

    # A library's message may contain any bytes; the protocol is UTF-8.
    def told(error)
      message = error.is_a?(Wrong) ? error.message : "#{error.class}: #{error.message}"
      message.dup.force_encoding(Encoding::UTF_8).scrub
    end
  end
end
