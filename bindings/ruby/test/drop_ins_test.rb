# frozen_string_literal: true

require "helper"
require "drop_ins_documents"
require "regauge/compat"
require "date"
require "json"
require "yaml"
%w[bson msgpack oj].each do |name|
  require name
rescue LoadError
  nil
end

# `regauge/compat` behaves like psych, json, msgpack, Oj and bson; tools/ruby_drop_ins_check.rb runs their own tests.
class DropInsTest < Minitest::Test
  Thing = Struct.new(:name)
  # A class that no program has listed.
  class Unlisted; end
  # One that another test lists.
  class Listed
    attr_accessor :name

    def self.json_create(data) = new.tap { |made| made.name = data["name"] }
  end

  def teardown
    Regauge::Compat.uninstall
  end

  def install(*names)
    skip "json #{JSON::VERSION}: the drop-in is for version 2" if names.include?("json") && JSON::VERSION.to_i > 2
    needs_msgpack if names.include?("msgpack")
    needs_oj if names.include?("oj")
    needs_bson if names.include?("bson")
    Regauge::Compat.install(*names)
  end

  # Skips the test without msgpack; with CI=true it fails.
  def needs_msgpack
    return if defined?(::MessagePack)

    ENV["CI"] == "true" ? flunk("apt-get install ruby-msgpack") : skip("no msgpack")
  end

  # The same without Oj.
  def needs_oj
    return if defined?(::Oj)

    ENV["CI"] == "true" ? flunk("apt-get install ruby-oj") : skip("no oj")
  end

  # The same without bson.
  def needs_bson
    return if defined?(::BSON::Document)

    ENV["CI"] == "true" ? flunk("apt-get install ruby-bson") : skip("no bson")
  end

  # Returns what a block returns or raises, in words.
  def outcome
    # json warns of numbers that are too large.
    verbose, $VERBOSE = $VERBOSE, nil
    value = yield
    [value.inspect.b, value.frozen?]
  rescue StandardError, SystemStackError => error
    [error.class.name, error.message.b]
  ensure
    $VERBOSE = verbose
  end

  # Calls each with each document before and after the library is replaced.
  def assert_same_outcomes(name, documents, calls)
    before = calls.transform_values { |call| documents.map { |document| outcome { call.call(document) } } }
    install(name)
    calls.each do |kind, call|
      documents.each_with_index do |document, index|
        found = outcome { call.call(document) }
        # What is refused here, and only here.
        next if found[1].to_s.include?("regauge/compat/#{name} builds only")

        assert_equal before[kind][index], found, "#{name} #{kind}: #{document.inspect}"
      end
    end
  end

  def test_installing_and_uninstalling
    needs_msgpack
    assert_equal [], Regauge::Compat.installed
    2.times do
      Regauge::Compat.install("psych", "msgpack")
      assert_equal %w[psych msgpack], Regauge::Compat.installed
      assert_equal Regauge::Compat::Psych::Calls, YAML.method(:load).owner
      Regauge::Compat.install("psych")
      Regauge::Compat.uninstall("psych")
      assert_equal YAML.singleton_class, YAML.method(:load).owner
      Regauge::Compat.uninstall
      assert_equal MessagePack.singleton_class, MessagePack.method(:pack).owner
    end
    error = assert_raises(ArgumentError) { Regauge::Compat.install("yaml") }
    assert_equal 'found "yaml", expected one or more of bson, json, msgpack, oj, psych', error.message
    assert_raises(ArgumentError) { Regauge::Compat.install }
    assert_equal [], Regauge::Compat.installed
  end

  def test_json_3_is_refused
    skip "json #{JSON::VERSION}" if JSON::VERSION.to_i < 3
    assert_match(/version 2 of the gem json/, assert_raises(LoadError) { Regauge::Compat.install("json") }.message)
  end

  # Runs a block in which a method of the library must not be called.
  def never(object, name)
    own = object.singleton_methods(false).include?(name)
    before = object.method(name)
    object.singleton_class.send(:remove_method, name) if own
    object.define_singleton_method(name) { |*, **| raise "the library was asked" }
    yield
  ensure
    object.singleton_class.send(:remove_method, name)
    object.define_singleton_method(name, before) if own
  end

  # Plain documents do not get to the library.
  def test_plain_documents_are_regauges
    install("psych", "msgpack")
    never(YAML, :parse_stream) do
      assert_equal({ "a" => [1, true, nil], :b => 1000 }, YAML.load("a:\n- 1\n- yes\n- ~\n:b: 1,000\n"))
      assert_equal({ a: "x" }, YAML.safe_load("a: x\n", symbolize_names: true, aliases: true, filename: "x.yml"))
      assert_equal ["a", { "b" => 1 }], YAML.load_stream("--- a\n---\nb: 1\n")
      Tempfile.create("plain") do |file|
        file.write("a: |\n  text\n")
        file.close
        %i[load_file safe_load_file unsafe_load_file].each do |name|
          assert_equal({ "a" => "text\n" }, YAML.public_send(name, file.path))
        end
      end
    end
    never(Psych::Visitors::YAMLTree, :create) do
      assert_equal "---\na:\n- 1\n- b: two words\n", { "a" => [1, { "b" => "two words" }] }.to_yaml
    end
    bytes = "\x81\xA1a\x91\x01".b
    never(MessagePack::DefaultFactory, :unpacker) do
      assert_equal({ a: [1] }, MessagePack.unpack(bytes, symbolize_keys: true))
    end
    never(MessagePack::DefaultFactory, :packer) { assert_equal bytes, { a: [1] }.to_msgpack }
    return if JSON::VERSION.to_i > 2

    install("json")
    never(JSON::Parser, :new) { assert_equal({ a: [1] }, JSON.parse('{"a":[1]}', symbolize_names: true)) }
    never(JSON::State, :new) { assert_equal '{"a":[1.5,"b"]}', JSON.generate({ a: [1.5, :b] }) }
  end

  def test_schema_of_psych
    found = Regauge::YAML.load(":a: 1,000\nb: yEs\nc: 1:30\nd: '1,000'\n", schema: "psych")
    assert_equal({ :a => 1000, "b" => true, "c" => 5400, "d" => "1,000" }, found)
    assert_equal({ ":a" => "1,000" }, Regauge::YAML.load(":a: 1,000\n"))
    assert_raises(Regauge::DecodeError) { Regauge::YAML.load("2001-02-30", schema: "psych") }
  end

  def test_errors_are_psychs
    install("psych")
    error = assert_raises(Psych::SyntaxError) { YAML.load("a: b: c\n", filename: "x.yml") }
    assert_equal ["x.yml", 1, 5], [error.file, error.line, error.column]
    assert_raises(Psych::DisallowedClass) { YAML.safe_load(":a: 1") }
    assert_raises(Psych::DisallowedClass) { YAML.safe_load("2001-01-01") }
    assert_raises(Psych::BadAlias) { YAML.load("a: &x [1]\nb: *x") }
    assert_equal({ "a" => :b }, YAML.safe_load("a: :b", permitted_symbols: [:b], permitted_classes: [Symbol]))
    assert_equal Date.new(2001, 1, 1), YAML.safe_load("2001-01-01", permitted_classes: [Date])
    assert_equal 7, YAML.load("", fallback: 7)
  end

  def test_objects_of_other_classes_are_refused
    install("psych")
    data = [1..2, /a/i, 1r, Set[1], Time.at(0), { a: 1 }]
    assert_equal data, YAML.unsafe_load(YAML.dump(data))
    document = YAML.dump(Thing.new("a"))
    [-> { YAML.unsafe_load(document) }, -> { YAML.load_stream(document) }, -> { YAML.parse(document).to_ruby },
     -> { YAML.unsafe_load("--- !ruby/class DropInsTest::Thing\n") }].each do |call|
      error = assert_raises(Regauge::Compat::Psych::UnsafeClass, &call)
      assert_kind_of Psych::DisallowedClass, error
      assert_match(/class: DropInsTest::Thing: .*Regauge::Compat.permit\(DropInsTest::Thing\)/, error.message)
    end
    assert_equal Thing.new("a"), YAML.safe_load(document, permitted_classes: [Thing, Symbol])
  end

  def test_permitted_classes_are_built
    name = "DropInsTest::Allowed"
    self.class.const_set(:Allowed, Struct.new(:name) { def self.json_create(data) = new(data["name"]) })
    install("psych")
    document = YAML.dump(Allowed.new("a"))
    assert_raises(Psych::DisallowedClass) { YAML.unsafe_load(document) }
    Regauge::Compat.permit(Allowed)
    assert_equal Allowed.new("a"), YAML.unsafe_load(document)
    install("json")
    assert_equal Allowed.new("a"), JSON.parse(%({"json_class":"#{name}","name":"a"}), create_additions: true)
    error = assert_raises(ArgumentError) { JSON.load('{"json_class":"DropInsTest::Thing"}') }
    assert_match(/found the class DropInsTest::Thing under "json_class"/, error.message)
    assert_equal({ "json_class" => "File" }, JSON.parse('{"json_class":"File"}'))
  end

  def test_objects_write_themselves
    own = Class.new(Hash) { def to_json(*) = '"own"' }
    # Active Support, if another test has loaded it, has a to_json of its own.
    expected = [own.new].to_json
    install("json")
    assert_equal '[1,"own"]', JSON.generate([1, own.new])
    assert_equal expected, [own.new].to_json
    assert_equal "[\n  1\n]", JSON.pretty_generate([1])
    assert_raises(JSON::GeneratorError) { JSON.generate([Float::NAN]) }
    assert_raises(JSON::NestingError) { JSON.generate((1..101).inject([]) { |inner, _| [inner] }) }
    assert_raises(JSON::ParserError) { JSON.parse('{"a":}') }
  end

  # Whether a symbol has a `to_json` of its own is asked when there is one.
  def test_symbols_write_themselves
    install("json")
    assert_equal '{"a":"b"}', JSON.generate({ a: :b })
    Symbol.define_method(:to_json) { |*| '"own"' }
    assert_equal '[{"a":"own"},1]', JSON.generate([{ a: :b }, 1])
    assert_equal '{"a":1}', JSON.generate({ a: 1 })
  ensure
    Symbol.remove_method(:to_json) if Symbol.method_defined?(:to_json, false)
  end

  # A byte order mark, negative zero, another encoding.
  def test_what_the_libraries_do_themselves
    needs_oj
    zeros = [[-0.0], { "a" => -0.0 }, -0.0, [-0.05, -0.1, "-0.0", 0.0], [[1.0, -0.0]]]
    assert_same_outcomes("oj", zeros, { compat: ->(one) { Oj.dump(one, mode: :compat) }, json: ->(one) { Oj.dump(one, mode: :json) } })
    texts = ["\xEF\xBB\xBF[1]", "[1]".encode("UTF-16LE"), "[1]".b, "[1]".encode("US-ASCII"), "[\"\u00e9\"]".encode("ISO-8859-1")]
    assert_same_outcomes("oj", texts, { compat: ->(one) { Oj.load(one, mode: :compat) } })
    assert_same_outcomes("json", texts, { parse: ->(one) { JSON.parse(one) } })
    assert_same_outcomes("psych", texts, { load: ->(one) { YAML.load(one) } })
  end

  def test_a_frozen_stream_is_an_array_to_add_to
    assert_same_outcomes("psych", ["a: 1\n---\nb: 2\n"], { stream: ->(text) { YAML.load_stream(text, freeze: true) } })
  end

  def test_symbols_in_other_encodings
    symbols = ["é".encode("ISO-8859-1"), "日本".encode("Shift_JIS"), "x".encode("UTF-16LE"), "\xFF".b].map(&:to_sym)
    objects = symbols.flat_map { |symbol| [{ symbol => 1 }, { "a" => symbol }] }
    needs_oj
    assert_same_outcomes("oj", objects, { compat: ->(one) { Oj.dump(one, mode: :compat) } })
    assert_same_outcomes("json", objects, { generate: ->(one) { JSON.generate(one) } })
  end

  # Oj's first call differs from the others, in versions that escape U+2028 like the gem json: each in a process of its own.
  def test_the_first_calls_of_oj_generate
    needs_oj
    calls = '4.times { p Oj.generate("a" => "\u2028") }'
    lib = File.expand_path("../lib", __dir__)
    outputs = ["oj", "regauge/compat/oj"].map { |name| IO.popen([RbConfig.ruby, "-W0", "-I#{lib}", "-r#{name}", "-e", calls], &:read) }
    assert_equal(*outputs)
  end

  def test_random_yaml
    options = { symbolize_names: true, freeze: true, aliases: true, permitted_classes: [Date, Time, Symbol] }
    assert_same_outcomes("psych", DropInsDocuments.yaml(3000, 22), {
                           load: ->(text) { YAML.load(text) }, safe: ->(text) { YAML.safe_load(text) },
                           unsafe: ->(text) { YAML.unsafe_load(text) },
                           options: ->(text) { YAML.safe_load(text, **options) },
                           stream: ->(text) { YAML.load_stream(text) }
                         })
  end

  def test_random_objects_in_yaml
    objects = DropInsDocuments.objects(1000, 22)
    assert_same_outcomes("psych", objects, {
                           dump: ->(object) { YAML.dump(object) }, safe: ->(object) { YAML.safe_dump(object) }
                         })
  end

  def test_random_json
    texts = DropInsDocuments.json(2000, 22)
    assert_same_outcomes("json", texts, {
                           parse: ->(text) { JSON.parse(text) }, load: ->(text) { JSON.load(text) },
                           names: ->(text) { JSON.parse(text, symbolize_names: true) },
                           nan: ->(text) { JSON.parse(text, freeze: true, allow_nan: true) },
                           bang: ->(text) { JSON.parse!(text) }
                         })
  end

  def test_random_objects_in_json
    objects = DropInsDocuments.objects(2000, 22)
    assert_same_outcomes("json", objects, {
                           generate: ->(object) { JSON.generate(object) },
                           pretty: ->(object) { JSON.pretty_generate(object) },
                           dump: ->(object) { JSON.dump(object) }, itself: lambda(&:to_json)
                         })
  end

  def test_random_messagepack
    needs_msgpack
    objects = DropInsDocuments.objects(2000, 22)
    assert_same_outcomes("msgpack", objects, { pack: ->(object) { MessagePack.pack(object) } })
    Regauge::Compat.uninstall
    assert_same_outcomes("msgpack", DropInsDocuments.msgpack(2000, 22), {
                           unpack: ->(bytes) { MessagePack.unpack(bytes) },
                           keys: ->(bytes) { MessagePack.unpack(bytes, symbolize_keys: true) },
                           freeze: ->(bytes) { MessagePack.load(bytes, freeze: true) }
                         })
  end

  def test_random_json_of_oj
    needs_oj
    loads = %i[strict null compat json rails object].to_h do |mode|
      [mode, ->(text) { Oj.load(text, mode: mode, symbol_keys: mode == :json) }]
    end
    assert_same_outcomes("oj", DropInsDocuments.json(1500, 23), {
                           **loads, default: ->(text) { Oj.load(text) }, compat_load: ->(text) { Oj.compat_load(text) },
                           both: ->(text) { Oj.compat_load(text, mode: :compat) },
                           nan: ->(text) { Oj.load(text, mode: :compat, allow_nan: true) },
                           safe: ->(text) { Oj.safe_load(text) }
                         })
  end

  def test_random_objects_in_oj
    needs_oj
    dumps = %i[strict null compat json rails].to_h { |mode| [mode, ->(object) { Oj.dump(object, mode: mode) }] }
    assert_same_outcomes("oj", DropInsDocuments.objects(1500, 23), {
                           **dumps, indent: ->(object) { Oj.dump(object, mode: :compat, indent: 2) },
                           default: ->(object) { Oj.dump(object).gsub(/0x\h+/, "") }
                         })
  end

  # With other default options, Oj does everything.
  def test_default_options_of_oj
    needs_oj
    before = Oj.default_options
    install("oj")
    # Oj is not asked for a plain document.
    never(Oj, :sc_parse) { assert_equal({ "a" => [1.5] }, Oj.load('{"a":[1.5]}', mode: :compat)) }
    Oj.default_options = { mode: :compat }
    assert_equal({ "a" => [NIL_AND_TRUE] }, Oj.load('{"a":[[null,true]]}'))
    assert_equal '{"a":[null,true]}', Oj.dump({ a: [nil, true] })
    Oj.default_options = { symbol_keys: true, indent: 2, bigdecimal_load: :bigdecimal }
    assert_equal({ a: BigDecimal("1.5") }, Oj.load('{"a":1.5}'))
    assert_equal "{\n  \"a\":1\n}\n", Oj.dump({ a: 1 })
  ensure
    Oj.default_options = before if before
  end

  NIL_AND_TRUE = [nil, true].freeze
  UNLISTED = "DropInsTest::Unlisted"

  def test_classes_that_oj_would_build_are_refused
    install("oj")
    documents = [
      %({"^o":"#{UNLISTED}"}), %({"a":[{"^o":"#{UNLISTED}"}]}), %({"\\u005eo":"#{UNLISTED}"}), %({"^c":"#{UNLISTED}"}),
      %({"^o":"#{UNLISTED}","^o":"Range"}), %({"^u":["#{UNLISTED}",1]}), %({"^#1":[{"^o":"#{UNLISTED}"},1]}),
      %({"^o":"#{UNLISTED}","a":NaN}), %({"^o":"#{UNLISTED}"}{"a":1})
    ]
    documents.each do |document|
      [->(text) { Oj.load(text) }, ->(text) { Oj.load(StringIO.new(text)) }, ->(text) { Oj.object_load(text) },
       ->(text) { Oj.load(text, mode: :object, auto_define: true) }, ->(text) { Oj.load(text) { |value| value } },
       ->(text) { Tempfile.create("oj") { |file| file.write(text).then { file.close } || Oj.load_file(file.path) } }
      ].each do |call|
        error = assert_raises(Regauge::Compat::Oj::UnsafeClass, document) { call.call(document) }
        assert_match(/Regauge::Compat.permit\(#{UNLISTED}\)|cannot be read as data/, error.message)
      end
    end
    error = assert_raises(Oj::ParseError) { Oj.load('{"formula":"x^2", }') }
    assert_match(/\Aexpected hash key, not a hash close .* at line 1, column 19; found/, error.message)
    named = %({"json_class":"#{UNLISTED}"})
    [->(text) { Oj.load(text, mode: :compat, create_additions: true) },
     ->(text) { Oj.compat_load(text, create_additions: true) },
     ->(text) { Oj.load(text, mode: :custom, create_additions: true) }].each do |call|
      assert_raises(Regauge::Compat::Oj::UnsafeClass) { call.call(named) }
    end
    assert_equal({ "json_class" => UNLISTED }, Oj.load(named, mode: :compat))
    data = { "a" => 1..2, "b" => :c, "d" => Time.at(5), "e" => Rational(1, 2), "^f" => "^g" }
    assert_equal data.inspect, Oj.load(Oj.dump(data, mode: :object)).inspect
  end

  def test_classes_that_are_listed_are_built_by_oj
    install("oj")
    thing = Listed.new.tap { |made| made.name = "\u00e9^o" }
    document = Oj.dump(thing, mode: :object)
    assert_raises(Regauge::Compat::Oj::UnsafeClass) { Oj.load(document) }
    Regauge::Compat.permit(Listed)
    assert_equal "\u00e9^o", Oj.load(document).name
    named = '{"json_class":"DropInsTest::Listed","name":"b"}'
    assert_equal "b", Oj.load(named, mode: :compat, create_additions: true).name
  end

  # Values of BSON's types, and such that bson refuses.
  def bson_values
    id = BSON::ObjectId.from_string("0123456789abcdef01234567")
    types = BSON::Binary::SUBTYPES.keys.map { |type| BSON::Binary.new("0123456789abcdef", type) }
    [
      id, *types, BSON::Binary.new("", :uuid), Time.at(1, 999_999), Time.at(-1, 1500).utc, Time.at(0), :symbol, /a/i, 1..2,
      BSON::Timestamp.new(1, 2), BSON::MinKey.new, BSON::MaxKey.new, BSON::Decimal128.new("1.5"), BSON::Code.new("a"),
      BSON::CodeWithScope.new("a", b: 1), BSON::Int64.new(1), BSON::Int32.new(2), BSON::Undefined.new, BigDecimal("1.5"),
      Date.new(2026, 1, 1), BSON::Document.new(a: [{ b: id }]), Class.new(Hash)[1, 2], { "$ref" => "c", "$id" => id },
      { 1 => 2 }, { nil => 1 }, { "a\0" => 1 }, { "$a" => 1, "b.c" => 2 }, "x".b, "\xff", "caf\xe9".dup.force_encoding("ISO-8859-1"),
      "a\0b", 2**31, 2**63 - 1, 2**63, -2**63, -0.0, Float::NAN, Object.new
    ]
  end

  # Returns a value with the classes of its parts: a BSON::Document is equal to a Hash.
  def with_classes(value)
    case value
    when Hash then [value.class, value.map { |key, one| [key, key.encoding, with_classes(one)] }]
    when Array then value.map { |one| with_classes(one) }
    when String then [value, value.encoding, value.frozen?]
    when Time then [value, value.utc?, value.nsec]
    when BSON::Binary then [value.class, value.type, value.data, value.data.encoding]
    else [value.class, value.inspect.gsub(/0x\h+/, "")]
    end
  end

  def test_random_objects_in_bson
    needs_bson
    objects = (DropInsDocuments.objects(800, 24) + bson_values).map { |one| { "_id" => 1, value: one, "list" => [one] } }
    assert_same_outcomes("bson", objects, {
                           to_bson: ->(object) { object.to_bson.to_s }, document: ->(one) { BSON::Document.new(one).to_bson.to_s },
                           validating: ->(object) { object.to_bson(BSON::ByteBuffer.new, true).to_s },
                           buffer: ->(one) { one.to_bson.tap { |buffer| buffer.put_int32(1) }.length }
                         })
  end

  def test_random_bson
    needs_bson
    objects = DropInsDocuments.new(24).then { |random| Array.new(600) { random.plain(0) } } + bson_values
    documents = objects.filter_map do |one|
      { "v" => one, "list" => [one, { "x" => one }] }.to_bson.to_s
    rescue StandardError
      nil
    end
    random = Random.new(24)
    broken = documents.flat_map do |bytes|
      Array.new(3) { bytes.dup.tap { |copy| copy.setbyte(random.rand(copy.bytesize), random.rand(256)) } } << bytes[0..-2]
    end
    assert_operator documents.length, :>, 500
    read = lambda do |type, options = {}|
      lambda do |bytes|
        buffer = BSON::ByteBuffer.new(bytes + "\x05\0\0\0\0".b)
        [with_classes(type.from_bson(buffer, **options)), buffer.length, type.from_bson(buffer)]
      end
    end
    assert_same_outcomes("bson", documents + broken + ["", "\x05\0\0\0".b, "\xFF\xFF\xFF\xFFabc".b], {
                           document: read.call(BSON::Document), hash: read.call(Hash),
                           bson: read.call(BSON::Document, { mode: :bson })
                         })
  end

  def test_documents_of_bson_in_one_buffer
    needs_bson
    bytes = ({ "a" => 1 }.to_bson.to_s + { "b" => :c }.to_bson.to_s) * 3
    read = lambda do |given|
      buffer = BSON::ByteBuffer.new(given)
      Array.new(6) { [BSON::Document.from_bson(buffer), buffer.read_position] }
    end
    cut = [bytes, bytes[0..-2], "\0\0\0\0".b + bytes, bytes + "\xFF".b]
    assert_same_outcomes("bson", cut, { all: read })
  end

  # Keys are checked from the moment that bson's option is set.
  def test_configuration_of_bson
    needs_bson
    skip "bson 5 checks no keys" unless BSON::Config.respond_to?(:validating_keys=)
    install("bson")
    assert_equal 13, { "$a" => 1 }.to_bson.length
    BSON::Config.validating_keys = true
    assert_raises(BSON::String::IllegalKey) { { "$a" => 1 }.to_bson }
    BSON::Config.validating_keys = false
    assert_equal 13, { "$a" => 1 }.to_bson.length
  ensure
    BSON::Config.validating_keys = false if defined?(BSON::Config) && BSON::Config.respond_to?(:validating_keys=)
  end

  # Plain documents do not get to bson.
  def test_documents_of_bson_are_regauges
    install("bson")
    document = { "_id" => BSON::ObjectId.new, "at" => Time.at(5).utc, "list" => [1, { "a" => nil }], "data" => BSON::Binary.new("x") }
    own = %i[put_hash get_hash].to_h { |name| [name, BSON::ByteBuffer.instance_method(name)] }
    own.each_key { |name| replace(name) { |*, **| raise "the library was asked" } }
    found = BSON::Document.from_bson(BSON::ByteBuffer.new(document.to_bson.to_s))
    assert_equal [BSON::Document, BSON::Document], [found.class, found["list"][1].class]
    assert_equal document, found
    assert_equal document["_id"], found[:_id]
    found[:b] = { c: 1 }
    assert_equal 1, found["b"]["c"]
  ensure
    own&.each { |name, method| replace(name, method) }
  end

  # Replaces a method of bson's buffers.
  def replace(name, method = nil, &block)
    BSON::ByteBuffer.send(:remove_method, name)
    BSON::ByteBuffer.define_method(name, method || block)
  end

  def test_extension_types_are_msgpacks
    install("msgpack")
    factory = MessagePack::Factory.new
    factory.register_type(1, Thing, packer: ->(thing) { thing.name }, unpacker: ->(name) { Thing.new(name) })
    factory.register_type(2, Symbol)
    assert_equal [Thing.new("a"), :b, { c: 1 }], factory.load(factory.dump([Thing.new("a"), :b, { c: 1 }]))
    factory.register_type(-1, Time, packer: MessagePack::Time::Packer, unpacker: MessagePack::Time::Unpacker)
    assert_equal Time.at(5), factory.load(factory.dump(Time.at(5)))
    assert_raises(MessagePack::MalformedFormatError) { MessagePack.unpack("\x01\x01".b) }
    unpacker = MessagePack::Unpacker.new
    assert_equal [1, [2]], unpacker.feed_each("\x01\x91\x02".b).to_a
  end
end
