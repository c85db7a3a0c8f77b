# frozen_string_literal: true

module Regauge
  class Store
    # Values with the store's envelope in your own column: a codec, a compression and a checksum per
    # value, so that `regauge store` can adopt, verify and re-encode the column.
    #
    #   serialize :settings, Regauge::Store::Coder.new("msgpack+zstd",
    #                          fallback: Regauge::Marshal.permitting(Time))
    #
    # The column must accept bytes.
    class Coder
      # The first two bytes of an envelope: no text, MessagePack, Marshal or pickle begins like
      # this.
      MAGIC = "\xC1\x67".b.freeze
      private_constant :MAGIC

      # @param codec [String, Symbol]
      # @param fallback [#load, nil] reads existing values without an envelope
      # @param options [Hash] the codec's options
      def initialize(codec = "msgpack", fallback: nil, **options)
        @native = Native.sealer(codec, options.freeze)
        @fallback = fallback
      end

      # @return [String, nil] `nil` for `nil`
      def dump(object)
        object.nil? ? nil : @native.seal(object)
      end

      # @param bytes [String, nil]
      # @return [Object]
      # @raise [DamagedError] if the checksum does not match
      def load(bytes)
        return nil if bytes.nil? || bytes.empty?
        return @fallback.load(bytes) if @fallback && !bytes.b.start_with?(MAGIC)

        @native.unseal(bytes)
      end
    end
  end
end
