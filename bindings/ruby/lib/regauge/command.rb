# frozen_string_literal: true

require "json"
require "open3"
require "regauge/codec"
require "regauge/events"

module Regauge
  # The JRuby backend: the executable `regauge` converts and inspects, JRuby's json parses.
  #
  # @api private
  module Command
    module_function

    # Returns the executable: `REGAUGE_COMMAND` from the environment, or `regauge` on the path.
    def executable
      ENV.fetch("REGAUGE_COMMAND", "regauge")
    end

    # Returns what the executable prints, as bytes.
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
    # Where an error is, as the executable prints it.
    PLACE = /
      (?<format>[a-z-]+):\ (?:record\ (?<record>\d+)(?:\ \((?<id>[^)]*)\))?,\ )?
      (?:byte\ (?<offset>\d+)(?:\ \(line\ (?<line>\d+),\ column\ (?<column>\d+)\))?,\ )?at\ (?<path>.*?):\ (?=found\ )
    /x

    # Returns the error that the executable has printed.
    def error(type, printed)
      text = printed.dup.force_encoding(Encoding::UTF_8).scrub.lines.first.to_s.strip
      text = text.sub(/\A(?:regauge|error): /, "").delete_prefix("standard input: ")
      place = PLACE.match(text)
      numbers = %i[record offset line column].to_h { |name| [name, place && place[name]&.to_i] }
      if text.match?(/, the limit of \w+/)
        type = LimitError
        kind = :limit
      end
      with(type.new(text), **numbers, kind: kind, format: place && place[:format].tr("-", "_").to_sym,
                                      path: place && place[:path], record_id: place && place[:id])
    end

    # Returns an error with its attributes set.
    def with(error, **attributes)
      attributes.each { |name, value| error.instance_variable_set(:"@#{name}", value) }
      error
    end

    FLAGS = { on_loss: "--on-loss", objects: "--objects", duplicate_keys: "--duplicate-keys", envelope: "--envelope" }.freeze

    def flags(options)
      options.flat_map do |name, value|
        next (value ? ["--unwrap"] : []) if name == :unwrap

        refuse(name) unless FLAGS.key?(name)
        [FLAGS[name], value]
      end
    end

    # Raises {Unavailable} for options.
    def refuse(*names)
      return if names.empty?

      raise Unavailable, "#{names.map { |name| "#{name}:" }.join(", ")} needs the extension, which #{RUBY_ENGINE} cannot load"
    end

    # Replaces methods with ones that raise {Unavailable}.
    def lacks(owner, *names)
      names.each do |name|
        owner.singleton_class.remove_method(name) if owner.singleton_methods(false).include?(name)
        owner.define_singleton_method(name) do |*, **, &_|
          raise Unavailable, "#{owner.name}.#{name} needs the extension, which #{RUBY_ENGINE} cannot load; " \
                             "Regauge.convert turns the bytes into JSON"
        end
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
      raise Unavailable, "convert yields no report on JRuby" if block_given?

      source = source.read if source.respond_to?(:read)
      to = Command.name(to)
      formats = from ? ["--from", Command.name(from)] : []
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
    def inspect(source = nil, from: nil, **options)
      return super() if source.nil?

      Command.refuse(*options.keys)
      source = source.read if source.respond_to?(:read)
      formats = from ? ["--from", Command.name(from)] : []
      ::JSON.parse(Command.run("inspect", "-", "--json", *formats, input: source), symbolize_names: true)
    end
  end

  TEXTS = %w[json ndjson yaml toml csv tsv marcxml marc-json mrk alephseq].freeze
  private_constant :TEXTS
  Command.lacks(self, :load, :load_file, :dump, :detect, :events, :parse_events, :open_envelope, :register, :unregister)
end

require "regauge/command/json"

module Regauge
  # MARC-in-JSON as hashes; MARC 21 and MARCXML through the executable.
  module MARC
    FORMAT = :marc

    # Returns the records of a MARC 21 file, as hashes in the shape of MARC-in-JSON.
    def self.each(source, path: false, format: :marc, **options, &block)
      return enum_for(:each, source, path: path, format: format, **options) unless block

      Command.refuse(*options.keys)
      name = Events.path_of(source, path)
      NDJSON.each(Regauge.convert(name ? File.binread(name) : source, from: format, to: :marc_json), &block)
      self
    end

    # The same for MARC-in-JSON, one record a line.
    module JSON
      FORMAT = :"marc-json"

      def self.each(source, path: false, **options, &block) = NDJSON.each(source, path: path, **options, &block)
    end

    [self, JSON].each do |codec|
      Command.lacks(codec, :load, :load_all, :load_file, :dump, :with, :events, :parse_events)
    end
  end

  MISSING = {
    Regauge => %i[MessagePack BSON CBOR YAML TOML CSV TSV Marshal Pickle Store CacheCoder Envelope FORMATS MARC_FORMATS
                  Native],
    MARC => %i[XML MRK AlephSeq Record FieldMap ControlField DataField Subfield Reader Writer XMLReader XMLWriter
               JSONLReader JSONLWriter]
  }.freeze
  private_constant :MISSING

  MISSING.each do |owner, names|
    # Raises for unavailable features.
    owner.define_singleton_method(:const_missing) do |name|
      return super(name) unless names.include?(name)

      raise Unavailable, "#{owner.name}::#{name} needs the extension, which #{RUBY_ENGINE} cannot load; " \
                         "Regauge.convert turns the bytes into JSON"
    end
  end
end
