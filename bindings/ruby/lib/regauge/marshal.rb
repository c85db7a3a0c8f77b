# frozen_string_literal: true

require "date"
require "set"

module Regauge
  # Ruby's Marshal 4.8, read without running it.
  #
  # `load` builds plain data: `nil`, booleans, numbers, strings in any encoding, symbols, arrays and
  # hashes, shared and cyclic as in the original. Anything else in a document becomes an inert
  # {Object}, with the name of a class and its data. Only classes listed in `permit:` are
  # instantiated: no class is looked up by a name from the document, and no other class's
  # `allocate`, `_load`, `marshal_load` or `hash` is called.
  #
  #   Regauge::Marshal.load(bytes)                       # plain data and inert objects
  #   Regauge::Marshal.load(bytes, permit: [Time, Set])  # and those two
  #
  # `dump` returns the same bytes as Ruby's own.
  module Marshal
    # The classes of Ruby's library that only hold data, for use with `permit:`.
    CORE = [::Time, ::Date, ::DateTime, ::Set, ::Rational, ::Complex, ::Range, ::Regexp].freeze

    HASH_DEFAULT = ::Hash.instance_method(:default)
    private_constant :HASH_DEFAULT

    # An object of a class that was not built.
    class Object
      # @return [String] the name of the class or module in the document
      attr_reader :class_name
      # @return [Symbol] how Marshal wrote it: `:object`, `:struct`, `:dump`, `:marshal_dump`,
      #   `:data`, `:subclass`, `:extended`, `:class`, `:module`, `:regexp`; `:ivars` if any but an `:object` has
      #   instance variables
      attr_reader :kind
      # @return [Object] its content: for an object or struct a Hash, for a dump a String, for `:ivars` a Hash of
      #   `"value"` (the object without them) and `"ivars"`, and so on
      attr_reader :value

      # @param class_name [String]
      # @param kind [Symbol]
      # @param value [Object]
      def initialize(class_name, kind, value)
        @class_name = class_name
        @kind = kind
        @value = value
      end

      # @return [Hash{String => Object}] the instance variables of an object, the members of a struct
      def ivars
        found = kind == :ivars ? value["ivars"] : value
        found.is_a?(::Hash) ? found : {}
      end

      # @param name [String, Symbol] `@name`, or the name of a member
      # @return [Object, nil]
      def [](name)
        ivars[name.to_s]
      end

      # @return [Boolean]
      def ==(other)
        Object === other && other.class_name == class_name && other.kind == kind && other.value == value
      end
      alias eql? ==

      # @return [Integer]
      def hash
        [class_name, kind].hash
      end

      # Raises, because Ruby's own Marshal would write the name of this class instead of the
      # original.
      #
      # @raise [EncodeError]
      def marshal_dump
        raise EncodeError, "found an inert object of #{class_name} (#{kind}), which cannot be written back here"
      end

      # @return [String]
      def inspect
        "#<Regauge::Marshal::Object #{kind} #{class_name} #{value.inspect}>"
      end
    end

    class << self
      # Returns a coder with classes that it may instantiate: for `serialize`,
      # `ActiveSupport::Cache` and the like.
      #
      # @param classes [Array<Module>]
      # @return [Coder]
      def permitting(*classes, **options)
        Coder.new(self, permit: classes.flatten.freeze, **options)
      end

      # Returns what is raised for a document of Marshal where another format is expected: it names the classes. `nil` if
      # the bytes are none.
      #
      # @api private
      # @return [DecodeError, nil]
      def refused(bytes, expected)
        return unless bytes.b.start_with?("\x04\x08".b)

        names = class_names(load(bytes))
        DecodeError.new("found Marshal#{names}, expected #{expected.name}")
      rescue DecodeError, LimitError
        nil
      end

      # Returns the classes of the inert objects in a value, as messages put them: ` with the classes A, B`.
      #
      # @api private
      # @return [String, nil]
      def class_names(value)
        names = each_in(value).grep(Object).map(&:class_name).uniq.sort
        " with the classes #{names.join(", ")}" if names.any?
      end

      # Yields a value and all that is in it.
      #
      # @api private
      def each_in(value)
        return enum_for(:each_in, value) unless block_given?

        waiting = [value]
        seen = {}.compare_by_identity
        while (one = waiting.pop)
          yield one
          inside = case one
                   when ::Hash then one.to_a.flatten(1)
                   when ::Array then one
                   when Object then [one.value]
                   end
          next if inside.nil? || seen[one]

          seen[one] = true
          waiting.concat(inside.compact)
        end
      end

      # Returns what Hash's own `default` does, whatever a subclass has.
      #
      # @api private
      def hash_default(hash)
        HASH_DEFAULT.bind_call(hash)
      end

      # Builds the value of a type in a document, as far as that is permitted.
      #
      # @api private
      def build(kind, name, value, permit)
        check(kind, value)
        case kind
        when "default" then return with_default(value)
        when "symbol" then return symbol(value)
        when "raw" then return Native.marshal_number(value)
        end
        type = permitted(name_for(kind, name), permit)
        return Object.new(name, kind.to_sym, value) unless type

        made(kind, name, type, value)
      end

      # The content of a type of this kind. A Marshal document cannot contain anything else there,
      # but one in the reversible notation can.
      INSIDE = {
        "default" => ::Hash, "symbol" => ::String, "raw" => ::String, "struct" => ::Hash,
        "object" => ::Hash, "dump" => ::String, "set" => ::Array, "regexp" => ::String, "class" => ::String,
        "module" => ::String, "class_or_module" => ::String
      }.freeze
      private_constant :INSIDE

      private

      def check(kind, value)
        inside = INSIDE[kind]
        return if inside.nil? || value.is_a?(inside)

        raise DecodeError, "found a #{value.class} in a Ruby value of kind #{kind}, expected a #{inside}"
      end

      def name_for(kind, name)
        kind == "regexp" ? "Regexp" : name
      end

      def permitted(name, permit)
        permit&.find { |type| type.is_a?(Module) && module_name(type) == name }
      end

      # Returns the real name of a class, whatever its own method `name` says.
      def module_name(type)
        ::Module.instance_method(:name).bind_call(type)
      end

      def symbol(value)
        value.to_sym
      rescue EncodingError => error
        raise DecodeError, "found a symbol that Ruby does not take: #{error.message}"
      end

      def made(kind, name, type, value)
        case kind
        when "object" then range(type, value)
        when "struct" then struct(type, value)
        when "dump" then load_dump(type, value)
        when "marshal_dump" then load_marshal(type, value)
        when "set" then type.new(value)
        when "regexp" then regexp(value, name)
        when "class", "module", "class_or_module" then type
        when "subclass" then subclass(type, value)
        when "extended" then changed(value) { |own| own.extend(type) }
        else raise DecodeError, "found an object of #{name}, which cannot be built: it was written by a C extension"
        end
      end

      # Returns a modified value; with `freeze: true` it is frozen already, so the result is a
      # frozen copy.
      def changed(value)
        return value.tap { |own| yield own } unless value.frozen?

        value.dup.tap { |own| yield own }.freeze
      end

      def range(type, value)
        raise DecodeError, "found an object of #{type} as a Range" unless type.equal?(::Range)

        ::Range.new(value["begin"], value["end"], value["excl"])
      rescue ArgumentError => error
        raise DecodeError, "found a Range that Ruby does not take: #{error.message}"
      end

      def regexp(source, options)
        Build.regexp(source, options)
      rescue RegexpError, ArgumentError => error
        raise DecodeError, "found a Regexp that Ruby does not take: #{error.message}"
      end

      def struct(type, value)
        data = defined?(::Data) && ::Data.respond_to?(:define) && type <= ::Data
        raise DecodeError, "found a struct of #{type}, which is not a struct class" unless data || type <= ::Struct

        names = type.members.map(&:to_s)
        unless names == value.keys
          raise DecodeError, "found a struct #{type} with the members #{value.keys.join(", ")}, " \
                             "expected #{names.join(", ")}"
        end
        object = type.allocate
        if object.is_a?(::Struct)
          value.each { |member, content| ::Struct.instance_method(:[]=).bind_call(object, member, content) }
        else
          ::Data.instance_method(:initialize).bind_call(object, **value.transform_keys(&:to_sym))
        end
        object
      end

      def load_dump(type, value)
        value = value.dup if value.frozen?
        return type._load(value) if type.respond_to?(:_load)
        return type.send(:_load, value) if type.equal?(::Time)

        raise DecodeError, "found an object of #{type} by its _dump, but the class has no _load"
      end

      def load_marshal(type, value)
        if [::Rational, ::Complex].any? { |number| type.equal?(number) }
          unless value in [::Numeric, ::Numeric]
            raise DecodeError, "found #{value.inspect[0, 40]} in a #{type}, expected two numbers"
          end
          begin
            return type.equal?(::Rational) ? Rational(*value) : Complex(*value)
          rescue ZeroDivisionError, TypeError, RangeError => error
            raise DecodeError, "found a #{type} that Ruby does not take: #{error.message}"
          end
        end

        object = type.allocate
        unless object.respond_to?(:marshal_load, true)
          raise DecodeError, "found an object of #{type} by its marshal_dump, but the class has no marshal_load"
        end
        object.send(:marshal_load, value)
        object
      end

      def subclass(type, value)
        base = [::String, ::Array, ::Hash].find { |core| value.instance_of?(core) && type <= core }
        raise DecodeError, "found a #{value.class} of the class #{type}, which is not a subclass of it" unless base

        object = type.allocate
        base.instance_method(:replace).bind_call(object, value)
        value.instance_variables.each do |name|
          object.instance_variable_set(name, value.instance_variable_get(name))
        end
        object
      end

      def with_default(value)
        hash = value["hash"]
        raise DecodeError, "found a default value without its hash" unless hash.is_a?(::Hash)

        changed(hash) { |own| own.default = value["default"] }
      end
    end
  end
end
