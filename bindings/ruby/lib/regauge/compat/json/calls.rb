# frozen_string_literal: true

module Regauge
  module Compat
    module JSON
      # @api private
      module Calls
        def parse(source, options = nil)
          reader = options.nil? || options.empty? ? Plain::FIRST : Plain.reader(options, source)
          value = reader.load(source)
          reader.equal?(value) ? super(source, options || {}) : value
        end

        def parse!(source, options = nil)
          reader = Plain.reader({ max_nesting: false, allow_nan: true }.merge(options || {}), source)
          value = reader.load(source)
          reader.equal?(value) ? super(source, options || {}) : value
        end

        def load(source, proc = nil, options = nil)
          reader = proc.nil? && options.nil? ? Plain.loader(source) : Library
          value = reader.load(source)
          return value unless reader.equal?(value)

          options.nil? ? super(source, proc) : super
        end
        alias restore load

        def generate(object, options = nil)
          options.nil? && Plain::COMPACT.dump(object) || super
        end
        alias unparse generate

        def fast_generate(object, options = nil)
          options.nil? && Plain::UNBOUNDED.dump(object) || super
        end
        alias fast_unparse fast_generate

        def pretty_generate(object, options = nil)
          options.nil? && Plain::PRETTY.dump(object) || super
        end
        alias pretty_unparse pretty_generate

        def dump(object, io = nil, limit = nil, options = nil)
          usual = io.nil? && limit.nil? && options.nil? && ::JSON.dump_default_options == Plain::DUMP_OPTIONS
          text = Plain::UNBOUNDED.dump(object) if usual
          return text if text

          options.nil? ? super(object, io, limit) : super
        end

        # Finds the class of `json_class`, for the parser: one that only holds data, or that is listed.
        def deep_const_get(path)
          # A program allows objects of this class by `json_creatable = true`.
          return super if Compat.permitted?(path) || path == "JSON::GenericObject"

          raise ArgumentError, "found the class #{path} under #{::JSON.create_id.inspect}: regauge/compat/json builds " \
                               "only classes that hold data; list it with Regauge::Compat.permit(#{path})"
        end
      end
    end
  end
end
