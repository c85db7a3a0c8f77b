# frozen_string_literal: true

module Regauge
  module Compat
    module Psych
      # @api private
      module Calls
        def load(yaml, **options)
          value = Plain.load(yaml, options, Plain::SYMBOLS)
          Plain::NOT.equal?(value) ? super : value
        end

        def safe_load(yaml, **options)
          value = Plain.load(yaml, options, Plain::TEXT)
          Plain::NOT.equal?(value) ? super : value
        end

        def unsafe_load(yaml, **options)
          value = Plain.load(yaml, options, Plain::SYMBOLS)
          Plain::NOT.equal?(value) ? super : value
        end

        def load_stream(yaml, **options, &block)
          values = Plain.load_all(yaml, options)
          return super if Plain::NOT.equal?(values)

          block ? values.each(&block) : values
        end

        def dump(object, io = nil, options = Plain::NO_OPTIONS)
          Plain.dump(object, io, options) || super
        end

        def safe_dump(object, io = nil, options = Plain::NO_OPTIONS)
          Plain.dump(object, io, options) || super
        end
      end
    end
  end
end
