# frozen_string_literal: true

module MARC
  # The output of a writer: a path or an IO.
  module Target
    private

    def open_target(file, mode = "w")
      return File.new(file, mode) if file.instance_of?(String)
      return file if file.respond_to?(:write)

      raise ArgumentError, "must pass in file name or handle"
    end
  end
  private_constant :Target

  # Writes MARC 21.
  class Writer
    include Target

    attr_accessor :allow_oversized

    def initialize(file)
      @fh = open_target(file)
      @allow_oversized = false
      return unless block_given?

      yield self
      close
    end

    def write(record)
      @fh.write(Writer.encode(record, allow_oversized))
    end

    def close
      @fh.close
    end

    # Encodes a record the way ruby-marc does: in UTF-8, whatever the leader says; the record gets
    # the new leader.
    def self.encode(record, allow_oversized = false)
      record.charset = "utf-8" unless record.leader.to_s[9] == "a"
      bytes =
        begin
          Regauge::Native.dump_records(:marc, [record], { on_loss: :approximate })
        rescue Regauge::EncodeError
          by_hand(record, allow_oversized)
        end
      record.leader = bytes.byteslice(0, LEADER_LENGTH).force_encoding(Encoding::UTF_8)
      bytes.force_encoding(Encoding::UTF_8)
    end

    # Encodes a record with arbitrary bytes, or with parts that are too long.
    def self.by_hand(record, allow_oversized)
      directory = "".b
      data = "".b
      record.each do |field|
        content =
          if field.is_a?(DataField)
            [field.indicator1 || " ", field.indicator2 || " ",
             *field.subfields.flat_map { |subfield| [SUBFIELD_INDICATOR, subfield.code, subfield.value] }].map { |part| part.to_s.b }.join
          else
            field.value.to_s.b
          end
        content += END_OF_FIELD.b
        directory << format("%03s", field.tag).b << format_byte_count(content.bytesize, allow_oversized, 4) <<
          format_byte_count(data.bytesize, allow_oversized)
        data << content
      end
      directory << END_OF_FIELD.b
      leader = record.leader.to_s.b.ljust(LEADER_LENGTH)
      base = LEADER_LENGTH + directory.bytesize
      leader[12, 5] = format_byte_count(base, allow_oversized)
      leader[0, 5] = format_byte_count(base + data.bytesize + 1, allow_oversized)
      leader + directory + data + END_OF_RECORD.b
    end
    private_class_method :by_hand

    def self.format_byte_count(number, allow_oversized, digits = 5)
      text = number.to_s.rjust(digits, "0")
      return text if text.length <= digits
      return "0" * digits if allow_oversized

      raise Exception, "Can't write MARC record in binary format, as a length/offset value of #{number} " \
                       "is too long for a #{digits}-byte slot."
    end
  end

  # Writes MARC-in-JSON, one record per line.
  class JSONLWriter < Writer
    def initialize(file)
      @fh = open_target(file, "w:utf-8")
      return unless block_given?

      yield self
      close
    end

    def write(record)
      @fh.puts(encode(record))
      self
    end

    def encode(record) = JSONLWriter.encode(record)

    def self.encode(record)
      Regauge::JSON.dump(record.to_hash)
    end
  end

  # Writes MARCXML through REXML, so that the elements can be edited.
  class XMLWriter
    include Target

    COLLECTION_TAG = %(<collection xmlns='#{MARC_NS}' xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance' ) +
                     %(xsi:schemaLocation="#{MARC_NS} #{MARC_XSD}">)

    def initialize(file, options = {})
      require "rexml/document"
      require "rexml/formatters/default"
      @writer = REXML::Formatters::Default.new
      @fh = open_target(file)
      @stylesheet = options[:stylesheet]
      @fh.write("<?xml version='1.0'?>\n#{stylesheet_tag}#{self.class::COLLECTION_TAG}\n")
      return unless block_given?

      yield self
      close
    end

    def stylesheet_tag
      @stylesheet ? %(<?xml-stylesheet type="text/xsl" href="#{@stylesheet}"?>\n) : ""
    end

    def write(record)
      @writer.write(XMLWriter.encode(record), @fh)
      @fh.write("\n")
    end

    def close
      @fh.write("</collection>")
      @fh.close
    end

    # Returns a leader that is valid in the MARCXML schema.
    def self.fix_leader(leader)
      fixed = leader.gsub(/[^\w|^\s]/, "Z").ljust(LEADER_LENGTH)
      fixed[20..23] = "4500"
      fixed[6] = "Z" if fixed[6] == " "
      fixed
    end

    # @return [REXML::Element]
    def self.encode(record, options = {})
      require "rexml/document"
      element = REXML::Element.new("record")
      element.add_namespace(MARC_NS) if options[:include_namespace]
      element.add_element("leader").add_text(fix_leader(record.leader))
      record.each do |field|
        field.is_a?(ControlField) ? add_control(element, field) : add_data(element, field)
      end
      element
    end

    def self.add_control(element, field)
      tag = field.tag
      tag = "00z" unless tag.match?(/00[1-9A-Za-z]/) || ControlField.control_tag?(tag)
      element.add_element("controlfield", "tag" => tag).add_text(field.value)
    end
    private_class_method :add_control

    def self.add_data(element, field)
      indicators = [field.indicator1, field.indicator2].map { |indicator| indicator&.match?(/[\da-z ]/) ? indicator : "z" }
      data = element.add_element("datafield", "tag" => field.tag, "ind1" => indicators[0], "ind2" => indicators[1])
      field.subfields.each do |subfield|
        code = subfield.code.match?(/[\dA-Za-z!"#$%&'()*+,\-.\/:;<=>?{}_^`~\[\]\\]/) ? subfield.code : " "
        data.add_element("subfield", "code" => code).add_text(subfield.value)
      end
    end
    private_class_method :add_data
  end

  # Writes MARCXML as text.
  class UnsafeXMLWriter < XMLWriter
    XML_HEADER = '<?xml version="1.0" encoding="UTF-8"?>'
    NS_ATTRS = %(xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns="#{MARC_NS}" xsi:schemaLocation="#{MARC_NS} #{MARC_XSD}")
    NS_COLLECTION = "<collection #{NS_ATTRS}>"
    COLLECTION = "<collection>"
    NS_RECORD = "<record #{NS_ATTRS}>"
    RECORD = "<record>"

    def write(record)
      @fh.write(self.class.encode(record))
    end

    class << self
      def open_collection(include_namespace: true) = include_namespace ? NS_COLLECTION : COLLECTION

      def open_record(include_namespace: true) = include_namespace ? NS_RECORD : RECORD

      def single_record_document(record, include_namespace: true)
        [XML_HEADER, open_collection(include_namespace: include_namespace),
         encode(record, include_namespace: false), "</collection>"].join
      end

      def encode(record, include_namespace: true)
        xml = +open_record(include_namespace: include_namespace)
        xml << "<leader>" << fix_leader(record.leader).encode(xml: :text) << "</leader>"
        record.each do |field|
          if field.is_a?(ControlField)
            xml << open_controlfield(field.tag) << field.value.encode(xml: :text) << "</controlfield>"
            next
          end
          xml << open_datafield(field.tag, field.indicator1, field.indicator2)
          field.each { |subfield| xml << open_subfield(subfield.code) << subfield.value.encode(xml: :text) << "</subfield>" }
          xml << "</datafield>"
        end
        (xml << "</record>").force_encoding(Encoding::UTF_8)
      end

      def open_datafield(tag, ind1, ind2) = %(<datafield tag="#{tag}" ind1="#{ind1}" ind2="#{ind2}">)

      def open_subfield(code) = %(<subfield code="#{code}">)

      def open_controlfield(tag) = %(<controlfield tag="#{tag}">)
    end
  end

  # Maps fields of a record to Dublin Core: the first field of each tag, a control field as its
  # text, a data field as the values of its subfields.
  class DublinCore
    # Names whose values are whole fields.
    FIELDS = {
      "creator" => %w[100 110 111 700 710 711 720], "subject" => %w[600 610 611 630 650 653],
      "description" => ("500".."599").to_a - %w[506 530 540 546], "coverage" => %w[651 752], "rights" => %w[506 540],
      "relation" => %w[530]
    }.freeze
    # Names whose value is a single subfield.
    SUBFIELDS = {
      "title" => %w[245 a], "publisher" => %w[260 b], "date" => %w[260 c], "format" => %w[856 q], "identifier" => %w[856 u],
      "source" => %w[786 t]
    }.freeze
    private_constant :FIELDS, :SUBFIELDS

    def self.map(record)
      core = SUBFIELDS.transform_values { |tag, code| record[tag]&.then { |field| field[code] } }
      FIELDS.each { |name, tags| core[name] = tags.flat_map { |tag| get_field_value(record[tag]) || [] } }
      core["relation"] += ("760".."787").filter_map { |tag| record[tag]&.then { |field| field["t"] } }
      core["type"] = get_field_value(record["655"])
      core["language"] = get_field_value(record["546"])
      core
    end

    def self.get_field_value(field)
      case field
      when nil, String then field
      when DataField then field.subfields.map(&:value)
      else field.value
      end
    end
  end
end
