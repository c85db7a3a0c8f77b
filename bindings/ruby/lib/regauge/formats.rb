# frozen_string_literal: true

module Regauge
  # JSON (RFC 8259): strict when reading, exact when writing.
  module JSON; end
  # One JSON document per line. `load` returns an Array, `dump` takes one.
  module NDJSON; end
  # YAML. By default, plain scalars are resolved as in YAML 1.1 (`yes`, `<<`); `schema:` chooses 1.2 or another.
  module YAML; end
  # TOML 1.1. A document is a Hash without `nil`.
  module TOML; end
  # CSV (RFC 4180). `load` returns an Array of rows, each a Hash, and `dump` takes one.
  module CSV; end
  # CSV with tabs.
  module TSV; end
  # MessagePack.
  module MessagePack; end
  # BSON, MongoDB's document format.
  module BSON; end
  # CBOR (RFC 8949).
  module CBOR; end
  # Python's pickle, read without running it.
  module Pickle; end

  # The formats by name, as the library lists them; those of MARC are in {MARC_FORMATS}.
  FORMATS = Native.formats.to_h { |name, codec| [name, const_get(codec)] }.freeze

  FORMATS.each do |name, codec|
    codec.const_set(:FORMAT, name)
    codec.extend(Codec)
    codec.const_set(:Writer, codec.writer_class)
  end

  # A value without its envelopes: `data` is a document of `format`, and `layers` are the envelopes from the
  # outermost, each a Hash with `name:`, `title:`, `steps:` that were undone, `holds:` (the format inside) and what
  # else it says, such as `expires:`.
  Envelope = Struct.new(:data, :format, :layers)

  # Marks a call from a method of all formats: its hints name keywords with the format in front.
  GENERIC = { Native::Generic => true }.freeze
  private_constant :GENERIC

  class << self
    # Loads a document in any format.
    #
    # @param source [String, #read]
    # @param from [Symbol, nil] the format; detected from the first bytes by default
    # @param options [Hash] those of the format's `load`, with the format's name in front
    #   (`yaml_schema: "1.1"`); those of other formats have no effect
    # @return [Object]
    def load(source, from: nil, **options)
      source = source.read if source.respond_to?(:read)
      from ||= detect(source) || raise(ArgumentError, "cannot detect the format from the bytes: pass from:")
      codec(from).load(source, **own_options(from, options))
    end

    # Loads the object in a file; its name or its first bytes determine the format.
    #
    # @param path [String]
    # @return [Object]
    def load_file(path, from: nil, **options)
      bytes = File.binread(path)
      load(bytes, from: from || detect(bytes, name: path.to_s), **options)
    end

    # Encodes an object in a format.
    #
    # @param object [Object]
    # @param to [Symbol]
    # @return [String]
    def dump(object, to:, **options)
      codec(to).dump(object, **own_options(to, options))
    end

    # Converts bytes from one format to another, without building objects and without the GVL.
    #
    # @param source [String, #read]
    # @param from [Symbol, nil] detected from the first bytes by default, or told by an envelope
    # @param to [Symbol]
    # @param map [#call, nil] called with each document, as the block of {convert_file} is
    # @yieldparam report [Hash] `documents:`, `bad_records:` (the first thousand),
    #   `bad_record_count:`, `losses:`, `unmatched:` (paths of `only:`, `drop:`, `rename:`)
    # @return [String]
    def convert(source, to:, from: nil, map: nil, **options)
      source = source.read if source.respond_to?(:read)
      bytes, report = Native.convert(source, from, to, options, map, OMIT)
      yield report if block_given?
      bytes
    end

    # Converts a file from one format to another, in bounded memory.
    #
    # @param input [String] a path
    # @param output [String] a path
    # @yieldparam document [Object] each document, as `load` returns it; a document that the block returns
    #   as it was goes through as it was read
    # @yieldreturn [Object] the document to write, or `OMIT`
    # @return [Hash] `documents:`, `bad_records:` (the first thousand), `bad_record_count:`, `losses:`,
    #   `unmatched:`
    def convert_file(input, output, from: nil, to: nil, **options, &map)
      to ||= detect(nil, name: output.to_s)
      raise ArgumentError, "cannot detect the format from the name of the output: pass to:" unless to
      raise ArgumentError, "found the same file as input and output" if File.identical?(input, output)

      Native.convert_file(input.to_s, output.to_s, from, to, options, map, OMIT)
    end

    # Takes off what Rails, Django, Celery and others put around a value. Nothing is executed, and no
    # signature is checked without the secret.
    #
    # @param source [String, #read]
    # @param from [Symbol, nil] what the bytes are known to be, if anything
    # @param secret [String, nil] the application's: a signature is checked, what is encrypted is decrypted
    # @param salt [String, nil] what the application itself passes where it signs or encrypts
    # @return [Envelope, nil] `nil` if there is no envelope
    # @raise [DecodeError] if the secret is not that of the value, or if there is nothing to check
    def open_envelope(source, from: nil, secret: nil, salt: nil)
      source = source.read if source.respond_to?(:read)
      found = Native.open_envelope(source, from, { secret: secret, salt: salt }.compact)
      found && Envelope.new(*found)
    end

    # Describes bytes: documents, depth, types, paths. Without arguments, returns what `inspect`
    # returns for any module.
    #
    # @param source [String, #read]
    # @param from [Symbol, nil] detected from the first bytes by default
    # @return [Hash, String]
    def inspect(source = nil, from: nil, **options)
      return super() if source.nil?

      source = source.read if source.respond_to?(:read)
      from ||= detect(source) || raise(ArgumentError, "cannot detect the format from the bytes: pass from:")
      Native.inspect(source, from, options)
    end

    # Detects the format from a name or from the first bytes.
    #
    # @raise [DecodeError] if the two contradict each other: JSON in a file named `.msgpack`
    # @param bytes [String, nil]
    # @param name [String, nil]
    # @return [Symbol, nil]
    def detect(bytes, name: nil)
      Native.detect(bytes, name)
    end

    # Warns of an old name of an option.
    #
    # @api private
    def deprecated(name, instead)
      lib = __dir__
      inside = caller_locations.index { |location| !location.path.to_s.start_with?(lib) } || 0
      warn "#{name}: is now #{instead}:; the old name will go away", uplevel: inside + 1, category: :deprecated
    end

    # @api private
    def own_options(format, options)
      options.empty? ? GENERIC : Native.own_options(format, options)
    end

    # @api private
    def codec(format)
      name = format.to_s.downcase.tr("-", "_").to_sym
      FORMATS[name] || MARC_FORMATS[name] ||
        raise(ArgumentError, "unknown format #{format}, expected one of #{(FORMATS.keys + MARC_FORMATS.keys).join(", ")}")
    end
  end
end
