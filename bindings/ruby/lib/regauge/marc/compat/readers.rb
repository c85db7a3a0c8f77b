# frozen_string_literal: true

require "set"
require "regauge/marc/compat/marc8"

module MARC
  # Reads MARC 21, with the options of ruby-marc: `external_encoding:`, `internal_encoding:`,
  # `invalid:`, `replace:`, `validate_encoding:`.
  class Reader
    include Enumerable

    ENCODING_OPTIONS = %i[internal_encoding external_encoding invalid replace validate_encoding].freeze
    private_constant :ENCODING_OPTIONS

    def initialize(file, options = {})
      @encoding_options = options.slice(*ENCODING_OPTIONS)
      @handle =
        if file.is_a?(String) then File.new(file)
        elsif file.respond_to?(:read, 5) then file
        else raise ArgumentError, "must pass in path or file"
        end
      return if @encoding_options[:external_encoding]

      external = @handle.external_encoding if @handle.respond_to?(:external_encoding)
      @encoding_options[:external_encoding] = external || Encoding.default_external
    end

    def each
      return enum_for(:each) unless block_given?

      each_raw { |raw| yield decode(raw) }
    end

    # Yields the bytes of each record.
    def each_raw
      return enum_for(:each_raw) unless block_given?

      while (head = @handle.read(5))
        length = head.to_i
        raise Exception, "invalid record length: #{head}" if length < 6

        yield head + (@handle.read(length - 5) || "")
      end
    end

    def decode(raw)
      Reader.decode(raw, @encoding_options)
    end

    def self.decode(raw, params = {}, **options)
      params = params.merge(options)
      if params.key?(:encoding)
        warn "MARC::Reader.decode: :encoding is now :external_encoding"
        params[:external_encoding] = params.delete(:encoding)
      end
      params[:external_encoding] = raw.encoding unless params.key?(:external_encoding)
      record = simple?(raw, params) ? quick(raw) : nil
      record || by_directory(raw.b, params)
    end

    # Returns whether the library can read a record: it must be valid UTF-8.
    def self.simple?(raw, params)
      return false if params[:forgiving] || params[:internal_encoding] || params[:external_encoding] == "MARC-8"

      external = params[:external_encoding] || Encoding::UTF_8
      Encoding.find(external.to_s) == Encoding::UTF_8 && raw.dup.force_encoding(Encoding::UTF_8).valid_encoding?
    rescue ArgumentError
      false
    end
    private_class_method :simple?

    def self.quick(raw)
      stream = Regauge::Native.records(:marc, raw.b, { charset: :utf8 }, KIT)
      record = stream.advance
      return if record.equal?(stream) || !record.valid?

      record
    rescue Regauge::Error
      nil
    ensure
      stream&.close
    end
    private_class_method :quick

    # Decodes a record with arbitrary bytes: every field where the directory says, or one after the
    # other.
    def self.by_directory(raw, params)
      record = Record.new
      record.leader = raw.byteslice(0, LEADER_LENGTH)
      base = record.leader.byteslice(12, 5).to_i
      directory = raw.byteslice(LEADER_LENGTH, [base - LEADER_LENGTH, 0].max)
      raise Exception, "invalid directory in record" if directory.nil? || base.zero?

      data = raw.byteslice(base..) || ""
      in_order = data.split(END_OF_FIELD.b) if params[:forgiving]
      directory.delete(END_OF_FIELD.b).scan(/.{12}/mn) do |entry|
        content = in_order ? in_order.shift : data.byteslice(entry[7, 5].to_i, entry[3, 4].to_i)
        field = field_of(entry[0, 3], (content || "").delete(END_OF_FIELD.b), params)
        record.append(field) if field
      end
      record.leader = set_encoding(record.leader.dup, params) if record.leader.ascii_only?
      raise RecordException, record unless record.valid?

      record
    end
    private_class_method :by_directory

    def self.field_of(tag, content, params)
      tag = tag.dup.force_encoding(Encoding::UTF_8)
      return ControlField.new(tag, set_encoding(content, params)) if ControlField.control_tag?(tag)

      indicators, *subfields = content.split(SUBFIELD_INDICATOR.b)
      return if subfields.empty?

      indicators = set_encoding(indicators, params)
      field = DataField.new(tag, indicators[0, 1], indicators[1, 1])
      subfields.each do |subfield|
        subfield = set_encoding(subfield, params)
        field.append(Subfield.new(subfield[0, 1], subfield[1..]))
      end
      field
    end
    private_class_method :field_of

    # Returns text in the encoding set by the options.
    def self.set_encoding(text, params)
      external = params[:external_encoding]
      text = text.dup
      if external == "MARC-8"
        text = Marc8::ToUnicode.new.transcode(text, params.slice(:invalid, :replace))
      elsif external
        text.force_encoding(external)
      end
      if params[:internal_encoding]
        return text.encode(params[:internal_encoding], **params.slice(:invalid, :replace, :undef))
      end
      if params[:validate_encoding] == true && !text.valid_encoding?
        raise Encoding::InvalidByteSequenceError, "invalid byte in string for source encoding #{text.encoding}"
      end

      params[:invalid] == :replace ? text.scrub(params[:replace]) : text
    end
  end

  # Reads records with a wrong directory by their field terminators, and skips anything that is not
  # a record.
  class ForgivingReader < Reader
    def each
      return enum_for(:each) unless block_given?

      @handle.each_line(END_OF_RECORD) do |raw|
        record =
          begin
            Reader.decode(raw, @encoding_options.merge(forgiving: true))
          rescue StandardError
            next
          end
        yield record
      end
    end
  end

  # Reads MARCXML. Always uses the library's parser, whichever one is named.
  class XMLReader
    include Enumerable

    USE_BEST_AVAILABLE = "magic"
    USE_REXML = "rexml"
    USE_NOKOGIRI = "nokogiri"
    USE_JREXML = "jrexml"
    USE_JSTAX = "jstax"
    USE_LIBXML = "libxml"

    attr_reader :parser, :error_handler

    @parser = USE_REXML

    class << self
      attr_reader :parser

      def parser=(name)
        @parser = choose_parser(name)
      end

      def parsers = constants.grep(/\AUSE_/)

      def best_available = USE_NOKOGIRI

      def best_available! = @parser = best_available

      def nokogiri! = @parser = USE_NOKOGIRI

      def rexml! = @parser = USE_REXML

      def jrexml! = @parser = USE_JREXML

      def choose_parser(name)
        return name if parsers.any? { |constant| const_get(constant) == name }

        raise ArgumentError, "Parser '#{name}' not defined"
      end
    end

    def initialize(file, options = {})
      @handle =
        if file.is_a?(String) then File.new(file)
        elsif file.respond_to?(:read, 5) then file
        else raise ArgumentError, "must pass in path or File"
        end
      @parser = options[:parser] ? XMLReader.choose_parser(options[:parser].to_s) : XMLReader.parser
      @error_handler = options[:error_handler]
      @ignore_namespace = options[:ignore_namespace]
    end

    def each(&block)
      return enum_for(:each) unless block

      stream = Regauge::Native.records(:marcxml, @handle, { bad: @error_handler.nil? ? :stop : :skip }, KIT)
      begin
        until (record = stream.advance).equal?(stream)
          if record.is_a?(Regauge::BadRecord)
            @error_handler.call(self, record, block)
            next
          end
          record.each { |field| field.tag = DataField.whole_tag(field.tag) if field.tag.length < 3 && field.is_a?(DataField) }
          unless record.valid?
            raise RecordException, record unless @error_handler

            @error_handler.call(self, record, block)
            next
          end
          yield record
        end
      ensure
        stream.close
      end
    rescue Regauge::DecodeError => error
      raise XMLParseError, error.message
    end
  end

  # Reads MARC-in-JSON, one record per line.
  class JSONLReader
    include Enumerable

    def initialize(file)
      @handle =
        if file.is_a?(String)
          raise ArgumentError, "File '#{file}' can't be found" unless File.exist?(file)
          raise ArgumentError, "File '#{file}' can't be opened for reading" unless File.readable?(file)

          File.new(file)
        elsif file.respond_to?(:read, 5) then file
        else raise ArgumentError, "must pass in path or file"
        end
    end

    def each
      return enum_for(:each) unless block_given?

      stream = Regauge::Native.records(:"marc-json", @handle, {}, KIT)
      begin
        until (record = stream.advance).equal?(stream)
          yield record
        end
      ensure
        stream.close
      end
    end
  end
end
