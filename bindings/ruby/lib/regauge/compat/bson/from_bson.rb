# frozen_string_literal: true

module Regauge
  module Compat
    module BSON
      # @api private
      module FromBSON
        def from_bson(buffer, options = nil)
          return super(buffer, **options) if options
          return super(buffer) unless Plain::USUAL && buffer.instance_of?(::BSON::ByteBuffer) &&
                                      (equal?(::BSON::Document) || equal?(::Hash))

          left = buffer.length
          return super(buffer) if left < Plain::LEAST

          # A document begins with its length. If that is wrong, all bytes are tried.
          length = buffer.get_int32
          left = length if length < left && length >= Plain::LEAST
          bytes = buffer.get_bytes(left - Plain::HEAD)
          value = Plain::READER.load(bytes, length)
          return value unless Plain::READER.equal?(value)

          value = begin
            super(::BSON::ByteBuffer.new([length].pack("l<") << bytes))
          rescue ::StandardError
            Library
          end
          return value unless Library.equal?(value)

          # An error counts the bytes that are left in the buffer.
          Plain.go_back(buffer, left)
          super(buffer)
        end
      end
    end
  end
end
