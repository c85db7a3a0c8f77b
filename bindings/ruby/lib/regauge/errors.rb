# frozen_string_literal: true

module Regauge
  # What everything here raises about data. The message says where, what was found, what was
  # expected and what to do; the attributes say the same to a program.
  class Error < StandardError
    # @return [Symbol] `:syntax`, `:truncated`, `:unsupported`, `:unrepresentable`, `:limit`,
    #   `:refused` or `:io`
    attr_reader :kind
    # @return [Integer, nil] bytes from the start of the input, from 0
    attr_reader :offset
    # @return [String, nil] where in the document: `$.items[2].when`
    attr_reader :path
    # @return [Integer, nil] the number of the document in its stream, from 1
    attr_reader :record
    # @return [String, nil] what the record calls itself: field 001 of a MARC record
    attr_reader :record_id
    # @return [Symbol, nil] the format: `:json`, `:msgpack`, …
    attr_reader :format
    # @return [Integer, nil] the line, from 1, where the format is text
    attr_reader :line
    # @return [Integer, nil] the column in characters, from 1
    attr_reader :column
    # @return [String, nil] the key of the store's value, for people: in quotes, or in hexadecimal
    attr_reader :key
    # @return [String, nil] what to do about it, as the message ends with: the keywords that it names are
    #   those of the method that failed
    attr_reader :hint
    # @return [String, nil] a few lines of the input that show the place
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

  # Bytes that are no document of their format, or one that cannot be built.
  class DecodeError < Error; end

  # An object that the format cannot hold.
  class EncodeError < Error; end

  # A document that asks for more than `limits:` allow.
  class LimitError < Error; end

  # What a {Store} raises that is not about a document: its `kind` is `:engine` (the database failed),
  # `:usage` (a URL, a collection or a key that cannot be), `:damaged`, `:conflict` or `:stopped`.
  # The next call works, unless the message says otherwise.
  class StoreError < Error
    # @return [Boolean] whether the same call may work a moment later: somebody else holds a lock, or
    #   the connection was lost before anything was sent
    def passing?
      @passing == true
    end
  end

  # A stored value that is not what was put: its checksum or its envelope says so.
  class DamagedError < StoreError; end

  # Somebody else has changed the value meanwhile.
  class ConflictError < StoreError; end

  # A broken record that was passed over with `skip_bad: true`.
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
