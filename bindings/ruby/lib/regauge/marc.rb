# frozen_string_literal: true

require "regauge/marc/fields"
require "regauge/marc/record"
require "regauge/marc/reader"
require "regauge/marc/writer"

module Regauge
  # MARC 21 and UNIMARC in their three serialisations, with the habits of ruby-marc.
  #
  #   Regauge::MARC::Reader.new("catalog.mrc").each do |record|
  #     puts record["245"]["a"]
  #     record.append(Regauge::MARC::DataField.new("590", " ", " ", ["a", "seen"]))
  #   end
  #
  # Records are read whole and checked, their fields become objects when they are asked for, and a
  # record that nobody touched is written as it came.
  module MARC
    # The format's name.
    FORMAT = :marc

    # The same for MARCXML.
    module XML; FORMAT = :marcxml; end
    # The same for MARC-in-JSON, one record a line.
    module JSON; FORMAT = :"marc-json"; end

    # What {MARC}, {XML} and {JSON} have in common.
    module Records
      # The first record of a String, an IO, or whatever has a method `read`.
      #
      # @return [Record]
      def load(source, **options)
        each(source, **options) { |record| return record }
        raise DecodeError, "found no record"
      end

      # All records.
      #
      # @return [Array<Record>]
      def load_all(source, **options)
        each(source, **options).to_a
      end

      # The records of a file.
      #
      # @param path [String]
      # @return [Array<Record>]
      def load_file(path, **options)
        each(path, path: true, **options).to_a
      end

      # The records one by one.
      #
      # @param source [String, #read] bytes, or with `path: true` a path
      # @param as [Class, nil] `::MARC::Record` for real ones, where ruby-marc is loaded
      # @param threads [Integer] how many threads may parse; the order is kept
      # @param skip_bad [Boolean] whether broken records are passed over
      # @param on_bad [#call, nil] is told of each of them, a {BadRecord}
      # @yieldparam record [Record]
      # @return [Enumerator] without a block
      def each(source, path: false, as: nil, threads: 1, skip_bad: false, on_bad: nil, **options, &block)
        unless block
          return enum_for(:each, source, path: path, as: as, threads: threads, skip_bad: skip_bad,
                                         on_bad: on_bad, **options)
        end
        if path
          return File.open(source, "rb") do |file|
            each(file, as: as, threads: threads, skip_bad: skip_bad, on_bad: on_bad, **options, &block)
          end
        end
        skip_bad ||= !on_bad.nil?
        stream = Native.records(self::FORMAT, source, options.merge(skip_bad: skip_bad, threads: threads),
                                MARC.kit(as))
        begin
          until (record = stream.advance).equal?(stream)
            next on_bad&.call(record) if BadRecord === record

            yield record
          end
        ensure
          stream.close
        end
        self
      end

      # One record or several as bytes.
      #
      # @param records [Record, Array<Record>, Hash] also ruby-marc's records, and Hashes in the
      #   shape of MARC-in-JSON
      # @param io [#write, nil]
      # @return [String, Object] the bytes, or the `io`
      # @!method dump(records, io = nil, **options)

      # Where Hashes are among the records.
      #
      # @api private
      def dump_hashes(records, options)
        hashes = records.map { |record| MARC.to_hash(record) }
        Regauge.const_get(HASH_CODECS.fetch(self::FORMAT)).dump(hashes, **options.to_h)
      end

      # The same with options of its own: a coder.
      #
      # @return [Coder]
      def with(**options)
        Coder.new(self, **options)
      end

      HASH_CODECS = { marc: :MARC21Hash, marcxml: :MARCXMLHash, "marc-json": :MARCJSONHash }.freeze
      private_constant :HASH_CODECS
    end

    [self, XML, JSON].each { |codec| codec.extend(Records) }

    KIT = [Record, FieldMap, ControlField, DataField, Subfield, false].freeze
    private_constant :KIT

    # @api private
    def self.kit(type)
      return KIT if type.nil? || type.equal?(Record)

      unless defined?(::MARC::Record) && type <= ::MARC::Record
        raise ArgumentError, "as: takes ::MARC::Record, or a class under it, of a ruby-marc that is loaded"
      end

      [type, ::MARC::FieldMap, ::MARC::ControlField, ::MARC::DataField, ::MARC::Subfield, true]
    end

    # @api private
    def self.to_hash(record)
      record.is_a?(Hash) ? record : record.to_hash
    end
  end

  # The three of MARC by name.
  MARC_FORMATS = { marc: MARC, marcxml: MARC::XML, marc_json: MARC::JSON }.freeze
end
