# frozen_string_literal: true

module Regauge
  # A value that only some formats have and Ruby has no class for: a BSON ObjectId, a UUID, a
  # MessagePack extension. It loads as this and dumps as what it was.
  class Special
    # @return [Symbol] `:object_id`, `:uuid`, `:binary`, `:msgpack`, `:duration`, `:local_time`,
    #   `:local_date_time`, `:decimal128`, `:regex`, `:timestamp`, `:min_key`, `:max_key`,
    #   `:undefined`, `:code`, `:db_pointer`, `:simple`
    attr_reader :kind
    # @return [Array] what the value consists of
    attr_reader :arguments

    # @param kind [Symbol]
    # @param arguments [Array]
    def initialize(kind, *arguments)
      @kind = kind
      @arguments = arguments.freeze
    end

    # @return [Boolean]
    def ==(other)
      other.class == self.class && other.kind == kind && other.arguments == arguments
    end
    alias eql? ==

    # @return [Integer]
    def hash
      [kind, arguments].hash
    end

    # @return [String] the value as people write it
    def to_s
      case kind
      when :object_id then arguments[0].unpack1("H*")
      when :uuid then arguments[0].unpack("H8H4H4H4H12").join("-")
      else arguments.join(" ")
      end
    end

    # @return [String]
    def inspect
      "#<Regauge::Special #{kind} #{arguments.map(&:inspect).join(" ")}>"
    end
  end

  # A value with a type around it that has no class here: a YAML or CBOR tag, a class of Python.
  # The type is a name; nothing was looked up. It dumps as what it was.
  class Typed
    # @return [Symbol] `:ruby`, `:python`, `:yaml`, `:cbor`, `:bson`
    attr_reader :origin
    # @return [String] what sort of type: `tag`, `global`, `object`
    attr_reader :kind
    # @return [String] the tag, the class
    attr_reader :name
    # @return [Object] the value in it
    attr_reader :value

    # @param origin [Symbol]
    # @param kind [String]
    # @param name [String]
    # @param value [Object]
    def initialize(origin, kind, name, value)
      @origin = origin
      @kind = kind
      @name = name
      @value = value
    end

    # @return [Boolean]
    def ==(other)
      other.class == self.class && other.origin == origin && other.kind == kind &&
        other.name == name && other.value == value
    end
    alias eql? ==

    # @return [Integer]
    def hash
      [origin, kind, name, value].hash
    end

    # @return [String]
    def inspect
      "#<Regauge::Typed #{origin} #{kind} #{name} #{value.inspect}>"
    end
  end

  # A class that was registered: how its objects are written, and read again.
  Registration = Struct.new(:type, :name, :ext, :yaml_tag, :cbor_tag, :dump, :load, keyword_init: true)

  # Every class that was registered, by class, extension type and tag. Replaced as a whole, so that
  # Ractors may read it.
  class Registry
    EMPTY = { classes: {}, ext: {}, yaml: {}, cbor: {} }.freeze
    private_constant :EMPTY

    # @api private
    def initialize(tables = EMPTY)
      @classes = tables[:classes].freeze
      @ext = tables[:ext].freeze
      @yaml = tables[:yaml].freeze
      @cbor = tables[:cbor].freeze
      freeze
    end

    # @api private
    attr_reader :classes, :ext, :yaml, :cbor

    # @api private
    def with(registration)
      tables = { classes: classes.merge(registration.type => registration), ext: ext, yaml: yaml, cbor: cbor }
      tables[:ext] = ext.merge(registration.ext => registration) if registration.ext
      tables[:yaml] = yaml.merge(registration.yaml_tag => registration) if registration.yaml_tag
      tables[:cbor] = cbor.merge(registration.cbor_tag.to_s => registration) if registration.cbor_tag
      Registry.new(tables)
    end
  end

  @registry = Registry.new

  class << self
    # @api private
    def registry
      @registry || Registry.new
    end

    # Says how objects of a class are written and read.
    #
    #   Regauge.register(Point, ext: 5, yaml_tag: "!point", cbor_tag: 4711,
    #                    dump: ->(point) { [point.x, point.y] },
    #                    load: ->((x, y)) { Point.new(x, y) })
    #
    # @param type [Class]
    # @param ext [Integer, nil] a MessagePack extension type, -128 to 127: `dump` then gives the
    #   payload as a binary String, or anything else, which is packed as MessagePack itself
    # @param yaml_tag [String, nil] a YAML tag
    # @param cbor_tag [Integer, nil] a CBOR tag
    # @param dump [Proc] gives plain data for an object; in formats without the type it is that data
    # @param load [Proc, nil] gives an object for the data
    # @return [void]
    def register(type, ext: nil, yaml_tag: nil, cbor_tag: nil, dump: nil, load: nil)
      raise ArgumentError, "register takes a class" unless type.is_a?(Module)
      raise ArgumentError, "ext: takes -128 to 127" unless ext.nil? || (-128..127).cover?(ext)

      dump ||= ->(object) { object.to_regauge }
      entry = Registration.new(type: type, name: type.name, ext: ext, yaml_tag: yaml_tag,
                               cbor_tag: cbor_tag, dump: dump, load: load).freeze
      @registry = registry.with(entry)
      nil
    end

    # Forgets a class that was registered.
    #
    # @param type [Class]
    # @return [void]
    def unregister(type)
      known = registry
      tables = %i[classes ext yaml cbor].to_h do |table|
        [table, known.public_send(table).reject { |_, entry| entry.type == type }]
      end
      @registry = Registry.new(tables)
      nil
    end
  end
end
