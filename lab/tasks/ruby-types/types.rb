# frozen_string_literal: true

# The task ruby-types: round trips of hashes, strings, floats and objects of a custom class.
#
# An iteration is a round trip of every document of a type. Plain types are maps of a type and a
# value, because BSON allows nothing else at the top level. Which libraries support a custom class
# is determined by trying: the result must be equal. A library that needs help for it (an extension
# type, manual conversion) has a separate row that says so.

require_relative "../runner"
require "time"

# The attributes of the sample's objects.
class Person
  ATTRIBUTES = %w[name age height admin supervisor].freeze
  attr_accessor(*ATTRIBUTES)

  def self.from(attributes)
    new.tap { |one| ATTRIBUTES.each { |name| one.public_send("#{name}=", attributes[name]) } }
  end

  def attributes = ATTRIBUTES.to_h { |name| [name, public_send(name)] }

  def ==(other) = other.is_a?(Person) && attributes == other.attributes
end

# A serializer: its name, whether it is available, and how it dumps and loads.
Serializer = Struct.new(:name, :version, :dump, :load)

# Every serializer that can be loaded.
module Serializers
  module_function

  def plain
    list = [
      library("Oj", "oj", "gem install oj") do
        [Oj::VERSION, ->(value) { Oj.dump(value, mode: :compat) }, ->(text) { Oj.load(text, mode: :compat) }]
      end,
      library("MessagePack", "msgpack", "gem install msgpack") do
        [MessagePack::VERSION, MessagePack.method(:pack), MessagePack.method(:unpack)]
      end,
      library("BSON", "bson", "gem install bson") do
        load = ->(bytes) { Hash.from_bson(BSON::ByteBuffer.new(bytes)) }
        [BSON::VERSION, ->(value) { value.to_bson.to_s }, load]
      end,
      Serializer.new("Marshal", "of Ruby #{RUBY_VERSION}", Marshal.method(:dump), Marshal.method(:load)),
      library("Yajl", "yajl", "gem install yajl-ruby") do
        # Its version constant is in a separate file, which Debian's package lacks.
        version = Gem.loaded_specs["yajl-ruby"]&.version.to_s
        [version, Yajl::Encoder.method(:encode), Yajl::Parser.method(:parse)]
      end,
      Serializer.new("json", JSON::VERSION, JSON.method(:generate), JSON.method(:parse)),
      library("YAML", "yaml", "comes with Ruby") do
        [Psych::VERSION, ->(value) { YAML.dump(value) }, ->(text) { YAML.unsafe_load(text) }]
      end,
      library("CBOR", "cbor", "gem install cbor") do
        [CBOR::VERSION, CBOR.method(:encode), CBOR.method(:decode)]
      end,
      library("regauge Marshal", "regauge", "gem install regauge") { regauge(:Marshal) },
      library("regauge MessagePack", "regauge", "gem install regauge") { regauge(:MessagePack) },
      library("regauge JSON", "regauge", "gem install regauge") { regauge(:JSON) },
    ]
    list.compact
  end

  # Ways that accept any object, or are helped to accept this class.
  def objects
    list = [
      library("Oj object", "oj", "gem install oj") do
        [Oj::VERSION, ->(value) { Oj.dump(value, mode: :object) }, ->(text) { Oj.load(text, mode: :object) }]
      end,
      library("MessagePack with an extension type", "msgpack", "gem install msgpack") { msgpack },
      Serializer.new("json by hand", JSON::VERSION, ->(value) { JSON.generate(value.attributes) },
                     ->(text) { Person.from(JSON.parse(text)) }),
    ]
    list.compact
  end

  # A missing name leaves a note instead of a row.
  def library(name, feature, install)
    unless Task.has?(feature)
      missing[name] = install
      return nil
    end
    Serializer.new(name, *yield)
  rescue NameError => error
    missing[name] = "another version of #{feature} (#{error.message.lines.first.strip})"
    nil
  end

  def missing = @missing ||= {}

  def regauge(codec)
    codec = Regauge.const_get(codec)
    [Regauge::VERSION, codec.method(:dump), codec.method(:load)]
  end

  def msgpack
    factory = MessagePack::Factory.new
    pack = ->(one) { MessagePack.pack(one.attributes) }
    factory.register_type(1, Person, packer: pack, unpacker: ->(bytes) { Person.from(MessagePack.unpack(bytes)) })
    coder = factory.respond_to?(:pool) ? factory.pool(1) : factory
    [MessagePack::VERSION, coder.method(:dump), coder.method(:load)]
  end
end

# Defines a case for each serializer and type.
class Types
  NAMES = %w[Hash String Float CustomClass].freeze

  # Raises Wrong unless every document has one of the types, and a value.
  def self.accept(documents)
    index = documents.index { |one| !(one.is_a?(Hash) && NAMES.include?(one["type"]) && one.key?("value")) }
    return unless index
    raise Wrong, "document #{index + 1} is no map of a type (#{NAMES.join(", ")}) and a value; " \
                 "`regauge sample types` writes such documents"
  end

  def initialize(documents)
    @values = documents.group_by { |one| one["type"] }
    @people = (@values["CustomClass"] || []).map { |one| Person.from(one["value"]) }
  end

  def define
    plain = Serializers.plain
    objects = Serializers.objects
    # In object mode Oj also handles the plain types: the post's second round.
    (plain + objects.first(1)).each do |serializer|
      %w[Hash String Float].each { |type| define_case(serializer, type, @values[type] || []) }
    end
    (plain + objects).each { |serializer| define_case(serializer, "CustomClass", @people) }
    Serializers.missing.each do |name, install|
      NAMES.each { |type| Task.absent("#{name} #{type}", install) }
    end
  end

  private

  def define_case(serializer, type, values)
    dump = serializer.dump
    load = serializer.load
    check = lambda do
      raise Wrong, "there is no document of type #{type}" if values.empty?
      bytes = 0
      values.each do |value|
        encoded = dump.call(value)
        bytes += encoded.bytesize
        back = load.call(encoded)
        raise Wrong, difference(type, back) unless back == value
      end
      {bytes: bytes.fdiv(values.size)}
    rescue Wrong
      raise
    rescue StandardError => error
      # The object's name in the message is its entire content.
      reason = error.message.lines.first.to_s[/\A[^#]*/].sub(/ for\s*\z/, "").strip
      raise Wrong, "#{"does not accept custom classes: " if type == "CustomClass"}#{error.class}, #{reason}"
    end
    work = ->(iterations) { iterations.times { values.each { |value| load.call(dump.call(value)) } } }
    Task.define("#{serializer.name} #{type}", version: serializer.version, check: check, work: work)
  end

  def difference(type, back)
    return "decoded to a different value" unless type == "CustomClass"
    "does not accept custom classes: returned a #{back.class}"
  end
end

Task.serve do |command|
  documents = File.foreach(command["path"], encoding: "UTF-8").map { |line| HEAR.call(line) }
  Types.accept(documents)
  Types.new(documents).define
end
