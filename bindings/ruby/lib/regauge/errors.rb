# frozen_string_literal: true

module Regauge
  # The base class of errors about data. The message says where, what was found, what was expected
  # and what to do; the attributes say the same to programs.
  class Error < StandardError
    # @return [Symbol] `:syntax`, `:truncated`, `:unsupported`, `:unrepresentable`, `:limit`,
    #   `:refused` or `:io`
    attr_reader :kind
    # @return [Integer, nil] the position in bytes from the start of the input, 0-based
    attr_reader :offset
    # @return [String, nil] the position in the document: `$.items[2].when`
    attr_reader :path
    # @return [Integer, nil] the number of the document in its stream, 1-based
    attr_reader :record
    # @return [String, nil] the record's own identifier: field 001 of a MARC record
    attr_reader :record_id
    # @return [Symbol, nil] the format: `:json`, `:msgpack`, …
    attr_reader :format
    # @return [Integer, nil] the line, 1-based, for text formats
    attr_reader :line
    # @return [Integer, nil] the column in characters, 1-based
    attr_reader :column
    # @return [String, nil] the key of the store's value, for display: in quotes, or in hexadecimal
    attr_reader :key
    # @return [String, nil] what to do about it, also at the end of the message: the keywords it
    #   names are those of the method that failed
    attr_reader :hint
    # @return [String, nil] a few lines of the input around the error
    attr_reader :excerpt

    # @return [String]
    def to_s
      @value || super
    end

    # @return [String]
    def detailed_message(highlight: false, **)
      [message, "(#{self.class})", excerpt].compact.join(" ")
    end

    # @return [String]
    def inspect
      "#<#{self.class}: #{message}>"
    end
  end

  # Raised for bytes that are not a document of their format, or one that cannot be built.
  class DecodeError < Error; end

  # Raised for an object that the format cannot hold.
  class EncodeError < Error; end

  # Raised for a document that exceeds `limits:`.
  class LimitError < Error; end

  # Raised by a {Store} for errors that are not about a document: its `kind` is `:engine` (the
  # database failed), `:usage` (an invalid URL, collection or key), `:damaged`, `:conflict` or
  # `:stopped`. The next call works, unless the message says otherwise.
  class StoreError < Error
    # @return [Boolean] whether the same call may succeed a moment later: a lock is held, or the
    #   connection was lost before anything was sent
    def passing?
      @passing == true
    end
  end

  # Raised for a stored value that is not what was put, according to its checksum or its envelope.
  class DamagedError < StoreError; end

  # Raised on JRuby for what needs the extension, or for a missing executable.
  class Unavailable < Error; end

  # Raised if another writer has changed the value meanwhile.
  class ConflictError < StoreError; end

  # A broken record that was skipped with `bad: :skip`.
  class BadRecord
    # @return [DecodeError] what is wrong, and where
    attr_reader :error
    # @return [String] the record's bytes
    attr_reader :bytes

    # @api private
    def initialize(error, bytes)
      @error = error
      @bytes = bytes
    end
  end
end
