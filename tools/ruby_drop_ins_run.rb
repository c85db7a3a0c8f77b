# frozen_string_literal: true

# Runs one suite for ruby_drop_ins_check.rb, in a process in which its drop-in is installed.
#
# Writes a line for each test: the outcome and the name.

# Lists what the suite's files define, as a program has to whose documents name its classes.
def with_its_classes
  known = ObjectSpace.each_object(Module).to_a
  yield
  return unless ENV["DROP_IN_PERMIT"]

  own = ObjectSpace.each_object(Module).to_a - known
  Regauge::Compat.permit(*own.select { |one| Module.instance_method(:name).bind_call(one) })
end

def write(results)
  File.write(ENV.fetch("DROP_IN_RESULTS"), results.map { |name, outcome| "#{outcome} #{name}\n" }.join)
end

def run_test_unit(files)
  require "test/unit"
  require "test/unit/ui/testrunnermediator"
  require "test/unit/collector/descendant"
  Test::Unit::AutoRunner.need_auto_run = false
  Test::Unit::TestCase.include Test::Unit::CoreAssertions
  with_its_classes { files.each { |file| require file } }
  results = {}
  mediator = Test::Unit::UI::TestRunnerMediator.new(Test::Unit::Collector::Descendant.new.collect("suite"))
  mediator.add_listener(Test::Unit::TestCase::STARTED_OBJECT) { |test| results[test.name] ||= "passed" }
  mediator.add_listener(Test::Unit::TestResult::FAULT) do |fault|
    kind = fault.class.name.split("::").last
    puts fault.long_display if %w[Failure Error].include?(kind)
    results[fault.test_name] = %w[Failure Error].include?(kind) ? "failed" : "skipped" unless kind == "Notification"
  end
  mediator.run
  write(results)
end

def run_rspec(files)
  require "rspec/core"
  require "stringio"
  require "json"
  text = StringIO.new
  with_its_classes { nil }
  RSpec::Core::Runner.run(["--format", "json", *files], $stderr, text)
  examples = JSON.parse(text.string.lines.find { |line| line.start_with?("{") })["examples"]
  outcomes = { "passed" => "passed", "failed" => "failed", "pending" => "skipped" }
  results = examples.to_h do |one|
    puts one["full_description"], one.dig("exception", "message") if one["status"] == "failed"
    ["#{one["full_description"]} (#{File.basename(one["file_path"])})", outcomes.fetch(one["status"])]
  end
  write(results)
end

def run_minitest(files)
  require "minitest"
  # The suite asks for it; here it is run below.
  $LOADED_FEATURES << "minitest/autorun.rb"
  Minitest.define_singleton_method(:autorun) { nil }
  with_its_classes { files.each { |file| require file } }
  results = {}
  Minitest.seed = 0
  reporter = Minitest::StatisticsReporter.new
  reporter.define_singleton_method(:record) do |result|
    puts result if result.failures.any? && !result.skipped?
    results["#{result.name}(#{result.klass})"] = result.passed? ? "passed" : result.skipped? ? "skipped" : "failed"
  end
  Minitest::Runnable.runnables.each { |suite| suite.run(reporter, {}) }
  write(results)
end

if ARGV.first.end_with?("_spec.rb")
  run_rspec(ARGV)
elsif ENV["DROP_IN"] == "oj"
  run_minitest(ARGV)
else
  run_test_unit(ARGV)
end
