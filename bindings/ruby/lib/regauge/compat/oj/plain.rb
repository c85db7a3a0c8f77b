# frozen_string_literal: true

module Regauge
  module Compat
    module Oj
      # Reads and writes documents of plain data as Oj does in the mode compat, which is also called json.
      #
      # Other modes read numbers of more than 15 digits as BigDecimal, and write other floats. Looking for one
      # takes as long as regauge is faster, so that Oj does these modes.
      #
      # @api private
      module Plain
        # The readers, without and with `symbol_keys`. Oj refuses a byte order mark.
        FIRST, NAMES = [false, true].map do |names|
          options = { symbolize_names: names, limits: { integer_digits: nil } }
          Native.dialect(:json, %i[no_marks no_encodings], options).freeze
        end
        # Oj writes negative zero without its sign.
        WRITER = Native.dialect(:json, [:no_minus_zero], {}).freeze

        # Default options with which regauge does what Oj does.
        USUAL = {
          allow_invalid_unicode: false, array_class: nil, array_nl: nil, bigdecimal_as_decimal: nil,
          bigdecimal_load: :auto, circular: false, compat_bigdecimal: false, create_additions: false,
          escape_mode: :json, float_precision: 16, hash_class: nil, ignore: nil, indent: 0, integer_range: nil,
          nan: :auto, nilnil: false, object_nl: nil, omit_nil: false, space: nil, space_before: nil,
          symbol_keys: false, trace: false, use_as_json: false, use_raw_json: false, use_to_hash: false,
          use_to_json: false
        }.freeze
        # Versions of Oj differ in escapes.
        SAMPLE = { "a" => [-7, 2**70, 1 / 7.0, nil, [], {}], b: "\u007f\u2028/<&\u0001\\\"\n\e\t\u00e9" }.freeze

        class << self
          # @return [Native::Dialect, Library] what reads and writes without options
          attr_reader :usual_reader, :usual_writer

          # Returns what reads with these options of Oj.load.
          def reader(options)
            left = left(options)
            return @reader if left.zero?
            return Library unless left == 1 && options.key?(:symbol_keys)

            options[:symbol_keys] ? @names : @reader
          end

          # Returns what writes with these options of Oj.dump.
          def writer(options)
            left(options).zero? ? @writer : Library
          end

          # Returns what writes for Oj.generate.
          def generator
            # The first call makes Oj stand in for json, and the others then escape as that does.
            if @generator.nil?
              @generator = false
              return Library
            end
            @generator ||= usable { |sample| ::Oj.generate(sample) }
          end

          # Returns the mode of a call.
          def mode(options)
            options.instance_of?(::Hash) && options[:mode] || @mode
          end

          # Looks at Oj's default options, which may have changed.
          def look
            @usual_reader = @usual_writer = @reader = @names = @writer = @generator = Library
            found = ::Oj.default_options
            @mode = found[:mode]
            return unless USUAL.all? { |name, value| found[name] == value }

            @reader = FIRST
            @names = NAMES
            @writer = usable { |sample| ::Oj.dump(sample, mode: :compat) }
            @usual_reader, @usual_writer = @reader, @writer if compat?(@mode)
            # Later: it takes calls of Oj.generate.
            @generator = nil
          end

          private

          # Returns how many options there are besides the mode; -1 if it is another.
          def left(options)
            return -1 unless options.instance_of?(::Hash)

            mode = options[:mode]
            return options.size - 1 if mode.equal?(:compat) || mode.equal?(:json)
            return -1 unless mode.nil? && compat?(@mode)

            options.key?(:mode) ? options.size - 1 : options.size
          end

          def compat?(mode)
            mode.equal?(:compat) || mode.equal?(:json)
          end

          # Returns the writer if Oj writes text as regauge does.
          def usable
            @generator = Library
            yield(SAMPLE) == WRITER.dump(SAMPLE) ? WRITER : Library
          end
        end
      end
      private_constant :Plain
    end
  end
end
