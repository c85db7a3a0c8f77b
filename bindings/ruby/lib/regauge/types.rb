# frozen_string_literal: true

module Regauge
  # What the block of {Regauge.convert_file} returns for a document that is to be left out.
  OMIT = Object.new
  def OMIT.inspect = "Regauge::OMIT"
  OMIT.freeze

  # A value that only some formats have and for which Ruby has no class: a BSON ObjectId, a UUID, a
  # MessagePack extension. It round-trips unchanged.
  class Special
    # @return [Symbol] `:object_id`, `:uuid`, `:binary`, `:msgpack`, `:duration`, `:local_time`,
    #   `:local_date_time`, `:decimal128`, `:regex`, `:timestamp`, `:min_key`, `:max_key`,
    #   `:undefined`, `:code`, `:db_pointer`, `:simple`
    attr_reader :kind
    # @return [Array] the parts of the value
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

    # @return [String] the value in its usual notation
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

  # A typed value without a class here: a YAML or CBOR tag, a Python class. The type is a name;
  # nothing was looked up. It round-trips unchanged.
  class Typed
    # @return [Symbol] `:ruby`, `:python`, `:yaml`, `:cbor`, `:bson`
    attr_reader :origin
    # @return [String] the kind of type: `tag`, `global`, `object`
    attr_reader :kind
    # @return [String] the tag, the class
    attr_reader :name
    # @return [Object] the content
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

  # A registered class: how its objects are written and read.
  Registration = Struct.new(:type, :name, :ext, :packed, :yaml_tag, :cbor_tag, :dump, :load, keyword_init: true)

  # All registered classes, by class, extension type and tag. Replaced as a whole, so that Ractors
  # can read it.
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

    # Registers how objects of a class are written and read.
    #
    #   Regauge.register(Point, ext: 5, yaml_tag: "!point", cbor_tag: 4711,
    #                    dump: ->(point) { [point.x, point.y] },
    #                    load: ->((x, y)) { Point.new(x, y) })
    #
    # @param type [Class]
    # @param ext [Integer, nil] a MessagePack extension type, -128 to 127
    # @param packed [Boolean] whether the payload of the extension is itself MessagePack: what `dump`
    #   returns is packed, and unpacked for `load`. Otherwise it is a binary String that `dump` returns
    #   and `load` gets
    # @param yaml_tag [String, nil] a YAML tag
    # @param cbor_tag [Integer, nil] a CBOR tag
    # @param dump [Proc] returns plain data for an object; formats without the type write that data
    # @param load [Proc, nil] returns an object for the data
    # @return [void]
    def register(type, ext: nil, packed: true, yaml_tag: nil, cbor_tag: nil, dump: nil, load: nil)
      raise ArgumentError, "register takes a class" unless type.is_a?(Module)
      raise ArgumentError, "ext: takes -128 to 127" unless ext.nil? || (-128..127).cover?(ext)

      dump ||= ->(object) { object.to_regauge }
      entry = Registration.new(type: type, name: type.name, ext: ext, packed: packed, yaml_tag: yaml_tag,
                               cbor_tag: cbor_tag, dump: dump, load: load).freeze
      @registry = registry.with(entry)
      nil
    end

    # Unregisters a class.
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
