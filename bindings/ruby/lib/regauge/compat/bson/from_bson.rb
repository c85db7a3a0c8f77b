# frozen_string_literal: true

module Regauge
  module Compat
    module BSON
      # @api private
      module FromBSON
        def from_bson(buffer, **options)
          return super unless options.empty? && Plain.takes?(self, buffer)

          position = buffer.read_position
          bytes = Plain.document(buffer)
          value = Plain.load(bytes)
          value = Plain.tried { super(::BSON::ByteBuffer.new(bytes)) } if Plain::NOT.equal?(value)
          return value unless Plain::NOT.equal?(value)

          # An error counts the bytes that are left in the buffer.
          Plain.go_back(buffer, position)
          super(buffer)
        end
      end
    end
  end
end
