# frozen_string_literal: true

module Regauge
  # Methods of every format besides `load` and `dump`, which are in the extension.
  module Codec
    # Loads the object in a file.
    #
    # @param path [String]
    # @return [Object]
    def load_file(path, **options)
      load(File.binread(path), **options)
    end

    # Yields the documents of a file, an IO or a String one by one, in bounded memory.
    #
    # @param source [String, #read, #to_path] bytes; a path as a Pathname or with `path: true`; or
    #   anything with a method `read`
    # @yieldparam document [Object]
    # @return [Enumerator] without a block
    def each(source, path: false, **options, &block)
      return enum_for(:each, source, path: path, **options) unless block

      name = Events.path_of(source, path)
      return File.open(name, "rb") { |file| each(file, **options, &block) } if name

      stream = Native.stream(self::FORMAT, source, options)
      begin
        until (document = stream.advance).equal?(stream)
          yield document
        end
      ensure
        stream.close
      end
      self
    end

    # Yields the events of a stream one by one: see {Regauge.events}.
    #
    # @yieldparam event [Array(Symbol, Object)]
    # @return [Events, nil] nil with a block
    def events(source, path: false, **options, &block)
      Events.of(self::FORMAT, source, options, path: path, &block)
    end

    # Calls the methods of a handler with the events of a stream: see {Regauge.parse_events}.
    #
    # @return [nil]
    def parse_events(source, handler, path: false, **options)
      Events.handle(handler) { |takes| Events.of(self::FORMAT, source, options, path: path, &takes) }
    end

    # Yields the documents of a file one by one.
    #
    # @param path [String]
    # @return [Enumerator] without a block
    def each_file(path, **options, &block)
      each(path, path: true, **options, &block)
    end

    # Returns the format with fixed options, as a coder.
    #
    # @return [Coder]
    def with(**options)
      Coder.new(self, **options)
    end

    # @api private
    def writer_class
      codec = self
      Class.new(Writer) do
        define_singleton_method(:codec) { codec }
      end
    end
  end

  # A format with options, usable wherever Ruby expects `dump` and `load`.
  #
  # It moves a column off Marshal without rewriting it:
  #
  #   serialize :settings, coder: Regauge::MessagePack.with(fallback: Regauge::Marshal.permitting(Time))
  #
  # While processes of the old code still read the column, pass `writes: Marshal` as well; once none is left, leave that
  # out; and when `on_old:` is no longer called, leave `fallback:` out too: then a value of Marshal raises a {DecodeError}
  # that names its classes.
  #
  # Where only text is allowed, as in job arguments, pass `base64: true` to read and write Base64 of the same bytes.
  class Coder
    # @param codec [Module] a format
    # @param fallback [#load, nil] reads what the format cannot: the old values of a column or a cache
    # @param writes [#dump, nil] what the old code reads, and `fallback` as well: writes until the cutover
    # @param on_old [#call, nil] called with the bytes of every value that `fallback` has read
    # @param base64 [Boolean] whether all values, old ones too, are Base64 of the bytes (RFC 4648 §4); it is written
    #   without line ends, which are ignored when it is read
    # @param nil_as_nil [Boolean] whether `nil` and an empty string load as `nil`, as Active Record
    #   expects
    def initialize(codec, fallback: nil, writes: nil, on_old: nil, base64: false, nil_as_nil: true, **options)
      raise ArgumentError, "writes: needs fallback:, to read what it writes" if writes && !fallback

      @codec = codec
      @fallback = fallback
      @writes = writes
      @on_old = on_old
      @base64 = base64
      @nil_as_nil = nil_as_nil
      @options = options.freeze
      freeze
    end

    # @return [String]
    def dump(object, io = nil)
      if @writes || @base64
        bytes = @writes ? @writes.dump(object) : @codec.dump(object, **dump_options)
        bytes = [bytes].pack("m0") if @base64
        return io ? io.tap { io.write(bytes) } : bytes
      end

      io ? @codec.dump(object, io, **dump_options) : @codec.dump(object, **dump_options)
    end

    # @param bytes [String, nil]
    # @return [Object]
    # @raise [DecodeError] for what neither the format nor `fallback` reads
    def load(bytes)
      return nil if @nil_as_nil && (bytes.nil? || bytes.respond_to?(:empty?) && bytes.empty?)

      bytes = decoded(bytes) if @base64
      begin
        @codec.load(bytes, **@options)
      rescue DecodeError => e
        raise unless bytes.is_a?(String)
        raise(Marshal.refused(bytes, @codec) || e) unless @fallback

        @fallback.load(bytes).tap { @on_old&.call(bytes) }
      end
    end

    private

    def dump_options
      @options.reject { |name, _| LOAD_ONLY.include?(name) }
    end

    def decoded(text)
      raise DecodeError, "found #{text.class}, expected Base64 of #{@codec.name}" unless text.is_a?(String)

      text.delete("\r\n").unpack1("m0")
    rescue ArgumentError
      raise DecodeError, "found text that is not Base64, expected Base64 of #{@codec.name}"
    end

    LOAD_ONLY = %i[permit symbolize_names freeze duplicate_keys].freeze
    private_constant :LOAD_ONLY
  end

  # Writes documents one by one to an IO.
  #
  #   File.open("events.ndjson", "wb") do |file|
  #     writer = Regauge::NDJSON::Writer.new(file)
  #     events.each { |event| writer << event }
  #   end
  class Writer
    # @param io [#write]
    def initialize(io, **options)
      @io = io
      @options = options
      @documents = 0
    end

    # @return [Integer] the number of documents written
    attr_reader :documents

    # Writes one document.
    #
    # @return [self]
    def write(object)
      refuse_second if @documents.positive?
      object = [object] if %i[ndjson csv tsv].include?(self.class.codec::FORMAT)
      @io.write(separated(self.class.codec.dump(object, **@options), object))
      @documents += 1
      self
    end
    alias << write

    # Closes the IO.
    #
    # @return [void]
    def close
      @io.close
    end

    private

    def refuse_second
      case self.class.codec::FORMAT
      when :toml then raise EncodeError, "found a second document, but a file of TOML is one"
      when :json then raise EncodeError, "found a second document, expected one in a JSON file; write NDJSON, or an array"
      end
    end

    def separated(bytes, object)
      case self.class.codec::FORMAT
      when :csv, :tsv then row(bytes, object)
      when :yaml then @documents.zero? || bytes.start_with?("---") ? bytes : "---\n#{bytes}"
      else bytes
      end
    end

    # Returns the row without its header, unless it is the first. What a second row adds is a row.
    def row(bytes, rows)
      return bytes if @options[:header].to_s == "no"

      twice = self.class.codec.dump(rows + rows, **@options)
      header = bytes.byteslice(0, 2 * bytes.bytesize - twice.bytesize)
      @header ||= header
      raise EncodeError, "found a row with other columns than the first" unless header == @header

      @documents.zero? ? bytes : bytes.byteslice(header.bytesize..)
    end
  end
end
