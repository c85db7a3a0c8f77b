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

  # All registered classes, by class, extension type and tag. Replaced as a whole, so that threads can read it.
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

    # @api private
    def without(type)
      tables = %i[classes ext yaml cbor].to_h do |table|
        [table, public_send(table).reject { |_, registration| registration.type == type }]
      end
      Registry.new(tables)
    end
  end

  CALLS_TO_REGAUGE = ->(object) { object.to_regauge }
  private_constant :CALLS_TO_REGAUGE
  REFUSES = lambda do |_|
    raise Error, "found a registered class in a Ractor, whose `dump` or `load` belongs to another one; " \
                 "pass procs of Ractor.make_shareable to Regauge.register"
  end
  private_constant :REFUSES
  [CALLS_TO_REGAUGE, REFUSES].each { |action| Ractor.make_shareable(action) } if defined?(Ractor)

  @registry = Registry.new
  # The same for Ractors beside the main one, where procs that are not shareable are refused when they are needed.
  @in_ractors = @registry

  class << self
    # @api private
    def registry
      @registry
    rescue Ractor::IsolationError
      @in_ractors
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

      dump ||= CALLS_TO_REGAUGE
      entry = Registration.new(type: type, name: type.name, ext: ext, packed: packed, yaml_tag: yaml_tag&.-@,
                               cbor_tag: cbor_tag, dump: dump, load: load).freeze
      @registry = @registry.with(entry)
      @in_ractors = @in_ractors.with(in_ractors(entry)) if defined?(Ractor)
      nil
    end

    # Unregisters a class.
    #
    # @param type [Class]
    # @return [void]
    def unregister(type)
      @registry = @registry.without(type)
      @in_ractors = @in_ractors.without(type)
      nil
    end

    private

    def in_ractors(entry)
      shared = %i[dump load].to_h do |side|
        action = entry[side]
        [side, action.nil? || Ractor.shareable?(action) ? action : REFUSES]
      end
      Registration.new(**entry.to_h, **shared).freeze
    end
  end
end
