# frozen_string_literal: true

require "regauge/marc/fields"
require "regauge/marc/record"
require "regauge/marc/reader"
require "regauge/marc/writer"

module Regauge
  # MARC 21 and UNIMARC in their serialisations, with the conventions of ruby-marc.
  #
  #   Regauge::MARC::Reader.new("catalog.mrc").each do |record|
  #     puts record["245"]["a"]
  #     record.append(Regauge::MARC::DataField.new("590", " ", " ", ["a", "seen"]))
  #   end
  #
  # Records are read whole and checked, their fields become objects on first access, and an
  # unchanged record is written as it was read.
  module MARC
    # Returns the format's name.
    FORMAT = :marc

    # The same for MARCXML.
    module XML; FORMAT = :marcxml; end
    # The same for MARC-in-JSON, one record a line.
    module JSON; FORMAT = :"marc-json"; end
    # The same for MARCMaker, the lines of `.mrk`.
    module MRK; FORMAT = :mrk; end
    # The same for Aleph sequential.
    module AlephSeq; FORMAT = :alephseq; end

    # Methods shared by {MARC} and the modules in it.
    module Records
      # Returns the first record of a String, an IO, or anything with a method `read`.
      #
      # @return [Record]
      def load(source, **options)
        each(source, **options) { |record| return record }
        raise DecodeError, "found no record"
      end

      # Returns all records.
      #
      # @return [Array<Record>]
      def load_all(source, **options)
        each(source, **options).to_a
      end

      # Returns the records of a file.
      #
      # @param path [String]
      # @return [Array<Record>]
      def load_file(path, **options)
        each(path, path: true, **options).to_a
      end

      # Yields the records one by one.
      #
      # @param source [String, #read] bytes, or with `path: true` a path
      # @param as [Class, nil] `::MARC::Record` for ruby-marc's own records, if ruby-marc is loaded
      # @param jobs [Integer] how many threads may parse; the order is kept
      # @param bad [:stop, :skip] whether a broken record is an error, or is skipped
      # @param on_bad [#call, nil] called with each of them, as a {BadRecord}
      # @yieldparam record [Record]
      # @return [Enumerator] without a block
      def each(source, path: false, as: nil, jobs: 1, bad: :stop, on_bad: nil, **options, &block)
        unless block
          return enum_for(:each, source, path: path, as: as, jobs: jobs, bad: bad, on_bad: on_bad, **options)
        end
        if (name = Events.path_of(source, path))
          return File.open(name, "rb") do |file|
            each(file, as: as, jobs: jobs, bad: bad, on_bad: on_bad, **options, &block)
          end
        end
        bad = :skip if on_bad
        stream = Native.records(self::FORMAT, source, { bad: bad, jobs: jobs }.merge(options),
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

      # Encodes one or more records.
      #
      # @param records [Record, Array<Record>, Hash] may include ruby-marc's records, and Hashes in
      #   the shape of MARC-in-JSON
      # @param io [#write, nil]
      # @return [String, Object] the bytes, or the `io`
      # @!method dump(records, io = nil, **options)

      # Handles Hashes among the records.
      #
      # @api private
      def dump_hashes(records, options)
        hashes = records.map { |record| MARC.to_hash(record) }
        Regauge.const_get(HASH_CODECS.fetch(self::FORMAT)).dump(hashes, **options.to_h)
      end

      # Returns the format with fixed options, as a coder.
      #
      # @return [Coder]
      def with(**options)
        Coder.new(self, **options)
      end

      HASH_CODECS = { marc: :MARC21Hash, marcxml: :MARCXMLHash, "marc-json": :MARCJSONHash,
                      mrk: :MARCMRKHash, alephseq: :MARCAlephSeqHash }.freeze
      private_constant :HASH_CODECS
    end

    [self, XML, JSON, MRK, AlephSeq].each { |codec| codec.extend(Records) }

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

  # The MARC serialisations by name.
  MARC_FORMATS = {
    marc: MARC, marcxml: MARC::XML, marc_json: MARC::JSON, mrk: MARC::MRK, alephseq: MARC::AlephSeq
  }.freeze
end
