# frozen_string_literal: true

require "date"
require "set"

module Regauge
  # Converts objects to plain data, for the extension: to a value that it can write, or to the
  # object itself if its class is unknown.
  #
  # @api private
  module Simplify
    module_function

    # @param object [Object]
    # @param format [Symbol]
    # @param to_h [Boolean] whether an object of an unknown class may be asked for its `to_h`
    # @param default [#call, nil]
    def simplify(object, format, to_h, default)
      value = own(object, format)
      return value unless equal?(value)
      return object.to_h if to_h && struct?(object) && !HOLD_STRUCTS.include?(format)

      value = known(object, format)
      return value unless equal?(value)
      return object.to_h if to_h && object.respond_to?(:to_h)
      return default.call(object) if default

      self
    end

    # The formats that keep a struct with its class.
    HOLD_STRUCTS = %i[marshal yaml].freeze
    private_constant :HOLD_STRUCTS

    def struct?(object)
      object.is_a?(Struct) || data?(object)
    end

    def data?(object)
      defined?(::Data) && ::Data.respond_to?(:define) && object.is_a?(::Data)
    end

    # Returns what the object's class says that it is written as: one that is registered, or has a
    # method `to_regauge`.
    def own(object, format)
      entry = registered(object)
      return from_registry(entry, object, format) if entry
      return object.to_regauge if object.respond_to?(:to_regauge)

      self
    end

    # Returns the registration of the object's class, or that of the nearest ancestor.
    def registered(object)
      classes = Regauge.registry.classes
      return if classes.empty?

      classes[object.class] || nearest(object, classes.each_value.select { |entry| entry.type === object })
    end

    def nearest(object, entries)
      return entries.first if entries.length < 2

      # A type that is not among them is a module that extends this object alone.
      ancestors = object.class.ancestors
      entries.min_by { |entry| ancestors.index(entry.type) || -1 }
    end

    # Returns the content of a MessagePack extension.
    def payload(entry, data)
      return MessagePack.dump(data) if entry.packed
      return data if data.is_a?(String) && data.encoding == Encoding::BINARY

      raise EncodeError, "found a dump of #{entry.name} that is not a binary String, expected one because of `packed: false`"
    end

    def from_registry(entry, object, format)
      data = entry.dump.call(object)
      case format
      when :msgpack
        return data unless entry.ext

        Special.new(:msgpack, entry.ext, payload(entry, data))
      when :yaml then entry.yaml_tag ? Typed.new(:yaml, "tag", entry.yaml_tag, data) : data
      when :cbor then entry.cbor_tag ? Typed.new(:cbor, "tag", entry.cbor_tag.to_s, data) : data
      else data
      end
    end

    # The classes of Ruby's own library.
    def known(object, format)
      case object
      when DateTime then Special.new(:offset_date_time, object.gregorian.iso8601(nanoseconds(object)))
      when Date then Special.new(:date, object.gregorian.strftime("%Y-%m-%d"))
      when Set then set(object, format)
      when Rational then rational(object, format)
      when Complex then complex(object)
      when Range then Typed.new(:ruby, "object", "Range", range(object))
      when Regexp then Special.new(:regex, object.source.encode(Encoding::UTF_8), letters(object))
      when Struct then Typed.new(:ruby, "struct", name_of(object), members(object))
      when Marshal::Object then inert(object)
      when Method, Proc, IO, Thread, Module then self
      else
        if decimal?(object)
          decimal(object)
        elsif object.is_a?(::Time)
          # An ActiveSupport::TimeWithZone claims to be a Time, but is not one.
          object.getlocal(object.utc_offset)
        elsif data?(object)
          Typed.new(:ruby, "struct", name_of(object), object.to_h.transform_keys(&:to_s))
        else
          self
        end
      end
    end

    def inert(object)
      name = object.kind == :ivars ? "" : object.class_name
      Typed.new(:ruby, object.kind.to_s, name, object.value)
    end

    def nanoseconds(moment)
      digits = format("%09d", moment.sec_fraction * 1_000_000_000).sub(/0+\z/, "")
      digits.length
    end

    def set(object, format)
      case format
      when :cbor then Typed.new(:cbor, "tag", "258", object.to_a)
      when :pickle then Typed.new(:python, "set", "", object.to_a)
      else Typed.new(:ruby, "set", "Set", object.to_a)
      end
    end

    def rational(object, format)
      parts = [object.numerator, object.denominator]
      return Typed.new(:cbor, "tag", "30", parts) if format == :cbor

      Typed.new(:ruby, "marshal_dump", "Rational", parts)
    end

    def complex(object)
      parts = object.rectangular
      return Special.new(:complex, *parts) if parts.all?(Float)

      Typed.new(:ruby, "marshal_dump", "Complex", parts)
    end

    def range(object)
      { "excl" => object.exclude_end?, "begin" => object.begin, "end" => object.end }
    end

    # Returns MongoDB's options for a regular expression, as the gem bson does: `^` and `$` always
    # match at lines in Ruby, which is `m` there, and Ruby's own `m` is `s`.
    def letters(regexp)
      bits = regexp.options
      [["i", Regexp::IGNORECASE], ["m", 0], ["s", Regexp::MULTILINE], ["x", Regexp::EXTENDED]]
        .filter_map { |letter, bit| letter if bits & bit == bit }.join
    end

    def members(struct)
      struct.each_pair.to_h { |name, value| [name.to_s, value] }
    end

    def name_of(object)
      object.class.name || raise(EncodeError, "found an object of a class without a name: assign the class to a constant, or register it")
    end

    def decimal?(object)
      defined?(::BigDecimal) && object.is_a?(::BigDecimal)
    end

    def decimal(object)
      return object.to_f unless object.finite?

      sign, digits, _base, exponent = object.split
      sign = sign.negative? ? "-" : ""
      return "#{sign}0.0".then { |zero| Special.new(:decimal, zero) } if digits == "0"

      text = object.to_s("F")
      text = "#{sign}#{digits[0]}.#{digits[1..].then { |rest| rest.empty? ? "0" : rest }}e#{exponent - 1}" if text.length > 60
      Special.new(:decimal, text)
    end
  end
end
