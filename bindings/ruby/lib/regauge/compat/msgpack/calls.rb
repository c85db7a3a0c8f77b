# frozen_string_literal: true

module Regauge
  module Compat
    module MessagePack
      # @api private
      module Calls
        def load(source, options = nil)
          reader = options.nil? || options.empty? ? Plain::FIRST : Plain.reader(options)
          value = reader.load(source)
          reader.equal?(value) ? super : value
        end
        alias unpack load

        def pack(object, io = nil, options = nil)
          return Plain.writer.dump(object) || super(object) if io.nil? && options.nil?

          options.nil? ? super(object, io) : super
        end
        alias dump pack
      end
    end
  end
end
