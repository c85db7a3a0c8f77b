# frozen_string_literal: true

require "regauge"

module Regauge
  # Arguments of Sidekiq's jobs that JSON cannot hold: a job names their positions, two middlewares write and read them.
  #
  # It moves jobs off the habit of `Base64.encode64(Marshal.dump(object))`, with the queues as they are: the coder reads the
  # old arguments, writes them until the cutover, counts them, and refuses them in the end.
  #
  #   class InvoiceJob
  #     include Sidekiq::Job
  #     sidekiq_options packed_arguments: [1]
  #
  #     def perform(number, invoice) … end
  #   end
  #
  #   PACKED = Regauge::MessagePack.with(base64: true, fallback: Regauge::Marshal.permitting(Time))
  #   Sidekiq.configure_client do |config|
  #     config.client_middleware { |chain| chain.add Regauge::SidekiqArguments::Client, PACKED }
  #   end
  #   Sidekiq.configure_server do |config|
  #     config.client_middleware { |chain| chain.add Regauge::SidekiqArguments::Client, PACKED }
  #     config.server_middleware { |chain| chain.add Regauge::SidekiqArguments::Server, PACKED }
  #   end
  module SidekiqArguments
    # The option of a job: the positions of the arguments that are packed, from 0.
    OPTION = "packed_arguments"

    # @api private
    def self.mapped(job, positions)
      job["args"] = job["args"].each_with_index.map do |argument, at|
        positions.include?(at) ? yield(argument) : argument
      end
    end

    # Packs the arguments of a job that is put into a queue by its class. A job that is put there again, because its time
    # has come or because it failed, has no such option any more, and stays as it is.
    class Client
      # @param coder [#dump] returns text
      def initialize(coder)
        @coder = coder
      end

      # @raise [EncodeError] for what the coder cannot hold
      def call(_job_class, job, _queue, _redis_pool)
        positions = job.delete(OPTION)
        SidekiqArguments.mapped(job, positions) { |argument| @coder.dump(argument) } if positions
        yield
      end
    end

    # Unpacks the arguments of a job before it is performed. What cannot be unpacked raises, so that the job is kept among
    # those that failed.
    class Server
      # @param coder [#load] reads text
      def initialize(coder)
        @coder = coder
      end

      # @raise [DecodeError] for a text that the coder cannot read
      def call(job_instance, job, _queue)
        positions = job_instance.class.get_sidekiq_options[OPTION]
        SidekiqArguments.mapped(job, positions) { |text| @coder.load(text) } if positions
        yield
      end
    end
  end
end
