# frozen_string_literal: true

module Regauge
  module Compat
    module BSON
      # @api private
      module ToBSON
        def to_bson(buffer = Library, validating = Library)
          return Library.equal?(validating) ? super(buffer) : super unless Library.equal?(buffer)

          bytes = Plain.writer.dump(self)
          bytes ? ::BSON::ByteBuffer.new(bytes) : super()
        end
      end
    end
  end
end
