# frozen_string_literal: true

module Regauge
  module Compat
    module Oj
      # @api private
      module Calls
        def load(json, options = nil, &block)
          reader = block ? Library : options.nil? ? Plain.usual_reader : Plain.reader(options)
          value = reader.load(json)
          return value unless reader.equal?(value)

          json = Classes.checked(json, Plain.mode(options), options)
          options.nil? ? super(json, &block) : super(json, options, &block)
        end

        # Numbers are read as in the mode of the options, whatever the name says.
        def compat_load(json, options = nil, &block)
          reader = block ? Library : options.nil? ? Plain.usual_reader : Plain.reader(options)
          value = reader.load(json)
          return value unless reader.equal?(value)

          json = Classes.checked(json, :compat, options)
          options.nil? ? super(json, &block) : super(json, options, &block)
        end

        def object_load(json, options = nil, &block)
          json = Classes.checked(json, :object, options)
          options.nil? ? super(json, &block) : super(json, options, &block)
        end

        def load_file(path, options = nil, &block)
          if Classes.builds?(Plain.mode(options), options) && ::File.file?(path)
            Classes.checked(::File.read(path, encoding: "UTF-8"), Plain.mode(options), options)
          end
          options.nil? ? super(path, &block) : super(path, options, &block)
        end

        def dump(object, options = nil)
          writer = options.nil? ? Plain.usual_writer : Plain.writer(options)
          writer.dump(object) || (options.nil? ? super(object) : super)
        end

        def generate(object, options = nil)
          options.nil? && Plain.generator.dump(object) || (options.nil? ? super(object) : super)
        end

        def default_options=(options)
          super
        ensure
          Plain.look
        end

        def mimic_JSON(...)
          super
        ensure
          Plain.look
        end
      end

      Plain.look
    end
  end
end
