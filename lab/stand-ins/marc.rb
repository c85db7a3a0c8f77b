# frozen_string_literal: true

# The marc gem, or if it is not installed, stand-in classes: the same names with the same instance
# variables, so that Marshal writes the same bytes, and plain Ruby code to read and write MARC 21,
# which is faster than the gem's. Only what the adapters need. Rows measured with it say so in their
# version.

begin
  require "marc"
rescue LoadError
  module MARC
    VERSION = "a stand-in for the marc gem"

    # A record that cannot be read.
    class Exception < RuntimeError; end

    # 001 to 009.
    class ControlField
      attr_accessor :tag, :value

      def self.control_tag?(tag) = tag.match?(/\A00[0-9]\z/)

      def initialize(tag, value = "")
        @tag = tag
        @value = value
      end

      def to_hash = {@tag => @value}
    end

    # A subfield's code and text.
    class Subfield
      attr_accessor :code, :value

      def initialize(code = "", value = "")
        @code = code
        @value = value
      end
    end

    # Indicators and subfields.
    class DataField
      attr_accessor :tag, :indicator1, :indicator2, :subfields

      def initialize(tag, indicator1 = " ", indicator2 = " ")
        @tag = tag
        @indicator1 = indicator1 || " "
        @indicator2 = indicator2 || " "
        @subfields = []
      end

      def append(subfield) = @subfields.push(subfield)

      def to_hash
        subfields = @subfields.map { |subfield| {subfield.code => subfield.value} }
        {@tag => {"ind1" => @indicator1, "ind2" => @indicator2, "subfields" => subfields}}
      end
    end

    # The fields of a record, with an index by tag that is built on demand.
    class FieldMap < Array
      attr_reader :tags
      attr_accessor :clean

      def initialize
        super
        @tags = {}
        @clean = true
      end
    end

    # A leader and fields.
    class Record
      attr_accessor :fields, :leader

      def self.new_from_hash(hash)
        record = new
        record.leader = hash["leader"]
        hash["fields"]&.each do |pair|
          pair.each do |tag, content|
            record.append(content.is_a?(Hash) ? data_field(tag, content) : ControlField.new(tag, content))
          end
        end
        record
      end

      def self.data_field(tag, content)
        field = DataField.new(tag, content["ind1"], content["ind2"])
        content["subfields"].each do |pair|
          pair.each { |code, value| field.append(Subfield.new(code, value)) }
        end
        field
      end

      def initialize
        @fields = FieldMap.new
        @leader = " " * 24
      end

      def append(field)
        @fields.push(field)
        @fields.clean = false
      end

      def to_hash = {"leader" => @leader, "fields" => @fields.map(&:to_hash)}
    end

    # Reads MARC 21 records of a stream, one after the other.
    class Reader
      def self.decode(bytes, external_encoding: "UTF-8")
        bytes = bytes.b
        record = Record.new
        record.leader = bytes[0, 24]
        base = record.leader[12, 5].to_i
        (24...(base - 1)).step(12) do |at|
          tag = bytes[at, 3]
          size, start = bytes[at + 3, 4].to_i, bytes[at + 7, 5].to_i
          text = bytes[base + start, size - 1]
          field = field(tag, text, external_encoding)
          record.append(field) if field
        end
        record
      end

      def self.field(tag, text, encoding)
        return ControlField.new(tag, text.force_encoding(encoding)) if ControlField.control_tag?(tag)

        indicators, *parts = text.split("\x1F")
        return if parts.empty?

        indicators.force_encoding(encoding)
        field = DataField.new(tag, indicators[0, 1], indicators[1, 1])
        parts.each do |part|
          part.force_encoding(encoding)
          field.append(Subfield.new(part[0, 1], part[1..]))
        end
        field
      end

      def initialize(source, external_encoding: "UTF-8")
        @source = source
        @encoding = external_encoding
      end

      def each
        return enum_for(:each) unless block_given?

        while (length = @source.read(5))
          raise Exception, "invalid record length: #{length}" if length.to_i < 24

          yield Reader.decode(length + @source.read(length.to_i - 5), external_encoding: @encoding)
        end
      end
    end

    # Encodes a record as MARC 21.
    module Writer
      module_function

      def encode(record)
        directory = +""
        fields = String.new(encoding: Encoding::BINARY)
        record.fields.each do |field|
          bytes = bytes_of(field)
          directory << format("%03s%04d%05d", field.tag, bytes.bytesize, fields.bytesize)
          fields << bytes
        end
        base = 24 + directory.bytesize + 1
        leader = record.leader.dup
        leader[0, 5] = format("%05d", base + fields.bytesize + 1)
        leader[12, 5] = format("%05d", base)
        leader.b << directory << "\x1E" << fields << "\x1D"
      end

      def bytes_of(field)
        return field.value.b << "\x1E" if field.is_a?(ControlField)

        out = field.indicator1.b << field.indicator2.b
        field.subfields.each { |subfield| out << "\x1F" << subfield.code.b << subfield.value.b }
        out << "\x1E"
      end
    end
  end
end
