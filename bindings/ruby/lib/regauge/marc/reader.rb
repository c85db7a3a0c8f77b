# frozen_string_literal: true

module Regauge
  module MARC
    # Methods shared by the three readers: records from a path, an IO or a String of bytes.
    module Reading
      include Enumerable

      # @param source [String, Pathname, #read] a path, or anything with a method `read`
      # @param as [Class, nil] `::MARC::Record` for ruby-marc's own records
      # @param jobs [Integer] how many threads may parse; the order is kept
      # @param bad [:stop, :skip] whether a broken record is an error, or is skipped and kept in {#bad_records}
      # @param options [Hash] `charset:` (`:auto`, `:utf8`, `:marc8`), `repair:`, `limits:`
      def initialize(source, as: nil, jobs: 1, bad: :stop, skip_bad: nil, **options)
        @source = source
        unless skip_bad.nil?
          Regauge.deprecated("skip_bad", "bad")
          bad = :skip if skip_bad
        end
        @options = { as: as, jobs: jobs, bad: bad, **options }
        @bad_records = []
      end

      # @return [Array<BadRecord>] the skipped records, with the error and the bytes
      attr_reader :bad_records

      # @yieldparam record [Record]
      # @return [Enumerator] without a block
      def each(jobs: nil, threads: nil, &block)
        return enum_for(:each, jobs: jobs, threads: threads) unless block

        options = @options
        options = options.merge(jobs: jobs) if jobs
        options = options.merge(threads: threads) if threads
        options = options.merge(on_bad: ->(bad) { @bad_records << bad }) if options[:bad].to_s == "skip"
        path = @source.is_a?(String) || !@source.respond_to?(:read)
        codec.each(path ? @source.to_s : @source, path: path, **options, &block)
        self
      end
    end

    # Reads MARC 21 and UNIMARC (ISO 2709).
    class Reader
      include Reading

      private

      def codec
        MARC
      end
    end

    # Reads MARCXML.
    class XMLReader
      include Reading

      private

      def codec
        XML
      end
    end

    # Reads MARC-in-JSON, one record per line or concatenated.
    class JSONLReader
      include Reading

      private

      def codec
        JSON
      end
    end
  end
end
