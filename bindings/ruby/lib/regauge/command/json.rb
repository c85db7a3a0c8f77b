# frozen_string_literal: true

module Regauge
  # JSON and NDJSON of the JRuby backend. JRuby's json reads what it reads as regauge does; the executable
  # reads the rest, or says what is wrong with it. What json writes is checked first.
  #
  # @api private
  module Command
    # The limit of depth.
    DEPTH = 512

    # Matches text that json reads as regauge does, if it reads it. Not among it: comments, escapes that JSON lacks,
    # half of a surrogate pair, -0, and numbers that may exceed a double.
    PLAIN = /\A(?>
      [\ \t\r\n\[\]{},:]++
      | "(?>[^"\\\x00-\x1F]++ | \\(?>["\\\/bfnrt] | u(?![dD][89a-fA-F])\h{4} | u[dD][89abAB]\h{2}\\u[dD][c-fC-F]\h{2}))*+"
      | (?>-?[1-9]\d{0,199} | 0 | -0(?=[.eE]))(?>\.\d+)?(?>[eE](?>-\d+|\+?\d{1,2}))?(?![\w.+-])
      | true | false | null
    )*+\z/x

    module_function

    # Returns the text of a source.
    def text(source)
      source = source.read if source.respond_to?(:read)
      raise TypeError, "found #{source.class}, expected a String or anything with `read`" unless source.is_a?(String)

      case source.encoding
      when Encoding::UTF_8 then source
      when Encoding::BINARY, Encoding::US_ASCII then source.dup.force_encoding(Encoding::UTF_8)
      else source.encode(Encoding::UTF_8)
      end
    rescue EncodingError => error
      raise DecodeError, "found text in the encoding #{source.encoding} that has no UTF-8 equivalent: #{error.message}"
    end

    # Returns the object of a document of JSON, or of one line of NDJSON.
    def parse(text, format, **options)
      begin
        return ::JSON.parse(text, max_nesting: DEPTH, **options) if text.valid_encoding? && PLAIN.match?(text)
      rescue ::JSON::ParserError => refusal
        # The executable says where and why.
      end
      strict = run("convert", "-", "-", "--from", format, "--to", format, "--envelope", "none", input: text)
      ::JSON.parse(strict.force_encoding(Encoding::UTF_8), max_nesting: DEPTH, **options)
    rescue ::JSON::ParserError => error
      raise DecodeError, "#{format}: found what Ruby's own json cannot read: #{error.message.scrub}"
    rescue Unavailable => missing
      raise refusal ? DecodeError.new("#{format}: #{refusal.message.scrub}") : missing
    rescue EncodeError, DecodeError, LimitError => error
      raise placed(error, text)
    end

    # Returns an error of reading a text, with the line and the column. The numbers before it are those of the stream.
    def placed(error, text, record: nil, line: 1, offset: 0)
      return error unless error.offset

      before = text.byteslice(0, error.offset).b
      line += before.count("\n")
      column = before[/[^\n]*\z/n].force_encoding(Encoding::UTF_8).scrub.length + 1
      record ||= error.record
      offset += error.offset
      place = "#{"record #{record}, " if record}byte #{offset} (line #{line}, column #{column}), at "
      message = error.message.sub(/: (?:record \d+, )?byte \d+(?: \([^)]*\))?, at /) { ": #{place}" }
      type = error.is_a?(EncodeError) ? DecodeError : error.class
      with(type.new(message), kind: error.kind, format: error.format, path: error.path,
                              record: record, line: line, column: column, offset: offset)
    end

    # A container that is being checked, and where it is.
    Node = Struct.new(:value, :step, :parent, :depth) do
      def path
        parents = [self]
        parents << parents.last.parent while parents.last.parent
        parents.reverse.map(&:shown).join
      end

      def shown
        case step
        when nil then "$"
        when Integer then "[#{step}]"
        when /\A\w+\z/ then ".#{step}"
        else "[#{step.to_s.inspect}]"
        end
      end
    end

    # Raises for an object that would not be written as regauge writes it. Not recursive: JRuby's stack is small.
    def check(object)
      pending = []
      check_value(object, nil, nil, pending)
      while (node = pending.pop)
        case node.value
        when Array then node.value.each_with_index { |item, index| check_value(item, index, node, pending) }
        else
          check_keys(node)
          node.value.each { |key, item| check_value(item, key, node, pending) }
        end
      end
    end

    def check_value(value, step, parent, pending)
      found =
        case value
        when nil, true, false, Integer then nil
        when Float then "the number #{value}, which JSON cannot hold" unless value.finite?
        when String then bad_text(value)
        when Symbol then bad_text(value.name)
        when Array, Hash
          pending << Node.new(value, step, parent, parent ? parent.depth + 1 : 1)
          too_deep if pending.last.depth > DEPTH
        else "an object of the class #{value.class}, which only the extension writes"
        end
      unrepresentable(Node.new(value, step, parent), found) if found
    end

    def check_keys(node)
      symbols = false
      node.value.each_key do |key|
        found =
          case key
          when String then bad_text(key)
          when Symbol
            symbols = true
            bad_text(key.name)
          else "a key of the class #{key.class}, which JSON cannot hold"
          end
        unrepresentable(node, found) if found
      end
      return unless symbols && (twice = node.value.keys.map(&:to_s).tally.key(2))

      unrepresentable(node, "the keys :#{twice} and #{twice.inspect} in one Hash, which are written as the same text")
    end

    # Returns what is wrong with a text.
    def bad_text(text)
      case text.encoding
      when Encoding::UTF_8, Encoding::US_ASCII
        "text that is not valid #{text.encoding}" unless text.valid_encoding?
      when Encoding::BINARY
        "#{text.bytesize} bytes of binary data, which JSON cannot hold"
      else
        text.encode(Encoding::UTF_8)
        nil
      end
    rescue EncodingError
      "text in the encoding #{text.encoding} that has no UTF-8 equivalent"
    end

    def too_deep
      message = "json: found values nested more than #{DEPTH} deep, the limit of depth: perhaps one that contains itself"
      raise with(LimitError.new(message), kind: :limit, format: :json)
    end

    def unrepresentable(node, found)
      raise with(EncodeError.new("json: at #{node.path}: found #{found}"), kind: :unrepresentable, format: :json, path: node.path)
    end
  end

  # JSON through JRuby's own library.
  module JSON
    FORMAT = :json
    extend Codec
    module_function

    def load(source, symbolize_names: false, freeze: false, **options)
      Command.refuse(*options.keys)
      Command.parse(Command.text(source), :json, symbolize_names: symbolize_names, freeze: freeze)
    end

    def dump(object, io = nil, **options)
      Command.refuse(*options.keys)
      Command.check(object)
      text = ::JSON.generate(object, max_nesting: 0)
      io ? io.write(text) && io : text
    end

    Command.lacks(self, :each, :events, :parse_events)
    Writer = writer_class
  end

  # JSON, one document per line.
  module NDJSON
    FORMAT = :ndjson
    extend Codec
    module_function

    def each(source, path: false, symbolize_names: false, freeze: false, **options, &block)
      Command.refuse(*options.keys)
      read = { symbolize_names: symbolize_names, freeze: freeze }
      return enum_for(:each, source, path: path, **read) unless block

      name = Events.path_of(source, path)
      return File.open(name, "rb") { |file| each(file, **read, &block) } if name

      lines = source.respond_to?(:each_line) && !source.is_a?(String) ? source : Command.text(source)
      place = { record: 0, line: 0, offset: 0 }
      lines.each_line do |line|
        place[:line] += 1
        yield document(Command.text(line), place, read) unless line.b.match?(/\A[ \t\r\n]*\z/n)
        place[:offset] += line.bytesize
      end
      self
    end

    def document(line, place, read)
      place[:record] += 1
      Command.parse(line, :ndjson, **read)
    rescue DecodeError, LimitError => error
      raise Command.placed(error, line, **place)
    end
    private_class_method :document

    def load(source, **options)
      each(source, **options).to_a
    end

    def dump(objects, io = nil, **options)
      text = (objects.is_a?(Array) ? objects : [objects]).map { |object| "#{JSON.dump(object, **options)}\n" }.join
      io ? io.write(text) && io : text
    end

    Command.lacks(self, :events, :parse_events)
    Writer = writer_class
  end
end
