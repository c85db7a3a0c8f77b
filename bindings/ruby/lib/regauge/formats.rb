# frozen_string_literal: true

module Regauge
  # JSON (RFC 8259): strict in reading, exact in writing.
  module JSON; FORMAT = :json; end
  # One document of JSON a line. `load` gives an Array, `dump` takes one.
  module NDJSON; FORMAT = :ndjson; end
  # YAML 1.2 by a reader that also knows what YAML 1.1 means by `yes` and `<<`: see `schema:`.
  module YAML; FORMAT = :yaml; end
  # MessagePack.
  module MessagePack; FORMAT = :msgpack; end
  # BSON, MongoDB's documents.
  module BSON; FORMAT = :bson; end
  # CBOR (RFC 8949).
  module CBOR; FORMAT = :cbor; end
  # Python's pickle, read without running it.
  module Pickle; FORMAT = :pickle; end

  module Marshal
    # The format's name.
    FORMAT = :marshal
  end

  # The formats by name.
  FORMATS = {
    json: JSON, ndjson: NDJSON, yaml: YAML, msgpack: MessagePack, bson: BSON, cbor: CBOR,
    marshal: Marshal, pickle: Pickle
  }.freeze

  FORMATS.each_value do |codec|
    codec.extend(Codec)
    codec.const_set(:Writer, codec.writer_class)
  end

  class << self
    # The object of a document in any format.
    #
    # @param source [String, #read]
    # @param from [Symbol, nil] the format; by default what the first bytes tell
    # @return [Object]
    def load(source, from: nil, **options)
      source = source.read if source.respond_to?(:read)
      codec(from || detect(source) || raise(ArgumentError, "the bytes tell no format: pass from:"))
        .load(source, **options)
    end

    # The object of a file; its name or its first bytes tell the format.
    #
    # @param path [String]
    # @return [Object]
    def load_file(path, from: nil, **options)
      bytes = File.binread(path)
      load(bytes, from: from || detect(bytes, name: path.to_s), **options)
    end

    # The object as bytes of a format.
    #
    # @param object [Object]
    # @param to [Symbol]
    # @return [String]
    def dump(object, to:, **options)
      codec(to).dump(object, **options)
    end

    # Bytes of one format as bytes of another, without an object in between and without the
    # interpreter's lock.
    #
    # @param source [String, #read]
    # @param from [Symbol, nil] by default what the first bytes tell
    # @param to [Symbol]
    # @yieldparam report [Hash] `documents:`, `bad_records:` (the first thousand),
    #   `bad_record_count:`, `losses:`
    # @return [String]
    def convert(source, to:, from: nil, **options)
      source = source.read if source.respond_to?(:read)
      from ||= detect(source) || raise(ArgumentError, "the bytes tell no format: pass from:")
      bytes, report = Native.convert(source, from, to, options)
      yield report if block_given?
      bytes
    end

    # A file of one format as a file of another, in bounded memory.
    #
    # @param input [String] a path
    # @param output [String] a path
    # @return [Hash] `documents:`, `bad_records:` (the first thousand), `bad_record_count:`, `losses:`
    def convert_file(input, output, from: nil, to: nil, **options)
      from ||= detect(File.binread(input, 4096) || "", name: input.to_s)
      to ||= detect(nil, name: output.to_s)
      raise ArgumentError, "the files tell no formats: pass from: and to:" unless from && to

      Native.convert_file(input.to_s, output.to_s, from, to, options)
    end

    # What is in bytes: documents, depth, types, paths. Without arguments, what every module's
    # `inspect` gives.
    #
    # @param source [String, #read]
    # @param from [Symbol, nil] by default what the first bytes tell
    # @return [Hash, String]
    def inspect(source = nil, from: nil, **options)
      return super() if source.nil?

      source = source.read if source.respond_to?(:read)
      from ||= detect(source) || raise(ArgumentError, "the bytes tell no format: pass from:")
      Native.inspect(source, from, options)
    end

    # The format that a name or the first bytes tell.
    #
    # @raise [DecodeError] where the two contradict: JSON in a file named `.msgpack`
    # @param bytes [String, nil]
    # @param name [String, nil]
    # @return [Symbol, nil]
    def detect(bytes, name: nil)
      Native.detect(bytes, name)
    end

    # @api private
    def codec(format)
      name = format.to_s.downcase.tr("-", "_").to_sym
      FORMATS[name] || MARC_FORMATS[name] ||
        raise(ArgumentError, "unknown format #{format}: known are #{(FORMATS.keys + MARC_FORMATS.keys).join(", ")}")
    end
  end
end
