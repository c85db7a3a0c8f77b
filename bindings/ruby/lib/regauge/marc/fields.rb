# frozen_string_literal: true

module Regauge
  module MARC
    # The other serialisations; the extension gives them their `dump`.
    module XML; end
    module JSON; end
    module MRK; end
    module AlephSeq; end

    # A subfield: a code and a value.
    class Subfield
      # @return [String] one character
      attr_accessor :code
      # @return [String]
      attr_accessor :value

      # @param code [String]
      # @param value [String]
      def initialize(code = "", value = "")
        @code = code
        @value = value
      end

      # @return [Boolean]
      def ==(other)
        other.respond_to?(:code) && code == other.code && value == other.value
      end

      # @return [String] `$a Title`
      def to_s
        "$#{code} #{value} "
      end
    end

    # A field that contains text: 001 to 009, and any other without subfields.
    class ControlField
      # Tags outside 00X that are control fields too, such as Aleph's FMT.
      @extra_control_fields = []

      class << self
        # @return [Array<String>]
        attr_reader :extra_control_fields
      end

      # @param tag [String]
      # @return [Boolean]
      def self.control_tag?(tag)
        tag.start_with?("00") || ControlField.extra_control_fields.include?(tag)
      end

      # @return [String]
      attr_accessor :tag
      # @return [String]
      attr_accessor :value

      # @param tag [String]
      # @param value [String]
      def initialize(tag, value = "")
        @tag = tag
        @value = value
      end

      # @return [Array<String>] what is wrong with the field
      def errors
        return [] if ControlField.control_tag?(tag.to_s)

        ["found the tag #{tag.inspect}, expected one of a control field: 001 to 009"]
      end

      # @return [Boolean]
      def valid?
        errors.empty?
      end

      # @return [Boolean]
      def ==(other)
        other.is_a?(ControlField) && tag == other.tag && value == other.value
      end

      # @return [Boolean]
      def =~(pattern)
        to_s =~ pattern
      end

      # @return [String]
      def to_s
        "#{tag} #{value}"
      end

      # @return [Array] the tag and the value, in the shape of marc-hash
      def to_marchash
        [tag, value]
      end

      # @return [Hash] in the shape of MARC-in-JSON
      def to_hash
        { tag => value }
      end
    end

    # A field with two indicators and subfields.
    class DataField
      include Enumerable

      # @return [String]
      attr_accessor :tag
      # @return [Array<Subfield>]
      attr_accessor :subfields

      # @param tag [String]
      # @param indicator1 [String, nil]
      # @param indicator2 [String, nil]
      # @param subfields [Array<Subfield, Array(String, String)>]
      def initialize(tag, indicator1 = " ", indicator2 = " ", *subfields)
        @tag = tag
        # Three variables fit in the object itself; a pair is frozen, because many fields share it.
        @indicators = [indicator1 || " ", indicator2 || " "].freeze
        @subfields = subfields.map { |subfield| DataField.subfield(subfield) }
      end

      # @return [String] one character
      def indicator1
        @indicators[0]
      end

      # @return [String] one character
      def indicator2
        @indicators[1]
      end

      # @param value [String] one character
      def indicator1=(value)
        @indicators = [value, @indicators[1]].freeze
      end

      # @param value [String] one character
      def indicator2=(value)
        @indicators = [@indicators[0], value].freeze
      end

      # @api private
      def self.subfield(subfield)
        case subfield
        when Subfield then subfield
        when Array
          raise ArgumentError, "a subfield is a code and a value, found #{subfield.inspect}" if subfield.length > 2

          Subfield.new(*subfield)
        else raise ArgumentError, "a subfield is a Subfield or an Array, found #{subfield.inspect}"
        end
      end

      # @return [Array<String>] what is wrong with the field
      def errors
        return [] unless ControlField.control_tag?(tag.to_s)

        ["found the tag #{tag.inspect}, expected one of a data field"]
      end

      # @return [Boolean]
      def valid?
        errors.empty?
      end

      # Returns the value of the first subfield with this code.
      #
      # @return [String, nil]
      def [](code)
        found = subfields.find { |subfield| subfield.code == code }
        found&.value
      end

      # @return [self]
      def append(subfield)
        subfields << subfield
        self
      end
      alias << append

      # @yieldparam subfield [Subfield]
      def each(&block)
        return enum_for(:each) unless block

        subfields.each(&block)
      end

      # @param dedup [Boolean]
      # @return [Array<String>] the codes
      def codes(dedup = true)
        codes = subfields.map(&:code)
        dedup ? codes.uniq : codes
      end

      # Groups the subfields by code.
      #
      # @return [Array<String>] their values
      def values(code)
        subfields.filter_map { |subfield| subfield.value if subfield.code == code }
      end

      # @return [String] all values, concatenated
      def value
        subfields.map(&:value).join
      end

      # @return [Boolean]
      def ==(other)
        other.is_a?(DataField) && tag == other.tag && indicator1 == other.indicator1 &&
          indicator2 == other.indicator2 && subfields == other.subfields
      end

      # @return [Boolean]
      def =~(pattern)
        to_s =~ pattern
      end

      # @return [String] `245 10 $a Title $c Name`
      def to_s
        "#{tag} #{indicator1}#{indicator2} #{subfields.map(&:to_s).join}"
      end

      # @return [Array] in the shape of marc-hash
      def to_marchash
        [tag, indicator1, indicator2, subfields.map { |subfield| [subfield.code, subfield.value] }]
      end

      # @return [Hash] in the shape of MARC-in-JSON
      def to_hash
        pairs = subfields.map { |subfield| { subfield.code => subfield.value } }
        { tag => { "ind1" => indicator1, "ind2" => indicator2, "subfields" => pairs } }
      end
    end

    # The fields of a record, with an index by tag that is built when needed.
    class FieldMap < Array
      # A list that was read has no index until one is needed: two variables of an Array cost as
      # much as a few fields.

      # @return [Boolean] whether the index is still valid
      attr_writer :clean

      # @param fields [Array]
      def initialize(*fields)
        super
        @tags = {}
        @clean = false
      end

      # @return [Hash{String => Array<Integer>}] the positions of a tag's fields, as of the last
      #   {#reindex}
      def tags
        @tags || {}
      end

      # @return [Boolean]
      def clean
        @clean || false
      end

      # Rebuilds the index.
      #
      # @return [Boolean]
      def reindex
        @tags = {}
        each_with_index { |field, index| (@tags[field.tag] ||= []) << index }
        @clean = true
      end

      # @return [Array<String>] every tag in use
      def tag_list
        reindex unless clean
        tags.keys
      end

      # @param filter [String, Array<String>, Range]
      # @return [Array] the fields with these tags, in order
      def with_tags(filter)
        reindex unless clean
        return (tags[filter] || []).map { |index| self[index] } if filter.is_a?(String)

        Array(filter).flat_map { |tag| tags[tag] || [] }.sort.map { |index| self[index] }
      end

      # @yieldparam field [ControlField, DataField]
      def each_by_tag(filter, &block)
        with_tags(filter).each(&block)
      end

      # @return [self]
      def freeze
        reindex unless clean
        super
      end
    end
  end
end
