# frozen_string_literal: true

module Regauge
  module Compat
    module MessagePack
      # @api private
      module Factory
        # Plain data has no extension types, whatever is registered.
        def load(source, options = nil)
          reader = options.nil? || options.empty? ? Plain::FIRST : Plain.reader(options)
          value = reader.load(source)
          reader.equal?(value) ? super : value
        end
        alias unpack load

        def dump(object, io = nil, options = nil)
          return Plain::TEXT.dump(object) || super(object) if io.nil? && options.nil?

          options.nil? ? super(object, io) : super
        end
        alias pack dump

        def register_type(code, type, *rest, **options)
          Plain.registered(self, type)
          super
        end
      end
    end
  end
end
