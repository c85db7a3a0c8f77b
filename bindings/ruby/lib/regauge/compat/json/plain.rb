# frozen_string_literal: true

module Regauge
  module Compat
    module JSON
      # Reads and writes documents of plain data as json does.
      #
      # @api private
      module Plain
        # How deep documents nest, as json has it, and where it has no limit.
        DEPTH = 100
        DEEP = 1000

        # What JSON.load and JSON.dump do unless these are changed.
        LOAD_OPTIONS = ::JSON.load_default_options.dup.freeze
        DUMP_OPTIONS = ::JSON.dump_default_options.dup.freeze

        # json refuses a byte order mark.
        readers = Array.new(16) do |place|
          Native.dialect(:json, [:no_marks], {
                           symbolize_names: place.anybits?(1), freeze: place.anybits?(2), allow_nan: place.anybits?(4),
                           limits: { depth: place.anybits?(8) ? DEEP : DEPTH, integer_digits: nil }
                         }).freeze
        end
        # A symbol as a value may have a `to_json` of its own. Versions differ in how an empty array is indented.
        writers = [[DEPTH, {}], [DEEP, {}], [DEPTH, { pretty: true }]].map do |depth, options|
          filled = options[:pretty] && ::JSON.pretty_generate([]) != "[]" ? [:filled] : []
          words = [:symbols_without_to_json, *filled]
          Native.dialect(:json, words, { limits: { depth: depth }, **options }).freeze
        end

        # Versions of json differ in numbers, escapes and duplicate keys. One that differs from those that
        # were tested reads, or writes, everything itself.
        TEXT = '{"a":[-1,1.5e3,1E-7,123456789012345678901,"\u00e9\/"],"b":{},"a":[]}'.freeze
        OBJECT = { "a" => [100.0, 0.1, 1234.5, "\u007f\u2028/<\u0001\\\"\n\e"], b: nil, "c" => [[], {}] }.freeze
        reads = begin
          ::JSON.parse(TEXT).inspect == readers.first.load(TEXT).inspect
        rescue ::JSON::ParserError
          false
        end
        writes = ::JSON.generate(OBJECT) == writers.first.dump(OBJECT)

        # The readers, by `symbolize_names` (1), `freeze` (2), `allow_nan` (4) and no `max_nesting` (8).
        READERS = (reads ? readers : Array.new(16, Library)).freeze
        FIRST = READERS.first
        # The writers: with the usual bound of the depth, without one, and with indentation.
        COMPACT, UNBOUNDED, PRETTY = writes ? writers : Array.new(3, Library)

        class << self
          # Returns what reads a document with these options of JSON.parse.
          def reader(options, source)
            place = place(options, source)
            place ? READERS[place] : Library
          end

          # Returns what reads a document as JSON.load does without arguments.
          def loader(source)
            return Library unless source.instance_of?(::String) && !source.empty?
            return Library unless ::JSON.load_default_options == LOAD_OPTIONS
            return Library if LOAD_OPTIONS[:create_additions] && names_class?(source)

            READERS[12]
          end

          private

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
