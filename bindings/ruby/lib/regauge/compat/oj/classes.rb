# frozen_string_literal: true

module Regauge
  module Compat
    module Oj
      # Looks for classes that a document names, before Oj builds objects of them.
      #
      # @api private
      module Classes
        # The keys of the mode object whose values name a class.
        KEYS = %w[^o ^c ^u].freeze
        HAT = /\^|\\u005e/in.freeze

        class << self
          # Returns whether a call may build objects of classes that its document names.
          def builds?(mode, options)
            return true if mode == :object

            given = options.instance_of?(::Hash) ? options : {}
            (given.fetch(:create_additions) { ::Oj.default_options[:create_additions] }) == true
          end

          # Returns the document, as text if it is an IO. Raises UnsafeClass if it names a class that holds
          # more than data.
          def checked(source, mode, options)
            return source unless builds?(mode, options)

            source = source.read if !source.is_a?(::String) && source.respond_to?(:read)
            look(source, keys(mode, options)) if source.is_a?(::String)
            source
          end

          private

          # Returns whether a document may have one of these keys, perhaps with an escape in it.
          def names?(bytes, keys)
            return false unless bytes.include?("{")
            return bytes.match?(HAT) if keys.equal?(KEYS)

            bytes.include?("\\") || bytes.include?(keys[0].b)
          end

          def keys(mode, options)
            return KEYS if mode == :object

            [(options.instance_of?(::Hash) && options[:create_id]) || ::Oj.default_options[:create_id]]
          end

          def look(text, keys)
            ::Oj.sc_parse(Names.new(keys), text) if names?(text.b, keys)
          rescue UnsafeClass
            raise
          rescue ::StandardError => error
            # Oj cannot be asked instead: it builds objects before it gets to what it cannot read.
            raise UnsafeClass, "#{error.message.sub(/ \[\w+\.c:\d+\]\z/, "")}; found a document that may name classes, but cannot be read as data: " \
                               "regauge/compat/oj builds only classes that hold data"
          end
        end
      end
      private_constant :Classes

      # Sees every pair of a document, also those of equal keys.
      #
      # @api private
      class Names < ::Oj::ScHandler
        def initialize(keys)
          super()
          @keys = keys
        end

        # Values are of interest only as the first part of a struct.
        def array_start = []

        def array_append(array, value)
          array << value if array.empty?
        end

        def hash_start = {}

        def hash_set(_, key, value)
          refuse(value) if @keys.include?(key)
        end

        private

        # Refuses a class that is not listed. A struct is an array that begins with its class, or with its
        # members if it has none.
        def refuse(name)
          name = name.first if name.is_a?(::Array)
          return if !name.is_a?(::String) || Compat.permitted?(name)

          raise UnsafeClass, "found the class #{name}: regauge/compat/oj builds only classes that hold data; list it " \
                             "with Regauge::Compat.permit(#{name})"
        end
      end
      private_constant :Names
    end
  end
end
