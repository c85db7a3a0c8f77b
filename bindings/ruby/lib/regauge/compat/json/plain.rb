# frozen_string_literal: true

module Regauge
  module Compat
    module JSON
      # Reads and writes documents of plain data as json does.
      #
      # @api private
      module Plain
        # Returned for a document that json has to read.
        NOT = Object.new.freeze
        # How deep documents nest, as json has it, and where it has no limit.
        DEPTH = 100
        DEEP = 1000

        # The readers, by `symbolize_names` (1), `freeze` (2), `allow_nan` (4) and no `max_nesting` (8).
        READERS = Array.new(16) do |place|
          Native.dialect(:json, [], {
                           symbolize_names: place.anybits?(1), freeze: place.anybits?(2), allow_nan: place.anybits?(4),
                           limits: { depth: place.anybits?(8) ? DEEP : DEPTH, integer_digits: nil }
                         }).freeze
        end.freeze
        FIRST = READERS.first
        # What JSON.load and JSON.dump do unless these are changed.
        LOAD_OPTIONS = ::JSON.load_default_options.dup.freeze
        DUMP_OPTIONS = ::JSON.dump_default_options.dup.freeze

        # The writers: without symbols as values, which may have a `to_json` of their own, and with them.
        # Versions differ in how an empty array is indented.
        writers = lambda do |depth, plain, options|
          options = { limits: { depth: depth }, **options }
          [plain, [:symbols, *plain]].map { |words| Native.dialect(:json, words, options).freeze }.freeze
        end
        COMPACT = writers.call(DEPTH, [], {})
        PRETTY = writers.call(DEPTH, ::JSON.pretty_generate([]) == "[]" ? [] : [:filled], { pretty: true })
        UNBOUNDED = writers.call(DEEP, [], {})

        # Versions of json differ in numbers, escapes and duplicate keys. One that differs from those that
        # were tested reads, or writes, everything itself.
        TEXT = '{"a":[-1,1.5e3,1E-7,123456789012345678901,"\u00e9\/"],"b":{},"a":[]}'.freeze
        OBJECT = { "a" => [100.0, 0.1, 1234.5, "\u007f\u2028/<\u0001\\\"\n\e"], b: nil, "c" => [[], {}] }.freeze
        READS = begin
          ::JSON.parse(TEXT).inspect == FIRST.load(TEXT).inspect
        rescue ::JSON::ParserError
          false
        end
        WRITES = ::JSON.generate(OBJECT) == COMPACT.last.dump(OBJECT)

        class << self
          # Returns the value of a document; NOT if json has to parse it.
          def parse(source, options)
            return read(FIRST, source) if options.nil? || options.empty?

            place = place(options, source)
            place ? read(READERS[place], source) : NOT
          end

          # Returns the value of a document as JSON.load does without arguments; NOT if json has to.
          def load(source)
            return NOT unless source.instance_of?(::String) && !source.empty?
            return NOT unless ::JSON.load_default_options == LOAD_OPTIONS
            return NOT if LOAD_OPTIONS[:create_additions] && names_class?(source)

            read(READERS[12], source)
          end

          # Returns an object as JSON; nil if json has to generate it.
          def generate(writers, object)
            writers[::Symbol.method_defined?(:to_json, false) ? 0 : 1].dump(object) if WRITES
          end

          private

          def read(dialect, source)
            value = READS ? dialect.load(source) : dialect
            # json refuses a byte order mark.
            dialect.equal?(value) || source.getbyte(0) == 0xEF ? NOT : value
          end

          # Returns the number of the reader for these options; nil if json has to look at them.
          def place(options, source)
            return unless options.instance_of?(Hash)
            return if options[:create_additions] && additions?(options, source)

            options.sum do |name, value|
              case name
              when :symbolize_names then value ? 1 : 0
              when :freeze then value ? 2 : 0
              when :allow_nan then value ? 4 : 0
              when :max_nesting then bound(value) || (return nil)
              # Rails passes quirks_mode, which json no longer looks at.
              when :create_additions, :allow_blank, :quirks_mode then 0
              when :object_class, :array_class, :decimal_class then value.nil? ? 0 : (return nil)
              else return nil
              end
            end
          end

          def bound(most)
            return 0 if most == DEPTH

            8 if most.nil? || most == false || most == 0
          end

          # Returns whether an object might have to be built, or json refuses the options.
          def additions?(options, source)
            options[:symbolize_names] || !source.instance_of?(::String) || names_class?(source)
          end

          def names_class?(source)
            id = ::JSON.create_id
            !source.encoding.ascii_compatible? || !id.ascii_only? || source.include?(id)
          end
        end
      end
      private_constant :Plain
    end
  end
end
