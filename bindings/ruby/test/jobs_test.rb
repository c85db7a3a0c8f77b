# frozen_string_literal: true

require "helper"

# Job arguments that leave Base64 of Marshal, with the real Sidekiq and Active Job.
class JobsTest < Minitest::Test
  include Helper

  R = Regauge
  SIDEKIQ = begin
    require "sidekiq"
  rescue LoadError
    false
  else
    require "regauge/sidekiq"
  end
  Invoice = Struct.new(:total, :at)

  # A queue between processes of the old code and of the new.
  class Queue
    attr_reader :jobs

    def initialize
      @jobs = []
    end

    # What Sidekiq's client needs of a pool of connections.
    def with
      yield self
    end

    def pipelined(*)
      yield self
    end

    def sadd(*) = 1
    def zadd(_key, *jobs) = @jobs.concat(jobs.flatten.grep(/\A\{/))
    def lpush(_key, jobs) = @jobs.concat(Array(jobs))
  end

  def setup
    @seen = []
    return if name.include?("active_job")

    missing("found no Sidekiq: apt-get install ruby-sidekiq") unless SIDEKIQ
    @queue = Queue.new
    ::Sidekiq.logger.level = Logger::ERROR
    # Before 6.4.2, arguments are checked before the middleware packs them.
    ::Sidekiq.strict_args!(false)
  end

  # Puts a job into the queue as Sidekiq's client does, with a middleware.
  def push(coder, item)
    by_name = ::Sidekiq::Client.instance_method(:initialize).parameters.include?(%i[key pool])
    client = by_name ? ::Sidekiq::Client.new(pool: @queue) : ::Sidekiq::Client.new(@queue)
    client.middleware { |chain| chain.add(R::SidekiqArguments::Client, coder) } if coder
    client.push(item)
    ::Sidekiq.load_json(@queue.jobs.last)
  end

  # Performs a job as Sidekiq's server does. Returns the arguments that it got.
  def perform(coder, job, job_class)
    chain = ::Sidekiq::Middleware::Chain.new
    chain.add(R::SidekiqArguments::Server, coder)
    chain.invoke(job_class.new, job, "default") { job["args"] }
  end

  class OldJob
    include ::Sidekiq::Worker if SIDEKIQ

    # What the old code does with its argument.
    def self.read(text) = ::Marshal.load(text.unpack1("m"))
  end

  class NewJob
    if SIDEKIQ
      include ::Sidekiq::Worker
      sidekiq_options packed_arguments: [1]
    end
  end

  def coder(**options)
    R::MessagePack.with(base64: true, on_old: @seen.method(:push), **options)
  end

  def test_jobs_of_sidekiq_move_in_three_steps
    invoice = { "total" => 5, "at" => Time.at(0).utc, "scan" => "\xFF\x00".b }
    reads = R::Marshal.permitting(Time)
    both = coder(fallback: reads, writes: Marshal)
    fresh = coder(fallback: reads)
    locked = R::MessagePack.with(base64: true)

    old = push(nil, "class" => OldJob, "args" => [7, [Marshal.dump(invoice)].pack("m")])
    assert_equal [7, invoice], perform(both, old.dup, NewJob)
    assert_equal 1, @seen.size

    given = [7, invoice]
    written = push(both, "class" => NewJob, "args" => given)
    assert_equal [7, invoice], given, "the arguments of the caller stay"
    assert_equal invoice, OldJob.read(written["args"][1]), "old code reads it"
    assert_equal 7, written["args"][0]
    refute_includes written.keys, "packed_arguments"

    written = push(fresh, "class" => NewJob, "args" => [7, invoice])
    assert_equal R::MessagePack.dump(invoice), written["args"][1].unpack1("m0")
    [both, fresh, locked].each { |one| assert_equal [7, invoice], perform(one, written.dup, NewJob) }
    assert_equal 1, @seen.size

    error = assert_raises(R::DecodeError) { perform(locked, push(nil, "class" => OldJob, "args" => [7, [Marshal.dump(Invoice.new(5))].pack("m")]), NewJob) }
    assert_equal "found Marshal with the classes JobsTest::Invoice, expected Regauge::MessagePack", error.message
  end

  def test_a_job_that_comes_back_is_packed_once
    later = push(coder, "class" => NewJob, "args" => [1, { "a" => Time.at(0).utc }], "at" => Time.now.to_f + 60)
    again = push(coder, later)
    assert_equal later["args"], again["args"]
    assert_equal [1, { "a" => Time.at(0).utc }], perform(coder, again, NewJob)
  end

  def test_other_jobs_stay_as_they_are
    job = push(coder, "class" => OldJob, "args" => ["BAhpBg==", nil])
    assert_equal ["BAhpBg==", nil], job["args"]
    assert_equal ["BAhpBg==", nil], perform(coder, job, OldJob)
    assert_raises(R::EncodeError) { push(coder, "class" => NewJob, "args" => [1, Object.new]) }
  end

  def test_a_serializer_of_active_job_moves_in_three_steps
    begin
      require "active_job"
    rescue LoadError
      missing("found no Active Job: apt-get install ruby-activejob")
    end
    ActiveJob::Base.logger = Logger.new(nil)
    reads = R::Marshal.permitting(Invoice, Time)
    both = coder(fallback: reads, writes: Marshal, objects: :data)
    fresh = coder(fallback: reads, objects: :data)
    locked = coder(objects: :data)
    invoice = Invoice.new(5, Time.at(0).utc)
    ActiveJob::Serializers.add_serializers(serializer)

    old = ActiveJob::Arguments.serialize([7]) << { "_aj_serialized" => serializer.name,
                                                   "invoice" => [Marshal.dump(invoice)].pack("m") }
    assert_equal [7, invoice], arguments(both, old)
    assert_equal 1, @seen.size
    serializer.coder = both
    written = ActiveJob::Arguments.serialize([7, invoice])
    assert_equal invoice, OldJob.read(written[1]["invoice"]), "old code reads it"
    serializer.coder = fresh
    written = ActiveJob::Arguments.serialize([7, invoice])
    refute_match(/BAh/, written[1]["invoice"])
    [both, fresh, locked].each { |one| assert_equal [7, invoice], arguments(one, written) }
    assert_equal 1, @seen.size
    error = assert_raises(ActiveJob::DeserializationError) { arguments(locked, old) }
    assert_match(/found Marshal with the classes JobsTest::Invoice, Time, expected/, error.message)
  end

  private

  def arguments(coder, serialized)
    serializer.coder = coder
    ActiveJob::Arguments.deserialize(JSON.parse(JSON.dump(serialized)))
  end

  # The serializer of the guide, with a coder for each step.
  def serializer
    return JobsTest::InvoiceSerializer if JobsTest.const_defined?(:InvoiceSerializer)

    made = Class.new(ActiveJob::Serializers::ObjectSerializer) do
      class << self
        attr_accessor :coder
      end

      def serialize(invoice) = super("invoice" => self.class.coder.dump(invoice))

      def deserialize(hash)
        found = self.class.coder.load(hash["invoice"])
        found.is_a?(Hash) ? Invoice.new(*found.values_at("total", "at")) : found
      end

      private

      def klass = Invoice
    end
    JobsTest.const_set(:InvoiceSerializer, made)
  end
end
