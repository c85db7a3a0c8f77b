# frozen_string_literal: true

require "regauge"

if Regauge::BACKEND == :command
  raise LoadError, "regauge/compat needs regauge's extension, which #{RUBY_ENGINE} does not load here"
end

module Regauge
  # Puts regauge in place of other libraries, whose names and calls stay as they are.
  #
  #   require "regauge/compat/psych"            # YAML.load and the like go through regauge
  #   Regauge::Compat.install("json", "psych")  # the same for both
  #   Regauge::Compat.uninstall                 # takes out what was put in
  #
  # See docs/drop-ins.md for what regauge does itself, and what differs.
  module Compat
    # The names that `install` takes.
    NAMES = %w[bson json msgpack oj psych].freeze

    # The classes that a document may name where a library would build an object of any class. They
    # only hold data.
    DATA = %w[
      Array BigDecimal Complex Data Date DateTime Encoding Exception Hash Object Psych::Omap Psych::Set Range Rational
      Regexp Set String Struct Symbol Time
    ].freeze

    @parts = {}
    @installed = {}
    @permitted = DATA

    class << self
      # Puts regauge in place of the libraries, in this process. Those that are installed stay so.
      #
      # @param names [Array<String>] of {NAMES}
      # @return [nil]
      def install(*names)
        checked(names).each do |name|
          require "regauge/compat/#{name}" unless @parts.key?(name)
          @installed[name] ||= @parts.fetch(name).each(&:put_in)
        end
        nil
      end

      # Takes regauge out again; without names, wherever it is installed.
      #
      # @param names [Array<String>]
      # @return [nil]
      def uninstall(*names)
        names = names.empty? ? @installed.keys : checked(names)
        names.each { |name| @installed.delete(name)&.each(&:take_out) }
        nil
      end

      # @return [Array<String>] the names of the libraries in whose place regauge is
      def installed
        @installed.keys
      end

      # Lists classes of your own that documents may name: for `YAML.unsafe_load`, and for
      # `create_additions: true` of JSON. Their `init_with` and `json_create` then run.
      #
      # @param classes [Array<Module>]
      # @return [nil]
      def permit(*classes)
        @permitted = Ractor.make_shareable(@permitted | classes.flatten.map(&:name))
        nil
      end

      # Returns whether documents may name a class.
      #
      # @param name [String]
      # @return [Boolean]
      def permitted?(name)
        @permitted.include?(name)
      end

      # Names what stands before a library's methods, and puts it in.
      #
      # @api private
      def add(name, *parts)
        @parts[name] = parts
        install(name)
      end

      private

      def checked(names)
        names = names.map(&:to_s)
        unknown = names - NAMES
        return names unless unknown.any? || names.empty?

        found = unknown.empty? ? "no name" : unknown.map(&:inspect).join(", ")
        raise ArgumentError, "found #{found}, expected one or more of #{NAMES.join(", ")}"
      end
    end

    # Stands where a dialect does that the library has to read and write for: like one that finds no plain data.
    #
    # @api private
    module Library
      # @return [Library] as a dialect returns itself
      def self.load(_source) = self

      # @return [nil]
      def self.dump(_object) = nil
    end
    private_constant :Library

    # A module whose methods come before those of a library, and can be taken out again. They are
    # defined in a file, which is loaded each time they are put in.
    class Part
      # @param calls [Module] the module
      # @param file [String] the file that defines its methods, in `compat`
      # @param targets [Array<Module>] where it is prepended; included, if `before` is false
      def initialize(calls, file, *targets, before: true)
        @calls = calls
        @file = File.join(__dir__, "compat", file)
        @targets = targets
        @before = before
      end

      # @return [void]
      def put_in
        load @file
        @targets.each { |target| @before ? target.prepend(@calls) : target.include(@calls) }
      end

      # @return [void]
      def take_out
        methods = @calls.instance_methods(false) + @calls.private_instance_methods(false)
        methods.each { |name| @calls.send(:remove_method, name) }
      end
    end
  end
end
