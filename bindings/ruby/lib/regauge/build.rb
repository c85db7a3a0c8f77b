# frozen_string_literal: true

require "date"
require "set"

module Regauge
  # Builds the rare kinds of values, for the extension. Its input is plain values and names; no
  # class is looked up by name here: a class is instantiated only if the caller listed it in
  # `permit:`.
  #
  # @api private
  module Build
    UTC_OFFSET = /\A(-?\d+)-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(\.\d+)?([+-]\d\d:\d\d(?::\d\d)?|[Zz])\z/.freeze
    # The letters of docs/formats/marshal.md.
    REGEXP_OPTIONS = {
      "i" => Regexp::IGNORECASE, "m" => Regexp::MULTILINE, "x" => Regexp::EXTENDED,
      "f" => Regexp::FIXEDENCODING, "n" => Regexp::NOENCODING
    }.freeze

    module_function

    # Frees young objects that are no longer referenced.
    def collect
      GC.start(full_mark: false, immediate_sweep: false)
    end

    # Builds a value that only some formats have.
    def ext(kind, *arguments)
      case kind
      when "date" then date(arguments[0])
      when "offset_date_time" then time(arguments[0])
      when "decimal" then decimal(arguments[0])
      when "complex" then Complex(*arguments)
      when "msgpack" then msgpack(*arguments)
      else Special.new(kind.to_sym, *arguments)
      end
    rescue Date::Error, ArgumentError => error
      raise DecodeError, "found #{kind} #{arguments.first.inspect}, which Ruby does not take: #{error.message}"
    end

    # Builds a typed value.
    def typed(origin, kind, name, value, permit)
      case origin
      when "ruby" then Marshal.build(kind, name, value, permit)
      when "yaml" then tag(Regauge.registry.yaml[name], origin, kind, name, value)
      when "cbor" then cbor(kind, name, value)
      when "python" then python(kind, name, value)
      else Typed.new(origin.to_sym, kind, name, value)
      end
    end

    # Freezes what was built, unless it is a class or a module of the program.
    def frozen(value)
      value.is_a?(Module) ? value : value.freeze
    end

    # Reads a date of the Gregorian calendar, which other formats have on days before the reform too.
    def date(text)
      date = Date.strptime(text, "%Y-%m-%d", Date::GREGORIAN)
      date.jd < Date::ITALY ? date : date.new_start
    end

    def time(text)
      year, month, day, hour, minute, second, fraction, offset = UTC_OFFSET.match(text)&.captures
      raise ArgumentError, "no time" unless year

      second = second.to_i
      second += Rational(fraction[1..].to_i, 10**(fraction.length - 1)) if fraction
      offset = "+00:00" if offset.casecmp?("z")
      Time.new(year.to_i, month.to_i, day.to_i, hour.to_i, minute.to_i, second, offset)
    end

    def decimal(text)
      require "bigdecimal"
      BigDecimal(text)
    end

    def msgpack(type, payload)
      entry = Regauge.registry.ext[type]
      return Special.new(:msgpack, type, payload) unless entry&.load

      entry.load.call(entry.packed ? MessagePack.load(payload) : payload)
    end

    def tag(entry, origin, kind, name, value)
      return entry.load.call(value) if entry&.load
      return value.to_set if kind == "tag" && name == "tag:yaml.org,2002:set" && value.is_a?(Array)

      Typed.new(origin.to_sym, kind, name, value)
    end

    # RFC 8746 and the IANA registry: 30 is a rational number, 258 a set, 43000 a complex one.
    def cbor(kind, name, value)
      entry = Regauge.registry.cbor[name]
      return entry.load.call(value) if entry&.load

      case name
      when "30"
        return Rational(*value) if value in [Integer, Integer => denominator] and denominator.positive?
      when "258"
        return value.to_set if value.is_a?(Array)
      end
      Typed.new(:cbor, kind, name, value)
    end

    def python(kind, name, value)
      case kind
      when "set", "frozenset" then value.to_set
      when "tuple" then value
      else Typed.new(:python, kind, name, value)
      end
    end

    # @return [Regexp]
    def regexp(pattern, options)
      Regexp.new(pattern, options.chars.sum { |letter| REGEXP_OPTIONS.fetch(letter, 0) })
    end
  end
end
