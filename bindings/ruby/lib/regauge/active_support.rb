# frozen_string_literal: true

require "active_support"
require "active_support/cache"
require "zlib"
require "regauge"

module Regauge
  # A coder for `ActiveSupport::Cache` stores, which moves a cache off Marshal without flushing it:
  # it writes the value in any format of this gem, in the entry of Rails 7.1, and still reads
  # existing Marshal entries, inertly except for the permitted classes.
  #
  #   config.cache_store = :redis_cache_store,
  #                        { coder: Regauge::CacheCoder.new(Regauge::MessagePack, permit: [Time]) }
  #
  # While processes of the old code still read the cache, pass `writes: :rails`; once none is left, leave that out; and
  # when `on_old:` is no longer called, pass `reads_old: false`.
  class CacheCoder
    ENTRY = "ActiveSupport::Cache::Entry"
    # The prefix of an entry written by Rails 7.1 or later. It is followed by a byte for the type of
    # the value, its expiry time (a little-endian double; negative for never), the length of its
    # version in 32 bits (negative for none), the version, and the value.
    MARK_OF_7_1 = "\x00\x11".b.freeze
    HEAD_OF_7_1 = "@2CEl<"
    HEAD_BYTES_OF_7_1 = 15
    # A value that is not an object is the bytes of a string in one of these, and this bit says that
    # they are compressed.
    ENCODINGS_OF_7_1 = { 2 => Encoding::UTF_8, 3 => Encoding::BINARY, 4 => Encoding::US_ASCII }.freeze
    COMPRESSED_OF_7_1 = 0x80
    OBJECT_OF_7_1 = 1
    MARSHAL = "\x04\x08".b.freeze
    # What Rails and `regauge migrate` write before MessagePack: the integer 128 in two bytes.
    MESSAGE_PACK = "\xCC\x80".b.freeze
    # The extensions that Rails registers, for symbols and the like, and the bytes that begin an extension.
    RAILS_EXTENSIONS = (0..17).freeze
    EXTENSION_BYTES = /[\xC7-\xC9\xD4-\xD8]/n.freeze
    # An entry that inflates to more is a miss: a few kilobytes of zlib can be a gigabyte of zeros.
    INFLATED_BYTES_MAX = 256 << 20
    private_constant :ENTRY, :MARK_OF_7_1, :HEAD_OF_7_1, :HEAD_BYTES_OF_7_1, :ENCODINGS_OF_7_1, :COMPRESSED_OF_7_1,
                     :OBJECT_OF_7_1, :MARSHAL, :MESSAGE_PACK, :RAILS_EXTENSIONS, :EXTENSION_BYTES, :INFLATED_BYTES_MAX

    # The coder that Rails itself uses for a store, which depends on its version and on its `cache_format_version`. That
    # is set after the store is configured, so it is looked up on the first use.
    module RailsCoder
      def self.coder = @coder ||= ::ActiveSupport::Cache::Store.new.instance_variable_get(:@coder)
      def self.dump(entry) = coder.dump(entry)
      def self.load(bytes) = coder.load(bytes)

      def self.dump_compressed(entry, threshold)
        return coder.dump_compressed(entry, threshold) if coder.respond_to?(:dump_compressed)

        # Before 7.0, an entry compresses itself.
        coder.dump(entry)
      end
    end
    private_constant :RailsCoder

    # @param codec [Module] the format of new entries
    # @param permit [Array<Module>] the classes that old Marshal entries may instantiate
    # @param writes [:rails, #dump, nil] the coder that writes until the cutover: Rails' own, or another of the old code
    # @param reads_old [Boolean] whether old entries are read; if not, one raises a {DecodeError}
    # @param on_old [#call, nil] called with the bytes of every old entry that is read
    # @param options [Hash] the format's options
    def initialize(codec = MessagePack, permit: [], writes: nil, reads_old: true, on_old: nil, **options)
      raise ArgumentError, "writes: needs reads_old:, to read what it writes" if writes && !reads_old

      @codec = codec
      @writes = writes == :rails ? RailsCoder : writes
      @reads_old = reads_old
      @on_old = on_old
      @old = Marshal.permitting(*permit, nil_as_nil: false)
      @coder = codec.with(nil_as_nil: false, **options)
      @message_pack = MessagePack.with(nil_as_nil: false)
      freeze
    end

    # @param entry [ActiveSupport::Cache::Entry]
    # @return [String]
    def dump(entry)
      @writes ? @writes.dump(entry) : headed(entry, pack(entry.value))
    end

    # @param entry [ActiveSupport::Cache::Entry]
    # @param threshold [Integer] bytes
    # @return [String]
    def dump_compressed(entry, threshold)
      return @writes.dump_compressed(entry, threshold) if @writes.respond_to?(:dump_compressed)
      return @writes.dump(entry) if @writes

      packed = pack(entry.value)
      return headed(entry, packed) if packed.bytesize < threshold

      compressed = Zlib.deflate(packed)
      return headed(entry, packed) if compressed.bytesize >= packed.bytesize

      headed(entry, compressed, OBJECT_OF_7_1 | COMPRESSED_OF_7_1)
    end

    # @param bytes [String, ActiveSupport::Cache::Entry]
    # @return [ActiveSupport::Cache::Entry, nil] nil for what is no entry
    # @raise [DecodeError] for an old entry with `reads_old: false`
    def load(bytes)
      return bytes if bytes.is_a?(::ActiveSupport::Cache::Entry)

      bytes = bytes.b
      entry, is_old = bytes.start_with?(MARK_OF_7_1) ? from_head(bytes) : [old(bytes), true]
    rescue Zlib::Error, DecodeError, LimitError
      # A broken entry is a miss.
      nil
    else
      is_old ? noted(entry, bytes) : entry
    end

    private

    # Counts an old entry, or refuses it. Returns it.
    def noted(entry, bytes)
      return if entry.nil?

      unless @reads_old
        raise DecodeError, "found an entry of Rails#{Marshal.class_names(entry.value)}, expected one of #{@codec.name}"
      end

      @on_old&.call(bytes)
      entry
    end

    def pack(value)
      packed = @coder.dump(value).b
      @codec.equal?(MessagePack) ? MESSAGE_PACK + packed : packed
    end

    def headed(entry, payload, type = OBJECT_OF_7_1)
      version = entry.version.to_s.b if entry.version
      head = [type, entry.expires_at&.to_f || -1.0, version&.bytesize || -1].pack("CEl<")
      MARK_OF_7_1 + head + version.to_s + payload
    end

    def entry(value, version, expires)
      return unless expires.nil? || expires.is_a?(Numeric)

      ::ActiveSupport::Cache::Entry.new(value, version: version, compress: false,
                                               expires_in: expires && expires - Time.now.to_f)
    end

    # Reads an entry written by Rails before 7.1: until 6.1 a Marshal of the entry, in 7.0 a byte that says
    # whether it is compressed and a Marshal of its parts. Anything else is a miss.
    def old(bytes)
      case bytes.getbyte(0)
      when 0x04 then from_object(@old.load(bytes))
      when 0x00, 0x01
        packed = bytes.byteslice(1..)
        packed = inflate(packed) if bytes.getbyte(0) == 0x01
        from_parts(@old.load(packed)) if packed.start_with?(MARSHAL)
      end
    end

    # Reads an entry with the head of Rails 7.1: one of this coder, of `regauge migrate` or of Rails. Returns it, with
    # true after it if its value is in Marshal.
    def from_head(bytes)
      return if bytes.bytesize < HEAD_BYTES_OF_7_1

      type, expires, length = bytes.unpack(HEAD_OF_7_1)
      version = old_version(bytes.byteslice(HEAD_BYTES_OF_7_1, length)) unless length.negative?
      payload = bytes.byteslice((HEAD_BYTES_OF_7_1 + [length, 0].max)..)
      return if payload.nil?

      payload = inflate(payload) if type & COMPRESSED_OF_7_1 != 0
      expires = nil if expires.negative?
      encoding = ENCODINGS_OF_7_1[type & ~COMPRESSED_OF_7_1]
      return entry(payload.dup.force_encoding(encoding), version, expires) if encoding
      return unless type & ~COMPRESSED_OF_7_1 == OBJECT_OF_7_1
      return [entry(@old.load(payload), version, expires), true] if payload.start_with?(MARSHAL)

      unpack(payload) { |value| entry(value, version, expires) }
    end

    # Yields the value of a payload that is not Marshal, unless only Rails can read it.
    def unpack(payload)
      is_codec = @codec.equal?(MessagePack)
      return is_codec ? nil : yield(@coder.load(payload)) unless payload.start_with?(MESSAGE_PACK)

      payload = payload.byteslice(MESSAGE_PACK.bytesize..)
      value = (is_codec ? @coder : @message_pack).load(payload)
      yield value unless payload.match?(EXTENSION_BYTES) && Marshal.each_in(value).any? { |one| rails_extension?(one) }
    end

    def rails_extension?(value)
      value.is_a?(Special) && value.kind == :msgpack && RAILS_EXTENSIONS.cover?(value.arguments.first)
    end

    def old_version(bytes)
      bytes.start_with?(MARSHAL) ? @old.load(bytes) : bytes.force_encoding(Encoding::UTF_8)
    end

    def inflate(bytes)
      inflated = "".b
      stream = Zlib::Inflate.new
      stream.inflate(bytes) do |part|
        inflated << part
        raise Zlib::DataError, "an entry that inflates beyond the limit" if inflated.bytesize > INFLATED_BYTES_MAX
      end
      raise Zlib::BufError, "a truncated entry" unless stream.finished?

      inflated
    ensure
      # Zlib would warn about an unfinished stream.
      stream.reset
      stream.close
    end

    def from_parts(parts)
      return unless parts.is_a?(Array)

      value, expires, version = parts
      entry(value, version, expires)
    end

    def from_object(found)
      return unless found.is_a?(Marshal::Object) && found.kind == :object && found.class_name == ENTRY

      parts = found.ivars
      value = parts["@value"]
      if parts["@compressed"]
        return unless value.is_a?(String)

        value = @old.load(inflate(value))
      end
      times = parts.values_at("@created_at", "@expires_in")
      return unless times.compact.all?(Numeric)

      expires = times[1] && times[0].to_f + times[1].to_f
      entry(value, parts["@version"], expires)
    end
  end
end
