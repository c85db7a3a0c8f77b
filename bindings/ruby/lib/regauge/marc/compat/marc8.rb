# frozen_string_literal: true

module MARC
  # MARC-8, to the extent that ruby-marc exposes it.
  module Marc8
    # The characters of MARC-8 by set and code.
    module MapToUnicode
      # Final byte of a set => code => code point, and whether it is a combining mark. A code is
      # looked up lazily, through `[]`.
      CODESETS = [0x31, 0x32, 0x33, 0x34, 0x42, 0x45, 0x4E, 0x51, 0x53, 0x62, 0x67, 0x70].to_h do |set|
        [set, Hash.new { |codes, code| MapToUnicode.character(set, code)&.then { |found| codes[code] = found } }]
      end.freeze

      # @return [Array(Integer, Boolean), nil]
      def self.character(set, code)
        escape =
          case set
          when 0x31 then "\e$1"
          when 0x62, 0x67, 0x70 then "\e#{set.chr}"
          else "\e(#{set.chr}"
          end
        bytes = set == 0x31 ? [code].pack("N")[1..] : (code & 0x7F).chr
        return if bytes.match?(/[\x00-\x1F\x7F]/n)

        # A mark moves after the letter that follows it.
        text = Regauge::Native.marc8("#{escape}".b << bytes << "\e(Bx") or return
        text.start_with?("x") ? [text[1].ord, true] : [text[0].ord, false]
      end
    end

    # Converts MARC-8 to Unicode.
    class ToUnicode
      # Final bytes of the initial character sets.
      BASIC_LATIN = 0x42
      ANSEL = 0x45
      # The bytes between an escape and the final byte of a set.
      G0_SET = ["(", ",", "$"].freeze
      G1_SET = [")", "-", "$"].freeze
      CODESETS = MapToUnicode::CODESETS

      # @param bytes [String]
      # @param options [Hash] `invalid: :replace`, `replace:`, `normalization:`, `expand_ncr:`
      # @return [String] UTF-8 in NFC, like ruby-marc
      def transcode(bytes, options = {})
        bytes = bytes.to_s.b
        text = Regauge::Native.marc8(bytes) || by_hand(bytes, options)
        text = text.gsub(/&#x([0-9A-F]{4,6});/) { [Regexp.last_match(1).hex].pack("U") } unless options[:expand_ncr] == false
        form = options.fetch(:normalization, :nfc)
        form ? text.unicode_normalize(form) : text
      end

      private

      # Converts bytes with invalid codes the way ruby-marc does: it skips one more byte after such
      # a code, writes one replacement for several in a row, and drops control codes.
      def by_hand(bytes, options)
        g0 = BASIC_LATIN
        g1 = ANSEL
        replacement = options.fetch(:replace, "\uFFFD")
        text = []
        marks = []
        at = 0
        while at < bytes.bytesize
          if bytes.getbyte(at) == 0x1B
            length, place, set = escape(bytes, at)
            g0 = set if place == :g0
            g1 = set if place == :g1
            text << "\e" unless place
            at += length
            next
          end
          wide = g0 == 0x31
          code = bytes.byteslice(at, wide ? 3 : 1).bytes.inject { |high, low| high << 8 | low }
          at += wide ? 3 : 1
          next if code < 0x20 || code.between?(0x81, 0x9F)

          set = code > 0x80 && !wide ? g1 : g0
          found, mark = CODESETS[set]&.[](code)
          if found
            (mark ? marks : text) << [found].pack("U")
            text.concat(marks.slice!(0..)) unless mark
          elsif options[:invalid] == :replace
            text << replacement unless text.last == replacement
            at += 1
          else
            shown = transcode(bytes, invalid: :replace)
            raise Encoding::InvalidByteSequenceError,
                  "MARC8, input byte offset #{at}, code set: 0x#{set.to_s(16)}, code point: 0x#{code.to_s(16)}, value: #{shown}"
          end
        end
        text.join
      end

      # Returns the length of an escape, and which set it assigns to which slot; one byte and no
      # slot if it is not an escape.
      def escape(bytes, at)
        first, second, third = bytes.byteslice(at + 1, 3).chars
        return [2, :g0, first == "s" ? BASIC_LATIN : first.ord] if first && (first == "s" || CODESETS.key?(first.ord))
        return [1] unless first && second && (G0_SET.include?(first) || G1_SET.include?(first))

        place = G0_SET.include?(first) ? :g0 : :g1
        return [3, place, second.ord] unless first == "$" && [",", "-", "(", ")"].include?(second)

        third ? [4, [",", "("].include?(second) ? :g0 : :g1, third.ord] : [1]
      end
    end
  end
end
