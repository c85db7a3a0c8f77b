# frozen_string_literal: true

module Regauge
  module Compat
    module Psych
      # Reads and writes documents of plain data as Psych does.
      #
      # @api private
      module Plain
        # Returned for a document that Psych has to read.
        NOT = Object.new.freeze
        NO_OPTIONS = {}.freeze

        # The readers, by `symbolize_names` (1) and `freeze` (2).
        readers = lambda do |words|
          Array.new(4) do |place|
            options = { schema: "psych", symbolize_names: place.anybits?(1), freeze: place.anybits?(2) }
            Native.dialect(:yaml, [:no_differences, *words], options).freeze
          end.freeze
        end
        TEXT = readers.call([])
        SYMBOLS = readers.call([:symbols])
        STREAMS = readers.call(%i[symbols documents])
        WRITER = Native.dialect(:yaml, [:bare_text], { document_start: true }).freeze

        # Another parser than libyaml has other rules.
        IS_LIBYAML = !::Psych.const_defined?(:BACKEND) || ::Psych::BACKEND == "libyaml"

        class << self
          # Returns the value of the first document; NOT if Psych has to load it.
          def load(yaml, options, readers)
            return read(readers[0], yaml) if options.empty?

            readers = readers(options, readers)
            readers ? read(readers[place(options)], yaml) : NOT
          end

          # Returns the values of all documents; NOT if Psych has to load them.
          def load_all(yaml, options)
            known = options.all? { |name, _| %i[filename fallback symbolize_names freeze].include?(name) }
            values = known ? read(STREAMS[place(options)], yaml) : NOT
            return NOT if NOT.equal?(values) || values.empty? || values.include?(nil)

            # Psych freezes the documents, and not the array of them.
            values.frozen? ? values.dup : values
          end

          # Returns a document as Psych writes it; nil if Psych has to write it.
          def dump(object, io, options)
            return unless options.empty? && (io.nil? || io.instance_of?(Hash) && io.empty?)

            # Not by a method of the object, which may have none.
            case object
            when ::Hash, ::Array then WRITER.dump(object) unless object.empty?
            end
          end

          private

          # Returns the readers, with symbols or without; nil for options that Psych has to look at.
          def readers(options, readers)
            options.each do |name, value|
              case name
              when :filename, :fallback, :aliases, :symbolize_names, :freeze then next
              when :permitted_classes then readers = value.any? { |type| type.to_s == "Symbol" } ? SYMBOLS : TEXT
              when :permitted_symbols then return unless value.empty?
              else return
              end
            end
            readers
          end

          def place(options)
            (options[:symbolize_names] ? 1 : 0) + (options[:freeze] ? 2 : 0)
          end

          def read(dialect, yaml)
            return read_io(dialect, yaml) unless yaml.instance_of?(::String)
            return NOT unless IS_LIBYAML

            value = dialect.load(yaml)
            # Psych knows whether there is no document, or one without content.
            dialect.equal?(value) || value.nil? ? NOT : value
          end

          # Reads a file, or the like, which Psych reads again if it has to.
          def read_io(dialect, io)
            return NOT unless io.instance_of?(::File) || defined?(::StringIO) && io.instance_of?(::StringIO)

            start = io.pos
            text = io.read
            value = text ? read(dialect, text) : NOT
            io.pos = start if NOT.equal?(value)
            value
          rescue SystemCallError, IOError
            NOT
          end
        end
      end
      private_constant :Plain
    end
  end
end
