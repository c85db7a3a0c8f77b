# frozen_string_literal: true

module Regauge
  module Compat
    module BSON
      # @api private
      module ToBSON
        def to_bson(*arguments)
          bytes = Plain.dump(self) if arguments.empty?
          bytes ? ::BSON::ByteBuffer.new(bytes) : super
        end
      end
    end
  end
end
