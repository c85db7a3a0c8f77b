# contender: ruby-marc (msgpack-core)
# library: msgpack-core
# format: msgpack
# gives: record
# only: marc
# install: regauge measure --setup jruby
# stand-in: marc
# untrusted: safe
# The hash form of the marc gem through msgpack-core, the project's library for Java, for a JRuby
# without the msgpack gem. The gem of 2014 was built on an earlier version of the same library.
require_relative "../../stand-ins/marc"
require "java"

jar = File.join(ENV.fetch("REGAUGE_JARS", ""), "msgpack-core.jar")
raise LoadError, "cannot load such file -- msgpack-core.jar" unless File.file?(jar)

require jar

module Contender
  CORE = org.msgpack.core.MessagePack
  TYPES = org.msgpack.value.ValueType

  def self.decode(data)
    unpacker = CORE.newDefaultUnpacker(data.to_java_bytes)
    MARC::Record.new_from_hash(unpack(unpacker))
  end

  def self.encode(record)
    packer = CORE.newDefaultBufferPacker
    pack(packer, record.to_hash)
    String.from_java_bytes(packer.toByteArray)
  end

  # The types in a record's hash.
  def self.unpack(from)
    case from.getNextFormat.getValueType
    when TYPES::STRING then from.unpackString
    when TYPES::MAP then Array.new(from.unpackMapHeader) { [unpack(from), unpack(from)] }.to_h
    when TYPES::ARRAY then Array.new(from.unpackArrayHeader) { unpack(from) }
    when TYPES::NIL then from.unpackNil
    else raise TypeError, "found a #{from.getNextFormat}, expected what records are made of"
    end
  end

  def self.pack(out, value)
    case value
    when String then out.packString(value)
    when Hash
      out.packMapHeader(value.size)
      value.each { |key, inside| pack(out, key) && pack(out, inside) }
    when Array
      out.packArrayHeader(value.size)
      value.each { |inside| pack(out, inside) }
    when nil then out.packNil
    else raise TypeError, "found #{value.class}, expected what records are made of"
    end
    out
  end

  def self.version = "#{MARC::VERSION}, msgpack-core #{CORE.java_class.package.implementation_version || "0.9.11"}"
end
