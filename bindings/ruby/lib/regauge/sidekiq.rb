# frozen_string_literal: true

require "regauge"

module Regauge
  # Packs job arguments that JSON cannot hold. A job names the positions of these arguments; a client middleware packs them,
  # and a server middleware unpacks them.
  #
  # This replaces `Base64.encode64(Marshal.dump(object))` without draining the queues: the coder reads old arguments, writes
  # them until the cutover, counts them, and finally refuses them.
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

    # Packs the arguments of a job that is pushed by its class. A scheduled or retried job that is pushed again no longer has
    # the option, so it is packed only once.
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

    # Unpacks the arguments of a job before it is performed. An argument that cannot be unpacked raises, so that Sidekiq
    # keeps the job for a retry.
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
