# frozen_string_literal: true

module Regauge
  module Compat
    module Psych
      # Recognises texts that Psych may refuse, or read differently.
      #
      # YAML 1.2, which regauge reads, allows more than libyaml does, and differs in places. Psych loads
      # every document with a text that may be such a place: a tab between tokens, the end of a document, a
      # block scalar at the margin, a tag, an anchor, a directive, a lone carriage return, a merge, whose
      # keys Psych takes in order. They are looked for by a character that is rare.
      #
      # @api private
      module Text
        # One of those characters. A short text is looked through once, a long one for each of them, which
        # is quicker there.
        ANY = /[\t\r|>%<!&*\[{]|^\.\.\.| \z/.freeze
        SHORT = 2048

        MARGIN = /^(?:---.*| *)[|>]/.freeze
        DIRECTIVE = /^%/.freeze
        RETURN = /\r(?!\n)/.freeze
        # The byte order mark, and the line breaks of YAML 1.1.
        RARE = ["\uFEFF", "\u0085", "\u2028", "\u2029"].freeze
        # A tag, an anchor, an alias: an indicator at the beginning of a node.
        NODE = /(?:^|[\s\[{,]|["']:)(?:!|[&*]\S)/.freeze
        # The beginning of a flow collection.
        BRACKET = /(?:^|[\s\[{,]|["']:)[\[{]/.freeze
        # In the lines with flow collections: a question mark, an indicator before text, no key, a key of several lines.
        FLOW = /
          \?
          | [\[{,] \s* :
          | \s : \S
          | : [,\[\]{}]
          | ["'] : :
          | \n [^\S\n]* :
          | ^ [^"\n]* (?: "[^"\n]*" [^"\n]* )* " [^"\n]* $
          | [\[{] [^\[\]{}\n]* [^\]}\[{,\s] [ ]* \n
          | , [ ]* \n [^\n,\[\]{}]* [^,\[\]{}\s] [ ]* \n
        /x.freeze
        # What Psych transcodes text to: Rails sets UTF-8.
        TO = [nil, Encoding::UTF_8].freeze

        class << self
          # @param text [String]
          # @return [Boolean]
          def differs?(text)
            return true unless TO.include?(Encoding.default_internal)
            return strange?(text) || rare?(text) unless text.ascii_only? && !text.encoding.dummy?

            text.length < SHORT ? text.match?(ANY) && rare?(text) : rare?(text)
          end

          private

          def strange?(text)
            !text.encoding.equal?(Encoding::UTF_8) || !text.valid_encoding? || RARE.any? { |rare| text.include?(rare) }
          end

          def rare?(text)
            text.end_with?(" ") || text.include?("\t") || text.include?("\n...") || text.start_with?("...") ||
              text.include?("<") && text.include?("<<") || text.include?("%") && text.match?(DIRECTIVE) ||
              text.include?("\r") && text.match?(RETURN) || block?(text) || (node?(text) || flow?(text)) && marks?(text)
          end

          # Returns whether there is a block scalar at the margin, or one that gets a line break at the end.
          def block?(text)
            (text.include?("|") || text.include?(">")) && (!text.end_with?("\n") || text.match?(MARGIN))
          end

          def node?(text)
            (text.include?("!") || text.include?("&") || text.include?("*")) && text.match?(NODE)
          end

          def flow?(text)
            (text.include?("[") || text.include?("{")) && text.match?(BRACKET) && text.match?(FLOW)
          end

          # Returns whether a node or a flow collection is one, and does not stand in text.
          def marks?(text)
            has_props, *lines = Native.yaml_marks(text)
            has_props != false || lines.any? { |line| line.match?(FLOW) }
          end
        end
      end
      private_constant :Text
    end
  end
end
