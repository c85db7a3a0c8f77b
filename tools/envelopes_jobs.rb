# frozen_string_literal: true

# Makes jobs of Active Job for tools/envelopes_ruby.rb, as queue adapters store them: bare, and in jobs of Sidekiq; and
# lets Active Job read what regauge puts back. The versions are those of the frameworks on the load path.

require "bigdecimal"
require "securerandom"

module Jobs
  module_function

  # Stores what Solid Queue and GoodJob store: the map as JSON.
  class Bare
    def initialize(stored) = @stored = stored
    def enqueue(job) = @stored << JSON.generate(job.serialize)
    def enqueue_at(job, _time) = enqueue(job)
    # Rails asks since 7.2.
    def enqueue_after_transaction_commit? = false
  end

  # Stands in for the connection of Sidekiq's client.
  class Redis
    def initialize(stored) = @stored = stored
    def with = yield(self)
    def pipelined = yield(self)
    def sadd(*) = nil
    def lpush(_, jobs) = @stored.concat(jobs)
    def zadd(_, jobs) = @stored.concat(jobs.map(&:last))
  end

  # Gives the same identifiers to every run.
  module Seeded
    class << self
      attr_accessor :numbers
    end

    def uuid = Seeded.numbers ? Seeded.numbers.bytes(16).unpack("H8H4H4H4H12").join("-") : super
    def hex(count = nil) = Seeded.numbers ? Seeded.numbers.bytes(count || 16).unpack1("H*") : super
  end

  # Whether Active Job is there and works with this Ruby.
  def available?
    return @available unless @available.nil?

    require "active_job"
    require "global_id"
    ActiveJob::Base.logger = Logger.new(nil)
    # The default since 7.2.
    ActiveJob.use_big_decimal_serializer = true if RELEASE.segments.take(2) == [7, 1]
    GlobalID.app = "shop"
    I18n.available_locales = %i[en de]
    SecureRandom.singleton_class.prepend(Seeded)
    Object.const_set(:Customer, customer)
    Object.const_set(:ReportJob, report_job)
    @available = true
  rescue LoadError, NoMethodError => error
    puts "skipped: Active Job with Rails #{VERSION}: #{error.message.lines.first}"
    @available = false
  end

  def sidekiq?
    require "sidekiq"
    require "active_job/queue_adapters/sidekiq_adapter"
    # It warns about a decimal before Rails 7.1, which JSON makes text.
    Sidekiq.logger = Logger.new(nil)
    true
  rescue LoadError => error
    puts "skipped: sidekiq: #{error.message}"
    false
  end

  def customer
    Struct.new(:id) do
      include GlobalID::Identification
      def self.find(id) = new(Integer(id))
    end
  end

  def report_job
    Class.new(ActiveJob::Base) do
      queue_as :reports
      retry_on IOError, EOFError, wait: 0, attempts: 9 if RELEASE >= Gem::Version.new("6.0")
      def perform(*, **) = raise(EOFError, "the end")
    end
  end

  # How each job is enqueued, by its name.
  def all
    found = {
      "plain" => -> { ReportJob.perform_later(7, "h\u00e9llo", 2.5, true, nil, ["a", { "deep" => [1] }]) },
      "keywords" => -> { ReportJob.perform_later(7, format: "pdf", pages: { "from" => 1, to: 9 }) },
      "globalid" => -> { ReportJob.perform_later(Customer.new(42), [Customer.new(43)]) },
      "none" => -> { ReportJob.perform_later },
      "scheduled" => -> { ReportJob.set(wait_until: EXPIRES, priority: 5, queue: "low").perform_later("late") },
    }
    return found if RELEASE < Gem::Version.new("6.0")

    # Since 6.0, symbols and times have serializers, retries are counted by exception, and there is a time zone.
    found.merge(
      "types" => -> { ReportJob.perform_later(*types) },
      "retried" => -> { ReportJob.perform_later(7) },
      "zoned" => -> { I18n.with_locale(:de) { Time.use_zone("Europe/Berlin") { ReportJob.perform_later("hallo") } } },
    )
  end

  def types
    at = Time.utc(2026, 11, 27, 12, 30, 15, 500_000)
    [:pdf, at, at.to_date, at.to_datetime, 3.days + 2.hours, BigDecimal("12.50"), { at: at.in_time_zone("UTC") }]
  end

  # Returns what an adapter stores of a job, bare or in a job of Sidekiq.
  def stored(name, way)
    stored = []
    Seeded.numbers = Random.new(name.sum)
    enqueue = lambda do
      all.fetch(name).call
      2.times { ActiveJob::Base.execute(job_in(stored.last, way)) } if name == "retried"
    end
    if way == "sidekiq"
      ActiveJob::Base.queue_adapter = :sidekiq
      Sidekiq::Client.via(Redis.new(stored), &enqueue)
    else
      ActiveJob::Base.queue_adapter = Bare.new(stored)
      enqueue.call
    end
    stored.last
  ensure
    Seeded.numbers = nil
  end

  def job_in(json, way)
    found = JSON.parse(json)
    way == "sidekiq" ? found["args"].fetch(0) : found
  end

  # Yields each job in each way in which it is stored.
  def each
    return unless available?

    %w[bare sidekiq].each do |way|
      next if way == "sidekiq" && !sidekiq?

      # Around the job is always the same: a few are enough.
      names = way == "sidekiq" ? all.keys & %w[plain types scheduled retried] : all.keys
      names.each { |name| yield name, way, stored(name, way) }
    end
  end

  # What `regauge inspect` says of a job.
  def facts(job)
    times = job["exception_executions"].to_h.map { |names, count| "#{names} #{count}" }
    { "class" => job["job_class"], "job" => job["job_id"], "queue" => job["queue_name"], "priority" => job["priority"],
      "executions" => job["executions"], "exceptions" => times.empty? ? nil : times.join(", "),
      "enqueued" => job["enqueued_at"], "scheduled" => job["scheduled_at"], "locale" => job["locale"],
      "timezone" => job["timezone"] }.compact
  end

  # Writes a folder. Returns it, what made it, and what is expected of its files.
  def make(root)
    expected = {}
    folder = nil
    each do |name, way, json|
      folder ||= File.join(root, "activejob-#{VERSION}").tap { |path| FileUtils.mkdir_p(path) }
      file = way == "sidekiq" ? "sidekiq-#{name}.json" : "#{name}.json"
      File.binwrite(File.join(folder, file), json)
      job = job_in(json, way)
      layers = way == "sidekiq" ? %w[sidekiq-job active-job] : %w[active-job]
      expected[file] = { "layer" => "active-job", "layers" => layers, "format" => "json", "steps" => [],
                         "value" => job["arguments"], "facts" => facts(job) }
    end
    frameworks = defined?(Sidekiq) ? "activejob #{VERSION}, sidekiq #{Sidekiq::VERSION}" : "activejob #{VERSION}"
    yield folder, frameworks, expected if folder
  end

  # Active Job finds the same arguments in what was put back, and one more if there is one more; the rest is the same.
  def check(regauge)
    checks = 0
    each do |name, way, json|
      before = JSON.parse(json)
      [[".", []], [". + [\"more\"]", ["more"]]].each do |filter, more|
        back, error, status = Open3.capture3(regauge, "convert", "-", "-", "--to", "json", "--filter", filter,
                                             "--envelope", "keep", "--quiet", stdin_data: json, binmode: true)
        abort "#{name} #{way}: #{error}" unless status.success?
        found = JSON.parse(back)
        wanted = arguments(job_in(json, way)) + more
        abort "#{VERSION} #{name} #{way}: #{back}" unless arguments(job_in(back, way)) == wanted
        replace(found, way, job_in(json, way)["arguments"])
        # In the same order, too.
        abort "#{VERSION} #{name} #{way}: #{back} is not #{json}" unless JSON.generate(found) == JSON.generate(before)
        checks += 1
      end
    end
    puts "activejob #{VERSION}: #{checks} jobs that regauge put back are read" if checks.positive?
  end

  def replace(found, way, arguments)
    (way == "sidekiq" ? found["args"].fetch(0) : found)["arguments"] = arguments
  end

  # The arguments as `perform` gets them.
  def arguments(job)
    ActiveJob::Base.deserialize(job).tap { |one| one.send(:deserialize_arguments_if_needed) }.arguments
  end
end
