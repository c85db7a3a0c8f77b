# frozen_string_literal: true

require "active_support"
require "active_support/cache"
require "zlib"
require "regauge"

module Regauge
  # A coder for `ActiveSupport::Cache` stores, which moves a cache off Marshal without flushing it:
  # it writes an array of the value and its times in any format of this gem, and still reads
  # existing Marshal entries, inertly except for the permitted classes.
  #
  #   config.cache_store = :file_store, "tmp/cache",
  #                        { coder: Regauge::CacheCoder.new(Regauge::MessagePack, permit: [Time]) }
  #
  # While processes of the old code still read the cache, give it what they read with as `writes:`; once none is left,
  # leave that out; and when `on_old:` is no longer called, pass `reads_old: false`.
  class CacheCoder
    # The prefix of every entry, so that it cannot be mistaken for Marshal, Zlib or Rails data.
    MARK = "\x00regauge1".b.freeze
    # The same, with the rest compressed.
    MARK_COMPRESSED = "\x00regauge1z".b.freeze
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
    MARSHAL = "\x04\x08".b.freeze
    # An entry that inflates to more is a miss: a few kilobytes of zlib can be a gigabyte of zeros.
    INFLATED_BYTES_MAX = 256 << 20
    private_constant :MARK, :MARK_COMPRESSED, :ENTRY, :MARK_OF_7_1, :HEAD_OF_7_1, :HEAD_BYTES_OF_7_1, :ENCODINGS_OF_7_1,
                     :COMPRESSED_OF_7_1, :MARSHAL, :INFLATED_BYTES_MAX

    # @param codec [Module] the format of new entries
    # @param permit [Array<Module>] the classes that old Marshal entries may instantiate
    # @param writes [#dump, nil] the coder of the old code, which writes until the cutover
    # @param reads_old [Boolean] whether old entries are read; if not, one raises a {DecodeError}
    # @param on_old [#call, nil] called with the bytes of every old entry that is read
    # @param options [Hash] the format's options
    def initialize(codec = MessagePack, permit: [], writes: nil, reads_old: true, on_old: nil, **options)
      raise ArgumentError, "writes: needs reads_old:, to read what it writes" if writes && !reads_old

      @codec = codec
      @writes = writes
      @reads_old = reads_old
      @on_old = on_old
      @old = Marshal.permitting(*permit, nil_as_nil: false)
      @coder = codec.with(nil_as_nil: false, **options)
      freeze
    end

    # @param entry [ActiveSupport::Cache::Entry]
    # @return [String]
    def dump(entry)
      return @writes.dump(entry) if @writes

      MARK + pack(entry)
    end

    # @param entry [ActiveSupport::Cache::Entry]
    # @param threshold [Integer] bytes
    # @return [String]
    def dump_compressed(entry, threshold)
      return @writes.dump_compressed(entry, threshold) if @writes.respond_to?(:dump_compressed)
      return @writes.dump(entry) if @writes

      packed = pack(entry)
      return MARK + packed if packed.bytesize < threshold

      compressed = Zlib.deflate(packed)
      compressed.bytesize < packed.bytesize ? MARK_COMPRESSED + compressed : MARK + packed
    end

    # @param bytes [String, ActiveSupport::Cache::Entry]
    # @return [ActiveSupport::Cache::Entry]
    def load(bytes)
      return bytes if bytes.is_a?(::ActiveSupport::Cache::Entry)

      bytes = bytes.b
      return unpack(inflate(bytes.byteslice(MARK_COMPRESSED.bytesize..))) if bytes.start_with?(MARK_COMPRESSED)
      return unpack(bytes.byteslice(MARK.bytesize..)) if bytes.start_with?(MARK)

      entry = old(bytes)
      note_old(bytes) if entry
      entry
    end

    private

    def note_old(bytes)
      raise DecodeError, "found an entry of Rails, expected one of #{@codec.name}" unless @reads_old

      @on_old&.call(bytes)
    end

    def pack(entry)
      expires = entry.expires_at
      @coder.dump([entry.value, expires&.to_f, entry.version])
    end

    def unpack(packed)
      value, expires, version = @coder.load(packed)
      entry(value, version, expires)
    end

    def entry(value, version, expires)
      ::ActiveSupport::Cache::Entry.new(value, version: version, compress: false,
                                               expires_in: expires && expires - Time.now.to_f)
    end

    # Reads an entry written by Rails: until 6.1 a Marshal of the entry, in 7.0 a byte that says
    # whether it is compressed and a Marshal of its parts, from 7.1 on a header and the value.
    # Anything else is a miss.
    def old(bytes)
      return from_head(bytes) if bytes.start_with?(MARK_OF_7_1)

      case bytes.getbyte(0)
      when 0x04 then from_object(@old.load(bytes))
      when 0x00, 0x01
        packed = bytes.byteslice(1..)
        packed = inflate(packed) if bytes.getbyte(0) == 0x01
        from_parts(@old.load(packed)) if packed.start_with?(MARSHAL)
      end
    rescue Zlib::Error
      nil
    end

    def from_head(bytes)
      return if bytes.bytesize < HEAD_BYTES_OF_7_1

      type, expires, length = bytes.unpack(HEAD_OF_7_1)
      version = old_version(bytes.byteslice(HEAD_BYTES_OF_7_1, length)) unless length.negative?
      payload = bytes.byteslice((HEAD_BYTES_OF_7_1 + [length, 0].max)..)
      return if payload.nil?

      payload = inflate(payload) if type & COMPRESSED_OF_7_1 != 0
      encoding = ENCODINGS_OF_7_1[type & ~COMPRESSED_OF_7_1]
      return entry(payload.dup.force_encoding(encoding), version, expires.negative? ? nil : expires) if encoding

      # MessagePack with Rails' own extensions: not supported here.
      entry(@old.load(payload), version, expires.negative? ? nil : expires) if payload.start_with?(MARSHAL)
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
      return unless found.is_a?(Marshal::Object) && found.class_name == ENTRY

      parts = found.ivars
      value = parts["@value"]
      value = @old.load(inflate(value)) if parts["@compressed"]
      expires = parts["@expires_in"] && parts["@created_at"].to_f + parts["@expires_in"].to_f
      entry(value, parts["@version"], expires)
    end
  end
end
