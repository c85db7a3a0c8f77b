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
        # Returned for a document that Oj has to read.
        NOT = Object.new.freeze

        # The readers, without and with `symbol_keys`.
        FIRST, NAMES = [false, true].map do |names|
          Native.dialect(:json, [], { symbolize_names: names, limits: { integer_digits: nil } }).freeze
        end
        WRITER = Native.dialect(:json, [], {}).freeze
        # Negative zero, which Oj writes without its sign.
        ZERO = "-0.0"

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

        @mode = nil
        @usual = @dumps = @generates = false

        class << self
          # Returns the value of a document; NOT if Oj has to read it.
          def load(source, options)
            return NOT unless @usual && source.instance_of?(::String) && source.encoding.equal?(Encoding::UTF_8)

            dialect = reader(options)
            return NOT unless dialect

            value = dialect.load(source)
            # Oj refuses a byte order mark.
            dialect.equal?(value) || source.getbyte(0) == 0xEF ? NOT : value
          end

          # Returns an object as JSON; nil if Oj has to write it.
          def dump(object, options)
            write(object) if @dumps && FIRST.equal?(reader(options))
          end

          # Returns an object as JSON as Oj.generate does; nil if Oj has to.
          def generate(object)
            return unless @usual

            @generates = writes? { |sample| ::Oj.generate(sample) } if @generates.nil?
            write(object) if @generates
          end

          # Returns the mode of a call.
          def mode(options)
            options.instance_of?(::Hash) && options[:mode] || @mode
          end

          # Looks at Oj's default options, which may have changed.
          def look
            @usual = @dumps = false
            found = ::Oj.default_options
            @mode = found[:mode]
            @dumps = writes? { |sample| ::Oj.dump(sample, mode: :compat) }
            # Later: the first call of Oj.generate makes Oj stand in for json.
            @generates = nil
            @usual = USUAL.all? { |name, value| found[name] == value }
            @dumps &&= @usual
          end

          private

          # Returns the reader; nil for other modes, and for options that Oj has to look at.
          def reader(options)
            mode = mode(options)
            return unless mode.equal?(:compat) || mode.equal?(:json)
            return FIRST if options.nil?

            known = options.key?(:mode) ? 1 : 0
            return FIRST if options.size == known

            (options[:symbol_keys] ? NAMES : FIRST) if options.key?(:symbol_keys) && options.size == known + 1
          end

          def write(object)
            text = WRITER.dump(object)
            text unless text.nil? || text.include?(ZERO)
          end

          # Returns whether Oj writes text as regauge does.
          def writes?
            @generates = false
            yield(SAMPLE) == WRITER.dump(SAMPLE)
          end
        end
      end
      private_constant :Plain
    end
  end
end
