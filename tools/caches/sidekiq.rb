# frozen_string_literal: true

require "logger"
require "securerandom"
require "sidekiq"
require "sidekiq/api"
require "sidekiq/job_retry"
require "sidekiq/launcher"

begin
  require "active_job"
  require "active_job/queue_adapters/sidekiq_adapter"
rescue LoadError => error
  warn "skipped: Active Job: #{error.message}"
end
require_relative "samples"

class ThumbnailWorker
  include Sidekiq::Worker
  sidekiq_options queue: "default", retry: 25, backtrace: 8
end

class InvoiceWorker
  include Sidekiq::Worker
  sidekiq_options queue: "critical", retry: true
end

# Writes Sidekiq's queues, its schedule, its retries and its dead jobs, its counters, and jobs of Active Job.
module Writer
  WORKERS = [ThumbnailWorker, InvoiceWorker].freeze
  # Sidekiq keeps no more dead jobs than that.
  DEAD_MAX = 5000

  module_function

  def versions
    found = { "sidekiq" => Sidekiq::VERSION, "redis-rb" => Redis::VERSION }
    found["activejob"] = ActiveJob::VERSION::STRING if defined?(ActiveJob)
    found
  end

  def arguments(run, part, index)
    rng = run.random("#{part}/#{index}")
    options = { "locale" => %w[de en].sample(random: rng), "ratio" => rng.rand }
    [rng.rand(10**6), Samples.prose(rng, run.length(rng) / 2), options]
  end

  def connect(run)
    numbers = run.random("jids")
    seeded = Module.new { define_method(:hex) { |size = 16| numbers.bytes(size).unpack1("H*") } }
    SecureRandom.singleton_class.prepend(seeded)
    Sidekiq.logger = Logger.new(nil)
    # Its client warns about a change in a version that this Sidekiq does not know.
    Redis.sadd_returns_boolean = false if Redis.respond_to?(:sadd_returns_boolean=)
    Sidekiq.configure_client { |config| config.redis = { url: run.url } }
    return unless defined?(ActiveJob)

    ActiveJob::Base.logger = Logger.new(nil)
    ActiveJob::Base.queue_adapter = :sidekiq
  end

  # How many jobs there are of each part.
  def counts(run)
    found = { "default" => 0.35, "critical" => 0.15, "mailers" => 0.2, "schedule" => 0.1, "retry" => 0.15,
              "dead" => 0.05 }
    found = found.transform_values { |share| [(run.count * share).to_i, 2].max }
    found["dead"] = [found["dead"], DEAD_MAX].min
    found.delete("mailers") unless defined?(ActiveJob)
    found
  end

  def make(run)
    connect(run)
    counts = counts(run)
    bulk(run, ThumbnailWorker, "default", counts["default"])
    bulk(run, InvoiceWorker, "critical", counts["critical"])
    bulk(run, InvoiceWorker, "schedule", counts["schedule"], scheduled: true)
    mail(run, counts["mailers"]) if counts["mailers"]
    fail_jobs(run, counts["retry"])
    kill_jobs(run, counts["dead"])
    stats(counts)
    labels(run, counts)
  end

  def bulk(run, worker, part, count, scheduled: false)
    (0...count).each_slice(500) do |indexes|
      items = { "class" => worker, "args" => indexes.map { |index| arguments(run, part, index) } }
      items["at"] = indexes.map { |index| Time.now.to_f + 86_400 + index } if scheduled
      Sidekiq::Client.push_bulk(items)
    end
  end

  def mail(run, count)
    job = Class.new(ActiveJob::Base) { queue_as :mailers }
    Object.const_set(:WelcomeJob, job)
    count.times do |index|
      user, text, = arguments(run, "mailers", index)
      job.perform_later(user, text, at: Time.at(1_770_000_000 + index).utc.to_datetime, kind: :welcome)
    end
  end

  # A job as a worker fetches it.
  def job(worker, args)
    client = Sidekiq::Client.new
    item = client.send(:normalize_item, "class" => worker, "args" => args, "enqueued_at" => Time.now.to_f)
    Sidekiq.dump_json(item.merge("jid" => SecureRandom.hex(12)))
  end

  def fail_jobs(run, count)
    # Since 6.5 it takes the configuration.
    retrying = Sidekiq::JobRetry.instance_method(:initialize).arity == 1 ? [Sidekiq] : []
    count.times do |index|
      worker = WORKERS[index % 2]
      queue = worker.get_sidekiq_options["queue"]
      Sidekiq::JobRetry.new(*retrying).local(worker.new, job(worker, arguments(run, "retry", index)), queue) do
        raise ArgumentError, "no such record: #{index}"
      end
    rescue Sidekiq::JobRetry::Skip
      # It is in the set of retries.
    end
  end

  def kill_jobs(run, count)
    count.times do |index|
      Sidekiq::DeadSet.new.kill(job(InvoiceWorker, arguments(run, "dead", index)), notify_failure: false)
    end
  end

  def stats(counts)
    Sidekiq::Processor::PROCESSED.incr(counts.values.sum * 7)
    Sidekiq::Processor::FAILURE.incr(counts["retry"])
    return Sidekiq::Launcher.flush_stats if Sidekiq::Launcher.respond_to?(:flush_stats)

    # Since 6.5 it belongs to a launcher.
    Sidekiq[:queues] = %w[default]
    Sidekiq::Launcher.new(Sidekiq).send(:flush_stats)
  end

  def labels(run, counts)
    framework = "sidekiq #{Sidekiq::VERSION}"
    job = { framework:, envelope: "sidekiq-job" }
    %w[default critical].each { |queue| run.label("queue:#{queue}", codec: "json", kind: "list", **job) }
    mail = { framework: "#{framework}, activejob #{ActiveJob::VERSION::STRING}", envelope: "active-job" } if counts["mailers"]
    run.label("queue:mailers", codec: "json", kind: "list", **mail, note: "in a job of Sidekiq") if mail
    %w[schedule retry dead].each { |set| run.label(set, codec: "json", kind: "zset", **job) }
    run.label("queues", codec: "text", kind: "set", framework:)
    today = Time.now.utc.strftime("%Y-%m-%d")
    %w[processed failed].each do |stat|
      ["stat:#{stat}", "stat:#{stat}:#{today}"].each { |key| run.label(key, codec: "integer", framework:) }
    end
  end

  def check(run)
    connect(run)
    counts(run).slice("default", "critical").each do |queue, count|
      run.sample(count).each do |index|
        # Jobs are pushed at the head.
        found = Sidekiq.redis { |redis| redis.lindex("queue:#{queue}", count - 1 - index) }
        run.checked("#{queue} #{index}", arguments(run, queue, index), Sidekiq::JobRecord.new(found).args)
      end
    end
    { "retry" => Sidekiq::RetrySet, "dead" => Sidekiq::DeadSet, "schedule" => Sidekiq::ScheduledSet }.each do |part, set|
      found = set.new.map(&:args).sort_by(&:inspect)
      expected = Array.new(counts(run)[part]) { |index| arguments(run, part, index) }.sort_by(&:inspect)
      run.checked(part, expected, found)
    end
  end
end
