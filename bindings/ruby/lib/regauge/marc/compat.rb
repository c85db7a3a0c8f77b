# frozen_string_literal: true

# A drop-in replacement for `require "marc"`: the names of ruby-marc, with the readers and writers
# of this gem.
#
#   require "regauge/marc/compat"
#   MARC::Reader.new("catalog.mrc").each { |record| puts record["245"]["a"] }

require "regauge"
require "stringio"

if defined?(::MARC::Record) && !(::MARC::Record <= Regauge::MARC::Record)
  raise LoadError, "ruby-marc is loaded: require either it or regauge/marc/compat"
end

# So that a later `require "marc"` does nothing.
$LOADED_FEATURES << "marc.rb" unless $LOADED_FEATURES.include?("marc.rb")

# ruby-marc's names.
module MARC
  VERSION = "1.3.0"
  MARCHASH_MAJOR_VERSION = 1
  MARCHASH_MINOR_VERSION = 0
  SUBFIELD_INDICATOR = "\x1F"
  END_OF_FIELD = "\x1E"
  END_OF_RECORD = "\x1D"
  LEADER_LENGTH = 24
  DIRECTORY_ENTRY_LENGTH = 12
  MARC_NS = "http://www.loc.gov/MARC21/slim"
  MARC_XSD = "http://www.loc.gov/standards/marcxml/schema/MARC21slim.xsd"

  class Exception < RuntimeError; end

  # A record that cannot be read as XML.
  class XMLParseError < StandardError; end

  # A record that cannot be written, or read.
  class RecordException < Exception
    attr_reader :record

    def initialize(record)
      super("Record has invalid fields: #{record.errors.join("; ")}")
      @record = record
    end
  end

  class Subfield < Regauge::MARC::Subfield
    def ==(other) = other.is_a?(Subfield) && code == other.code && value == other.value
  end

  class FieldMap < Regauge::MARC::FieldMap; end

  class ControlField < Regauge::MARC::ControlField
    include Enumerable

    def self.control_tags
      @control_tags ||= Set.new(%w[000 001 002 003 004 005 006 007 008 009])
    end

    def self.control_tag?(tag)
      control_tags.include?(tag.to_s) || Regauge::MARC::ControlField.extra_control_fields.include?(tag.to_s)
    end

    def self.extra_control_fields = Regauge::MARC::ControlField.extra_control_fields

    def initialize(tag, value = "")
      super
      @tag = tag.is_a?(Integer) ? format("%03d", tag) : tag
    end

    def errors
      return [] if ControlField.control_tag?(tag)

      ["tag #{tag.inspect} must be in 001-009 or in the MARC::ControlField.control_tags set"]
    end

    def ==(other) = other.is_a?(ControlField) && tag == other.tag && value == other.value
  end

  class DataField < Regauge::MARC::DataField
    def initialize(tag, indicator1 = " ", indicator2 = " ", *subfields)
      super(DataField.whole_tag(tag), indicator1, indicator2)
      @subfields = subfields.map do |subfield|
        case subfield
        when Subfield then subfield
        when Array
          raise Exception, "arrays must only have 2 elements: #{subfield.inspect}" if subfield.length > 2

          Subfield.new(*subfield)
        else raise Exception, "invalid subfield type #{subfield.class}"
        end
      end
    end

    # Restores the leading zeros of a tag.
    def self.whole_tag(tag) = tag.to_s.match?(/\A\d{1,2}\z/) ? tag.to_s.rjust(3, "0") : tag

    def errors
      return [] unless ControlField.control_tag?(tag)

      ["MARC::DataField objects can't have ControlField tag '#{tag}'"]
    end

    def ==(other)
      other.is_a?(DataField) && tag == other.tag && indicator1 == other.indicator1 &&
        indicator2 == other.indicator2 && subfields == other.subfields
    end
  end

  class Record < Regauge::MARC::Record
    def initialize
      super
      @fields = FieldMap.new
    end

    def ==(other) = to_s == other.to_s

    def each_by_tag(filter, &block) = list.each_by_tag(filter, &block)

    def to_marc = Writer.encode(self)

    def to_xml(include_namespace: true) = XMLWriter.encode(self, include_namespace: include_namespace)

    def to_xml_string(fast_but_unsafe: false, include_namespace: true)
      return UnsafeXMLWriter.encode(self, include_namespace: include_namespace) if fast_but_unsafe

      XMLWriter.encode(self, include_namespace: include_namespace).to_s
    end

    def to_json_string = JSONLWriter.encode(self)

    def to_dublin_core = DublinCore.map(self)

    def self.new_from_marc(raw, params = {}) = Reader.decode(raw, **params)

    def self.data_field(tag, content)
      subfields = content["subfields"].flat_map(&:to_a)
      DataField.new(tag, content["ind1"], content["ind2"], *subfields)
    end

    def self.new_from_hash(hash)
      record = new
      record.leader = hash["leader"]
      hash["fields"]&.each do |pair|
        pair.each do |tag, content|
          record << (content.is_a?(Hash) ? data_field(tag, content) : ControlField.new(tag, content))
        end
      end
      record
    end

    def self.new_from_marchash(hash)
      record = new
      record.leader = hash["leader"]
      hash["fields"].each do |tag, *rest|
        record << (rest.length == 1 ? ControlField.new(tag, *rest) : DataField.new(tag, rest[0], rest[1], *rest[2]))
      end
      record
    end

    private

    def list
      FieldMap === @fields ? @fields : Regauge::Native.fill(self, KIT)
    end
  end

  # The classes of records and their parts.
  KIT = [Record, FieldMap, ControlField, DataField, Subfield, true].freeze

  require "regauge/marc/compat/readers"
  require "regauge/marc/compat/writers"
end
