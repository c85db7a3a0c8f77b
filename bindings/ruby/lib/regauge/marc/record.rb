# frozen_string_literal: true

module Regauge
  module MARC
    # A MARC record: a leader and fields.
    class Record
      include Enumerable

      # @return [String] 24 characters
      attr_accessor :leader
      # @return [String, nil] the charset of the bytes if it differs from leader/09: `"utf-8"` or
      #   `"marc-8"`. It is kept when the record is written.
      attr_writer :charset

      # Creates a record without fields.
      def initialize
        @leader = +"          22        4500"
        @fields = FieldMap.new
      end

      # @return [String, nil]
      def charset
        list
        @charset
      end

      # Returns the fields, or those with the given tags.
      #
      #   record.fields("650")
      #   record.fields(%w[100 700])
      #   record.fields("600".."699")
      #
      # @param filter [String, Array<String>, Range, nil]
      # @return [FieldMap, Array]
      def fields(filter = nil)
        fields = list
        return fields.with_tags(filter) if filter

        # The caller may change the list.
        fields.clean = false if fields.clean && !fields.frozen?
        fields
      end

      # @return [self]
      def append(field)
        fields = list
        fields << field
        fields.clean = false if fields.clean
        self
      end
      alias << append

      # @yieldparam field [ControlField, DataField]
      def each(&block)
        return enum_for(:each) unless block

        list.each(&block)
      end

      # @param filter [String, Array<String>, Range]
      def each_by_tag(filter, &block)
        list.each_by_tag(filter, &block)
      end

      # Returns the first field with this tag.
      #
      # @param tag [String]
      # @return [ControlField, DataField, nil]
      def [](tag)
        list.find { |field| field.tag == tag }
      end

      # @return [Array<String>] every tag in use
      def tags
        list.tag_list
      end

      # @return [Array<String>] what is wrong with the fields
      def errors
        list.flat_map(&:errors)
      end

      # @return [Boolean]
      def valid?
        errors.empty?
      end

      # @return [Boolean]
      def ==(other)
        other.respond_to?(:leader) && leader == other.leader && other.respond_to?(:fields) && list == other.fields
      end

      # @return [Boolean]
      def =~(pattern)
        to_s =~ pattern
      end

      # @return [String] for display: a line per field
      def to_s
        (["LEADER #{leader}"] + list.map(&:to_s)).join("\n") << "\n"
      end

      # @return [Hash] in the shape of MARC-in-JSON
      def to_hash
        hash = { "leader" => leader }
        hash["charset"] = charset if charset
        hash["fields"] = list.map(&:to_hash)
        hash
      end
      alias to_h to_hash
      alias to_regauge to_hash

      # @return [Hash] in the shape of marc-hash
      def to_marchash
        { "type" => "marc-hash", "version" => [1, 0], "leader" => leader, "fields" => list.map(&:to_marchash) }
      end

      # @return [String] MARC 21 (ISO 2709)
      def to_marc(**options)
        MARC.dump(self, **options)
      end

      # @return [String] MARCXML
      def to_xml_string(**options)
        XML.dump(self, **options)
      end

      # @return [String] MARC-in-JSON
      def to_json_string
        JSON.dump(self).chomp
      end

      # @param hash [Hash] in the shape of MARC-in-JSON
      # @return [Record]
      def self.new_from_hash(hash)
        record = new
        record.leader = hash["leader"]
        record.charset = hash["charset"]
        hash["fields"]&.each do |pair|
          pair.each do |tag, content|
            record.append(content.is_a?(Hash) ? data_field(tag, content) : ControlField.new(tag, content))
          end
        end
        record
      end

      # @api private
      def self.data_field(tag, content)
        subfields = content["subfields"].flat_map(&:to_a)
        DataField.new(tag, content["ind1"], content["ind2"], *subfields)
      end

      # @param hash [Hash] in the shape of marc-hash
      # @return [Record]
      def self.new_from_marchash(hash)
        record = new
        record.leader = hash["leader"]
        hash["fields"].each do |tag, *rest|
          record.append(rest.length == 1 ? ControlField.new(tag, *rest) : DataField.new(tag, *rest[0, 2], *rest[2]))
        end
        record
      end

      # @param bytes [String] MARC 21
      # @return [Record]
      def self.new_from_marc(bytes, **options)
        MARC.load(bytes, **options)
      end

      # @api private
      def initialize_copy(other)
        super
        # Creates the original's fields, for the copy.
        fields = other.fields
        @charset = other.charset
        @leader = leader.dup
        @fields = FieldMap.new
        fields.each do |field|
          field = field.dup
          field.subfields = field.subfields.map(&:dup) if field.is_a?(DataField)
          @fields << field
        end
      end

      # A record stored by Marshal or a cache is serialised as its data.
      #
      # @api private
      def marshal_dump
        to_hash
      end

      # @api private
      def marshal_load(hash)
        other = Record.new_from_hash(hash)
        @leader = other.leader
        @charset = other.charset
        @fields = other.fields
      end

      # @return [String]
      def inspect
        "#<#{self.class} #{leader.inspect} #{list.length} fields>"
      end

      private

      def list
        # For a record that was read, its source, until its fields are accessed.
        FieldMap === @fields ? @fields : Native.fill(self, KIT)
      end
    end
  end
end
