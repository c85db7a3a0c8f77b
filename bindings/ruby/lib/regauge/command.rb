# frozen_string_literal: true

require "json"
require "open3"
require "tempfile"

module Regauge
  # Raised for features that need the extension, which this Ruby cannot load.
  class Unavailable < NotImplementedError; end

  # The JRuby backend: the executable `regauge` converts and inspects, JRuby's json parses.
  #
  # @api private
  module Command
    module_function

    # Returns the executable: `REGAUGE_COMMAND` from the environment, or `regauge` on the path.
    def executable
      ENV.fetch("REGAUGE_COMMAND", "regauge")
    end

    def run(*arguments, input: nil)
      options = { binmode: true }
      options[:stdin_data] = input if input
      output, errors, status = Open3.capture3(executable, *arguments.map(&:to_s), **options)
      return output if status.success?

      raise error(status.exitstatus == REFUSED ? EncodeError : DecodeError, errors)
    rescue Errno::ENOENT
      raise Unavailable, "found no executable #{executable}: build it with `make build` and set REGAUGE_COMMAND to its path"
    end

    # The exit status for what a format cannot hold.
    REFUSED = 3

    # Returns the error that the executable has printed.
    def error(type, printed)
      text = printed.dup.force_encoding(Encoding::UTF_8).scrub.lines.first.to_s.strip
      type.new(text.sub(/\A(?:regauge|error): /, "").delete_prefix("standard input: "))
    end

    FLAGS = { on_loss: "--on-loss", objects: "--objects", duplicate_keys: "--duplicate-keys", envelope: "--envelope" }.freeze

    def flags(options)
      options.flat_map do |name, value|
        next (value ? ["--unwrap"] : []) if name == :unwrap

        flag = FLAGS.fetch(name) { raise Unavailable, "#{name}: not available without the extension" }
        [flag, value]
      end
    end

    def name(format)
      format.to_s.tr("_", "-")
    end

    # Returns the name of a file, which may be that of standard input elsewhere.
    def file(path)
      path.to_s == "-" ? "./-" : path.to_s
    end
  end

  class << self
    # Converts bytes from one format to another.
    #
    # @return [String]
    def convert(source, to:, from: nil, map: nil, **options)
      raise Unavailable, "convert calls no map: on JRuby" if map

      source = source.read if source.respond_to?(:read)
      formats = from ? ["--from", Command.name(from)] : []
      to = Command.name(to)
      output = Command.run("convert", "-", "-", *formats, "--to", to, *Command.flags(options), input: source)
      # An envelope that is kept may be binary around text.
      is_text = TEXTS.include?(to) && options[:envelope].to_s != "keep"
      is_text ? output.force_encoding(Encoding::UTF_8) : output
    end

    # Converts a file from one format to another.
    #
    # @return [nil]
    def convert_file(input, output, from: nil, to: nil, **options)
      raise Unavailable, "convert_file calls no block on JRuby" if block_given?

      formats = { "--from" => from, "--to" => to }.compact.flat_map { |flag, format| [flag, Command.name(format)] }
      files = [Command.file(input), Command.file(output)]
      Command.run("convert", "--force", *formats, *Command.flags(options), "--", *files)
      nil
    end

    # Describes bytes, as reported by the executable.
    #
    # @return [Hash, String]
    def inspect(source = nil, from: nil)
      return super() if source.nil?

      source = source.read if source.respond_to?(:read)
      formats = from ? ["--from", Command.name(from)] : []
      ::JSON.parse(Command.run("inspect", "-", "--json", *formats, input: source), symbolize_names: true)
    end
  end

  TEXTS = %w[json ndjson yaml toml csv tsv marcxml marc-json mrk alephseq].freeze
  private_constant :TEXTS

  # JSON through JRuby's own library.
  module JSON
    FORMAT = :json
    module_function

    def load(source, symbolize_names: false, freeze: false)
      source = source.read if source.respond_to?(:read)
      ::JSON.parse(source, symbolize_names: symbolize_names, freeze: freeze)
    rescue ::JSON::ParserError => error
      raise DecodeError, "json: #{error.message}"
    end

    def dump(object, io = nil)
      text = ::JSON.generate(object)
      io ? io.write(text) && io : text
    end

    def load_file(path, **options)
      load(File.read(path, encoding: "UTF-8"), **options)
    end
  end

  # JSON, one document per line.
  module NDJSON
    FORMAT = :ndjson
    module_function

    def each(source, path: false, **options, &block)
      return enum_for(:each, source, path: path, **options) unless block
      return File.open(source, encoding: "UTF-8") { |file| each(file, **options, &block) } if path

      lines = source.respond_to?(:each_line) ? source.each_line : source.read.each_line
      lines.each { |line| yield JSON.load(line, **options) unless line.strip.empty? }
      self
    end

    def load(source, **options)
      each(source, **options).to_a
    end

    def dump(objects, io = nil)
      text = objects.map { |object| "#{JSON.dump(object)}\n" }.join
      io ? io.write(text) && io : text
    end
  end

  # MARC-in-JSON as hashes; MARC 21 and MARCXML through the executable.
  module MARC
    FORMAT = :marc

    # Returns the records of a MARC 21 file, as hashes in the shape of MARC-in-JSON.
    def self.each(source, path: false, format: :marc, &block)
      return enum_for(:each, source, path: path, format: format) unless block

      bytes = path ? File.binread(source) : source
      NDJSON.each(Regauge.convert(bytes, from: format, to: :marc_json), &block)
    end

    module JSON
      def self.each(source, path: false, &block) = NDJSON.each(source, path: path, &block)
    end
  end

  MISSING = %i[MessagePack BSON CBOR YAML TOML CSV TSV Marshal Pickle Store].freeze
  private_constant :MISSING

  # Raises for unavailable features.
  def self.const_missing(name)
    return super unless MISSING.include?(name)

    raise Unavailable, "Regauge::#{name} needs the extension, which #{RUBY_ENGINE} cannot load; " \
                       "Regauge.convert turns the bytes into JSON"
  end
end
