# frozen_string_literal: true

require "helper"
require "json"
require "ostruct"

class MarshalTest < Minitest::Test
  include Helper

  M = Regauge::Marshal
  Point = Struct.new(:x, :y)
  class Plain
    attr_accessor :a, :b

    def initialize(a, b) = (@a, @b = a, b)
    def ==(other) = other.class == self.class && other.a == a && other.b == b
  end
  class WithDump
    attr_reader :text

    def initialize(text) = @text = text
    def _dump(_) = @text
    def self._load(text) = new(text)
    def ==(other) = other.is_a?(WithDump) && text == other.text
  end
  class WithMarshalDump < WithDump
    undef_method :_dump
    def marshal_dump = [@text]
    def marshal_load(data) = @text = data[0]
  end
  class MyString < String; end
  class MyHash < Hash; end
  class MyArray < Array; end

  # The side effects of a class if anybody instantiated it.
  class Trap
    @sprung = []
    class << self
      attr_reader :sprung

      def allocate = (Trap.sprung << :allocate) && super
      def _load(_) = Trap.sprung << :_load
      def new(*) = (Trap.sprung << :new) && super
    end
    def initialize_copy(_) = Trap.sprung << :copy
    def marshal_load(_) = Trap.sprung << :marshal_load
    def hash = (Trap.sprung << :hash) && 1
    def eql?(_) = Trap.sprung << :eql?
    def respond_to_missing?(*) = (Trap.sprung << :respond_to) && true
    def method_missing(*) = Trap.sprung << :method_missing
  end

  def values
    shared = "shared"
    list = [shared, shared]
    itself = {}
    itself["me"] = itself
    [
      nil, true, false, 0, 1, -1, 122, 123, -123, -124, 255, 256, -256, -257, 65_535, 65_536, 2**30 - 1, 2**30, -2**30,
      -2**30 - 1, 2**31, 2**62, -2**62, 2**64, 2**100, -2**100, 0.0, -0.0, 1.5, 1e23, 1e-7, 123456789.123, 1e100, Float::INFINITY,
      -Float::INFINITY, "", "a", "é", "a".b, "\xFF".b, "a".encode("US-ASCII"), "é".encode("ISO-8859-1"), "x".encode("UTF-16LE"),
      "\xFF", "a" * 1000, :a, :"two words", :é, [], {}, [[[]]], list, itself, { a: 1, "b" => :a, 3 => nil, nil => 1.5, [1] => 2 },
      (1..40).to_h { |index| [index.to_s, index] }, Hash.new(7).merge(1 => 2), {}.compare_by_identity.merge!("a" => 1), "a".."b",
      1.0, [1.0, 1.0, 1.0], %w[a b] * 3, { "key" => [{ "key" => "key" }] }, Plain.new(1, "x"), [Plain.new(1, 2), Plain.new([], {})],
      Point.new(1, Point.new(2, nil)), Time.at(1_600_000_000, 123_456_789, :nsec).utc, Date.new(2026, 11, 21),
      Rational(1, 3), Complex(1, 2.5), Set[1, "a"], /a+/mi, 1..3, ("a"...), String, Comparable, MyString.new("s"), MyHash[1, 2],
      MyArray.new([1]), WithDump.new("d"), WithMarshalDump.new("m"), "s".dup.tap { |s| s.instance_variable_set(:@v, 1) },
      BigDecimal("1.5"), OpenStruct.new(a: 1), StandardError.new("no"), [Object.new.extend(Comparable)],
      DateTime.new(2026, 11, 21, 12, 0, 0.5r, "+02:00"), ["x"].tap { |a| a.instance_variable_set(:@b, a) }
    ]
  end

  def test_dump_gives_the_bytes_of_ruby
    values.each { |value| assert_equal Marshal.dump(value), M.dump(value), value.inspect }
    everything = values
    assert_equal Marshal.dump(everything), M.dump(everything)
    assert_equal Marshal.dump([everything, everything]), M.dump([everything, everything])
    io = StringIO.new("".b)
    assert_same io, M.dump([1], io)
    assert_equal Marshal.dump([1]), io.string
  end

  def test_dump_gives_the_bytes_of_ruby_for_many_values
    random = Random.new(11)
    pool = []
    make = lambda do |depth|
      return pool.sample(random: random) if pool.any? && random.rand < 0.15

      value =
        case random.rand(depth.positive? ? 11 : 7)
        when 0 then random.rand(-300..300)
        when 1 then random.rand(2**40) - 2**39
        when 2 then random.rand * 10**random.rand(-20..20)
        when 3 then random.bytes(random.rand(20))
        when 4 then "text é #{random.rand(50)}"
        when 5 then :"sym#{random.rand(20)}"
        when 6 then [nil, true, false].sample(random: random)
        when 7 then Array.new(random.rand(6)) { make.(depth - 1) }
        when 8 then Array.new(random.rand(12)) { [make.(0), make.(depth - 1)] }.to_h
        when 9 then Plain.new(make.(depth - 1), make.(depth - 1))
        else Point.new(make.(depth - 1), make.(depth - 1))
        end
      pool << value if random.rand < 0.3
      value
    end
    300.times do
      pool.clear
      value = make.(5)
      bytes = Marshal.dump(value)
      assert_equal bytes, M.dump(value)
      permitted = M.load(bytes, permit: [Plain, Point])
      assert_equal bytes, Marshal.dump(permitted), "after load with permit"
      assert_equal bytes, M.dump(M.load(bytes)) rescue assert_kind_of(Regauge::EncodeError, $!)
    end
  end

  def test_dump_finds_what_came_before_among_many
    random = Random.new(3)
    strings = Array.new(20_000) { |at| "s#{at}" }
    floats = Array.new(5_000) { |at| at / 8.0 }
    many = Array.new(30_000) { |at| random.rand(3).zero? ? floats[random.rand(5_000)] : [strings[random.rand(20_000)], { at => strings[at % 7] }] }
    # A large document, then small ones, and the large one again.
    [many, ["a", "a"], many.first(10), many.reverse, many].each { |value| assert_equal Marshal.dump(value), M.dump(value) }
    GC.compact if GC.respond_to?(:compact)
    assert_equal Marshal.dump(many), M.dump(many)
    numbers = [1e15, 1e14, 1e-3, 9.99e-4, 1.5e-4, 123.0, 100.0, 0.1, 12.5, 1e15 + 0.5, 999_999_999_999_999.9, 5e-324, 1.7e308]
    numbers += numbers.map(&:-@) + Array.new(2000) { (random.rand - 0.5) * 10**random.rand(-6..18) }
    assert_equal Marshal.dump(numbers), M.dump(numbers)
  end

  def test_dump_refuses_what_ruby_refuses
    [-> { M.dump(proc {}) }, -> { M.dump(Class.new.new) }, -> { M.dump(Hash.new { 1 }) }].each do |attempt|
      assert_raises(TypeError, &attempt)
    end
    singleton = Object.new
    def singleton.x = 1
    assert_raises(TypeError) { M.dump(singleton) }
    deep = 100_000.times.inject([]) { |inner, _| [inner] }
    assert_raises(SystemStackError) { M.dump(deep) }
  end

  def test_plain_data_comes_back_with_what_is_shared
    shared = "s"
    found = M.load(Marshal.dump([shared, shared, [shared]]))
    assert_same found[0], found[1]
    assert_same found[0], found[2][0]
    list = []
    list << list
    found = M.load(Marshal.dump(list))
    assert_same found, found[0]
    hash = { a: "x" }
    hash[:me] = hash
    found = M.load(Marshal.dump(hash))
    assert_same found, found[:me]
    encodings = ["é", "é".encode("ISO-8859-1"), "x".encode("UTF-16LE"), "\xFF".b, "a".encode("US-ASCII"), "あ".encode("EUC-JP")]
    found = M.load(Marshal.dump(encodings))
    assert_equal encodings, found
    assert_equal encodings.map(&:encoding), found.map(&:encoding)
    assert_equal 7, M.load(Marshal.dump(Hash.new(7)))[:missing]
    assert_predicate M.load(Marshal.dump({}.compare_by_identity.merge!("a" => 1))), :compare_by_identity?
  end

  # With non-default limits, a document is read in two passes.
  def in_two_passes(bytes)
    M.load(bytes, limits: { depth: 512 })
  end

  def outcome
    value = yield
    [Marshal.dump(value), value.inspect]
  rescue Regauge::Error => e
    [e.class, e.message]
  end

  def test_one_pass_reads_what_two_read
    name = +"name"
    text = "frozen as a key"
    list = [1.5, name, { name => name, :name => :name }, { "a" => name }, :name, :E, 2**62, -2**62, 2**63, -2**63, 2**64 - 1, 2**64, nil]
    rows = JSON.parse('[{"id":1,"of":[0.5,"é"]},{"id":2,"of":[]},{"id":3,"of":{"id":4}}]')
    documents = values + [list, [list, list], rows, [{ text => 1 }, text], [text, { text => text }], ["b".b, "b".b], [{ E: "x" }], [:E, "x"],
                          [[:a] * 3, { a: :a }], (0..300).map { |at| [at.to_s, at.to_s.to_sym, at * 0.1] }, [2**40, 2**40, 1.25, 1.25]]
    documents.each do |value|
      bytes = Marshal.dump(value)
      assert_equal(outcome { in_two_passes(bytes) }, outcome { M.load(bytes) }, value.inspect[0, 200])
    end
  end

  def test_one_pass_finds_the_faults_that_two_find
    random = Random.new(7)
    documents = [
      { "list" => [1, 1.5, "é", :a, nil, { "list" => [2**40, "x".b] }], "text" => "z" * 40, a: [:a, true, false] },
      [[0.5, -1e300], JSON.parse('[{"a":1},{"a":2}]'), "a" * 200]
    ].map { |value| Marshal.dump(value) }
    documents.each do |bytes|
      bytes.bytesize.times do |cut|
        assert_equal(outcome { in_two_passes(bytes[0, cut]) }, outcome { M.load(bytes[0, cut]) })
      end
      3000.times do
        broken = bytes.dup
        (1 + random.rand(3)).times { broken.setbyte(random.rand(broken.bytesize), random.rand(256)) }
        assert_equal(outcome { in_two_passes(broken) }, outcome { M.load(broken) }, broken.inspect)
      end
    end
  end

  def test_objects_are_inert
    found = M.load(Marshal.dump(Plain.new(1, [Point.new(2, 3)])))
    assert_instance_of M::Object, found
    assert_equal ["MarshalTest::Plain", :object], [found.class_name, found.kind]
    assert_equal 1, found[:@a]
    assert_equal({ "x" => 2, "y" => 3 }, found["@b"][0].ivars)
    assert_equal :struct, found["@b"][0].kind
    assert_equal Marshal.dump(Plain.new(1, [Point.new(2, 3)])), M.dump(found)
    [Time.now, Date.today, 1r, 1i, 1..2, /a/, Set[1], String, Kernel, BigDecimal("1"), StandardError.new].each do |value|
      assert_instance_of M::Object, M.load(Marshal.dump(value)), value.inspect
    end
  end

  # They would be those of the object that stands for the struct.
  def test_instance_variables_do_not_change_what_an_object_says
    struct = Point.new(1, 2)
    { class_name: "Other", kind: "object", value: { "y" => 2 } }.each { |name, value| struct.instance_variable_set("@#{name}", value) }
    bytes = Marshal.dump(struct)
    [{}, { freeze: true }, { symbolize_names: true }].each do |options|
      found = M.load(bytes, **options)
      assert_equal ["MarshalTest::Point", :ivars, "Other"], [found.class_name, found.kind, found[:@class_name]]
      assert_equal ["MarshalTest::Point", :struct], [found.value["value"].class_name, found.value["value"].kind]
    end
    assert_equal "Other", M.load(bytes, permit: [Point]).instance_variable_get(:@class_name)
    typed = '{"$ruby:ivars":"","value":{"value":{"$uuid":"00000000-0000-0000-0000-000000000000"},"ivars":{"@kind":"x"}}}'
    assert_equal :uuid, Regauge::JSON.load(typed, unwrap: true).value["value"].kind
    assert_equal "", Regauge::JSON.load(typed, unwrap: true).class_name
    class_itself = "\x04\bIc\x16MarshalTest::Trap\x06:\f@sprungi\x06".b
    assert_equal :ivars, M.load(class_itself, permit: [Trap]).kind
    assert_equal [], Trap.sprung
  end

  def test_inert_objects_are_written_as_they_were
    shared = "shared"
    inert_values(shared).each do |value|
      [value, [shared, value, shared, value, "other", shared, [value]]].each do |document|
        bytes = Marshal.dump(document)
        assert_equal bytes, M.dump(M.load(bytes)), value.inspect
      end
    end
    bytes = Marshal.dump(inert_values(shared).first)
    wrapped = Regauge.convert(bytes, from: :marshal, to: :json, objects: :wrap)
    assert_equal wrapped, "#{Regauge::JSON.dump(M.load(bytes), objects: :wrap)}\n"
  end

  def inert_values(shared)
    with = ->(value) { value.tap { |it| it.instance_variable_set(:@note, [shared]) } }
    values = [
      with[Point.new(1, shared)], Point.new(1, 2).extend(Comparable), with[Point.new(1, 2).extend(Comparable)],
      MyString.new("é"), MyString.new("b".b), with[MyString.new("é")], with[MyArray[shared]], with[MyHash[1, shared]],
      MyHash.new(5).merge!(1 => 2), "a".dup.extend(Comparable), [shared].extend(Comparable), with[Object.new.extend(Comparable)],
      /a/i, /é/mx, Regexp.new("a".b, Regexp::NOENCODING), WithDump.new("é"), WithDump.new("b".b), WithDump.new(with[+"é"]),
      WithMarshalDump.new(shared), with[Plain.new(1, 2)], Time.at(0, 5, :nsec, in: "+02:00"), 1..2, 1r, 2i
    ]
    RUBY_VERSION < "3.5" ? values.push(Set[1, [shared]], Set[]) : values
  end

  def test_listed_classes_are_built_and_no_other
    time = Time.new(2026, 11, 21, 12, 0, 0.25r, "+02:00")
    all = [time, time.utc, Date.new(2026, 11, 21), DateTime.new(2026, 1, 2, 3, 4, 5), 1r, 2i, 1..2, ("a"..), /x+/mi, Set[1, 2]]
    found = M.load(Marshal.dump(all), permit: M::CORE)
    assert_equal all, found
    assert_equal all.map(&:class), found.map(&:class)
    assert_equal time.utc_offset, found[0].utc_offset
    own = [Plain.new(1, 2), Point.new(3, 4), WithDump.new("d"), WithMarshalDump.new("m"), MyString.new("s"), MyHash[1, 2], MyArray.new([1])]
    own.each do |value|
      found = M.load(Marshal.dump(value), permit: [value.class])
      assert_equal value, found
      assert_instance_of value.class, found
      assert_instance_of M::Object, M.load(Marshal.dump(value), permit: [Integer])
    end
    mixed = M.load(Marshal.dump([Plain.new(1, Point.new(1, 2))]), permit: [Plain])
    assert_instance_of Plain, mixed[0]
    assert_instance_of M::Object, mixed[0].b
    assert_equal BigDecimal("1.5"), M.load(Marshal.dump(BigDecimal("1.5")), permit: [BigDecimal])
    assert_equal OpenStruct.new(a: 1), M.load(Marshal.dump(OpenStruct.new(a: 1)), permit: [OpenStruct])
    assert_equal String, M.load(Marshal.dump(String), permit: [String])
    cyclic = Plain.new(nil, 1)
    cyclic.a = cyclic
    found = M.load(Marshal.dump(cyclic), permit: [Plain])
    assert_same found, found.a
    assert_equal Marshal.dump(cyclic), Marshal.dump(found)
  end

  # Objects of a class get their variables in one go, once their layout is known.
  class Loose
    def initialize(variables) = variables.each { |name, value| instance_variable_set(name, value) }
    def to_a = instance_variables.map { |name| [name, instance_variable_get(name)] }
    def ==(other) = other.class == self.class && other.to_a == to_a
  end

  def test_objects_with_any_variables
    random = Random.new(20)
    names = ("a".."j").map { |name| :"@#{name}" }
    lists = Array.new(6) { names.sample(random.rand(11), random: random) } << [] << names << names.first(3) << names.first(4)
    value = -> { [nil, 1, 1.5, "text", :symbol, 2**70, [1], { "a" => "b" }].sample(random: random) }
    kinds = lists + Array.new(30) { lists.sample(random: random) }
    objects = kinds.flat_map { |list| Array.new(5) { Loose.new(list.to_h { |name| [name, value.()] }) } }
    objects = [objects, objects.shuffle(random: random), objects.each_slice(7).map { |few| Loose.new(few.to_h { |one| [names[few.index(one)], one] }) }]
    bytes = Marshal.dump(objects)
    3.times do
      found = M.load(bytes, permit: [Loose])
      assert_equal objects, found
      assert_equal bytes, Marshal.dump(found)
      assert_same found[0][0], found[1].find { |one| one.equal?(found[0][0]) }
      objects[0].first(40).each { |one| assert_equal one, M.load(Marshal.dump(one), permit: [Loose]) }
    end
  end

  def test_odd_variables_of_a_listed_class
    plain = ":\x17MarshalTest::Plain"
    twice = M.load("\x04\x08[\x08o#{plain}\x07:\x07@ai\x06;\x06i\x07o;\x00\x07;\x06i\x06;\x06i\x07o;\x00\x07;\x06i\x06;\x06i\x07".b, permit: [Plain])
    assert_equal [2, 2, 2], twice.map(&:a)
    found = 3.times.map { M.load("\x04\x08o#{plain}\x07:\x07@ai\x06:\x06Ei\x07".b, permit: [Plain]) }
    assert_equal [[[:@a, 1]]] * 3, found.map { |one| one.instance_variables.grep(/@/).map { |name| [name, one.instance_variable_get(name)] } }
    inside = "\x04\x08o#{plain}\x06:\x07@ao;\x00\x06;\x06@\x00".b
    outer = M.load(inside, permit: [Plain])
    assert_same outer, outer.a.a
    error = StandardError.new("no @ in front")
    3.times { assert_equal error, M.load(Marshal.dump([1, error]), permit: [StandardError]).last }
  end

  def test_classes_that_come_and_go
    bytes = Marshal.dump([Plain.new(1, 2), Plain.new(3, 4)])
    2.times do
      assert_equal [Plain, Plain], M.load(bytes, permit: [Plain]).map(&:class)
      assert_equal [M::Object, M::Object], M.load(bytes).map(&:class)
      assert_equal [M::Object, M::Object], M.load(bytes, permit: [Point]).map(&:class)
    end
    # The same name, but a different class.
    40.times do |round|
      self.class.const_set(:Passing, Class.new { attr_accessor :a, :b })
      one = Passing.new
      one.b = round if round.odd?
      one.a = round
      bytes = Marshal.dump([one, one.dup, one.dup])
      found = M.load(bytes, permit: [Passing])
      assert_equal [Passing] * 3, found.map(&:class)
      assert_equal [round] * 3, found.map(&:a)
      self.class.send(:remove_const, :Passing)
      GC.start if (round % 10).zero?
      assert_equal [M::Object] * 3, M.load(bytes, permit: [Plain]).map(&:class)
    end
    # Two with the same name: the first in the list is used.
    twins = Array.new(2) do
      self.class.const_set(:Passing, Class.new { attr_accessor :a })
      self.class.send(:remove_const, :Passing)
    end
    bytes = Marshal.dump([Plain.new(1, 2)]).gsub("\x17MarshalTest::Plain", "\x19MarshalTest::Passing")
    3.times do
      [twins, twins.reverse, [Plain, *twins], [Plain, *twins.reverse]].each do |list|
        [{}, { limits: { depth: 512 } }].each do |options|
          assert_same (list - [Plain]).first, M.load(bytes, permit: list, **options)[0].class
        end
      end
    end
    # More classes than are cached, nested.
    many = Array.new(40) { |index| self.class.const_set(:"Many#{index}", Class.new(Loose)) }
    nest = many.reduce(1) { |inner, type| [type.new(:@inner => inner, :@again => [type.new(:@a => 1)] * 2), type.new({})] }
    2.times { assert_equal nest, M.load(Marshal.dump(nest), permit: many) }
    assert_equal M.dump(nest), M.dump(M.load(Marshal.dump(nest), permit: many))
  ensure
    40.times { |index| self.class.send(:remove_const, :"Many#{index}") if self.class.const_defined?(:"Many#{index}") }
  end

  def test_an_object_counts_two_levels
    nested = ->(levels) { levels.times.reduce(nil) { |inner, _| Plain.new(inner, 1) } }
    # With the default limit, and with an equal explicit one, which takes a different path.
    [{}, { limits: { depth: 512 } }].each do |options|
      assert_equal nested[256], M.load(Marshal.dump(nested[256]), permit: [Plain], **options)
      assert_raises(Regauge::LimitError) { M.load(Marshal.dump(nested[257]), permit: [Plain], **options) }
    end
  end

  def test_a_struct_with_other_members_is_refused
    bytes = Marshal.dump(Point.new(1, 2)).sub(":\x06y", ":\x06z")
    error = assert_raises(Regauge::DecodeError) { M.load(bytes, permit: [Point]) }
    assert_match(/expected x, y/, error.message)
  end

  def test_a_name_of_a_class_is_its_true_name
    liar = Class.new { def self.name = "MarshalTest::Plain" }
    assert_instance_of M::Object, M.load(Marshal.dump(Plain.new(1, 2)), permit: [liar])
  end

  # Every way in which Marshal runs code of a class: none is used.
  def test_nothing_of_a_class_that_is_not_listed_runs
    name = "MarshalTest::Trap"
    symbol = ":#{(name.length + 5).chr}#{name}"
    documents = [
      "o#{symbol}\x00", "o#{symbol}\x06:\x07@ai\x06", "u#{symbol}\x06x", "U#{symbol}i\x06", "S#{symbol}\x00", "d#{symbol}0",
      "C#{symbol}\"\x06x", "C#{symbol}[\x00", "C#{symbol}{\x00", "e#{symbol}[\x00", "c#{(name.length + 5).chr}#{name}",
      "m#{(name.length + 5).chr}#{name}", "{\x06o#{symbol}\x00i\x06", "{\x07o#{symbol}\x00i\x06o;\x00\x00i\x07", "Iu#{symbol}\x06x\x06:\x06ET",
      "[\x07o#{symbol}\x00@\x06", "}\x06o#{symbol}\x00i\x06o;\x00\x00", "C#{symbol}/\x06x\x00"
    ]
    documents.each do |document|
      Trap.sprung.clear
      begin
        M.load("\x04\x08#{document}".b)
        M.load("\x04\x08#{document}".b, permit: [Plain, Point])
      rescue Regauge::DecodeError => error
        assert_kind_of Symbol, error.kind
      end
      assert_empty Trap.sprung, document.inspect
    end
  end

  # Published gadget chains: what an attacker sends to a program that calls Marshal.load. Harmless
  # here: the commands are `true`, and nothing is called. Each is a list of the classes that the
  # chain needs, outermost first, written as in the documents.
  CHAINS = {
    "ActionView/ActiveSupport deprecation proxy to ERB#result (Rails 3 and 4, CVE-2013-0156 and later)" =>
      ["ActiveSupport::Deprecation::DeprecatedInstanceVariableProxy", "ERB"],
    "ActiveSupport deprecation proxy to ActiveSupport::ProxyObject" =>
      ["ActiveSupport::Deprecation::DeprecatedObjectProxy", "ERB"],
    "ActiveModel attribute method missing to Logger (Rails 5)" =>
      ["ActiveModel::AttributeMethods::ClassMethods::CodeGenerator", "Logger", "ActiveSupport::Deprecation::DeprecatedInstanceVariableProxy"],
    "Universal RCE, Ruby 2.x: Gem::Requirement, Gem::DependencyList, Gem::Source::SpecificFile, Gem::StubSpecification (2018)" =>
      ["Gem::Requirement", "Gem::DependencyList", "Gem::Source::SpecificFile", "Gem::StubSpecification"],
    "Universal RCE, Ruby 2 and 3.0: Gem::Requirement, Gem::RequestSet, Net::WriteAdapter, Kernel.system (2021)" =>
      ["Gem::Requirement", "Gem::Package::TarReader", "Net::BufferedIO", "Gem::Package::TarReader::Entry", "Net::WriteAdapter", "Gem::RequestSet"],
    "Gem::SpecFetcher, Gem::Installer and Gem::Version autoload to Gem::Source::Git (3.1 and later, 2022)" =>
      ["Gem::SpecFetcher", "Gem::Installer", "Gem::Version", "Gem::RequestSet::Lockfile", "Gem::Resolver::SpecSpecification", "Gem::Source::Git"],
    "Gem::Resolver::IndexSpecification to Gem::Source with a URI (3.2 to 3.4, 2024)" =>
      ["Gem::Specification", "Gem::Resolver::IndexSpecification", "Gem::Source", "Gem::RequestSet::Lockfile", "URI::HTTP"],
    "UncaughtThrowError and Gem::Version to_s (3.4, 2024)" => ["UncaughtThrowError", "Gem::Version", "Gem::RequestSet"],
    "Oj, Ox and YAML variants that end in Marshal: Gem::Requirement by marshal_load" => ["Gem::Requirement", "Gem::Dependency"],
    "Rack::Session::Abstract and Rails secrets" => ["Rack::Session::Abstract::SessionHash", "Rails::Secrets"],
    "DRb::DRbObject, which calls a server" => ["DRb::DRbObject", "DRb::DRbUnknown"],
    "Rake::FileList and its deferred glob" => ["Rake::FileList"],
    "Set and Hash with a gadget as key: its hash is called" => ["Set", "ERB"],
    "PStore, Tempfile and Delegator" => ["PStore", "Tempfile", "SimpleDelegator", "DelegateClass"],
    "OptionParser, Shell and Process objects" => ["Process::Status", "OptionParser::AC", "Open3"],
    "OpenStruct and JSON::GenericObject" => ["OpenStruct", "JSON::GenericObject"],
    "Psych and YAML::Store" => ["YAML::Store", "Psych::Coder"],
    "Sprockets and Tilt templates" => ["Sprockets::Manifest", "Tilt::ERBTemplate"],
    "Ripper, RubyVM::InstructionSequence and Binding" => ["RubyVM::InstructionSequence", "Binding"]
  }.freeze

  # Writes a document by hand, as an attacker does, without the classes.
  def chain(classes, how)
    inner = "I\"\x09true\x06:\x06ET"
    classes.reverse.inject(inner) do |value, name|
      symbol = ":#{(name.length + 5).chr}#{name}"
      case how
      when :object then "o#{symbol}\x06:\x09@src#{value}"
      when :marshal then "U#{symbol}[\x06#{value}"
      when :key then "{\x06o#{symbol}\x06:\x09@src#{value}i\x06"
      when :dump then "[\x07Iu#{symbol}\x06x\x06:\x06ET#{value}"
      when :extended then "e#{symbol}o#{symbol.sub(/\A:.*/m) { symbol }}\x06:\x09@src#{value}"
      end
    end
  end

  def test_published_chains_are_names_and_data
    require "erb"
    require "net/protocol"
    require "rubygems/package"
    CHAINS.each do |title, classes|
      %i[object marshal key dump extended].each do |how|
        document = "\x04\x08#{chain(classes, how)}".b
        called = []
        watch = TracePoint.new(:call, :c_call) do |point|
          owner = point.defined_class
          name = owner.singleton_class? ? owner.inspect : owner.to_s
          next if name.include?("Regauge")

          called << "#{name}##{point.method_id}" if name.match?(/Gem|ERB|Net::|Tempfile|OpenStruct|ActiveSupport|Kernel#system/)
          called << point.method_id if %i[system exec spawn ` eval instance_eval open load require].include?(point.method_id)
        end
        found = watch.enable { M.load(document) }
        called.reject! { |entry| entry.to_s.match?(/CoreExt|require/) }
        assert_empty called, "#{title} (#{how})"
        names = []
        visit = lambda do |value|
          case value
          when M::Object then names << value.class_name && visit.(value.value)
          when Hash then value.each { |key, content| visit.(key) || visit.(content) }
          when Array then value.each(&visit)
          end
          nil
        end
        visit.(found)
        assert_equal classes.sort.uniq, names.sort.uniq, "#{title} (#{how})"
        watched = M.load(document, permit: [Time, Plain])
        refute_nil watched
      end
    end
  end

  def test_numbers_as_old_rubies_wrote_them
    assert_equal [1.1], M.load("\x04\x08[\x06f\x171.1000000000000001".b.sub("\x171.1000000000000001", "\x171.1000000000000001")).map { |v| v.round(5) }
    assert_equal 1, M.load("\x04\x08i\x01\x01".b)
    assert_equal 5, M.load("\x04\x08l+\x06\x05\x00".b)
  end

  def test_the_index_of_rubygems_and_rdoc
    require "zlib"
    path = data("marshal/rubygems/latest_specs.4.8.gz")
    bytes = Zlib.gunzip(File.binread(path))
    mine = M.load(bytes, permit: [Gem::Version])
    theirs = Marshal.load(bytes)
    assert_equal theirs.length, mine.length
    assert_equal theirs, mine
  end

  def test_a_bound_on_hostile_counts
    ["[\x04\xFF\xFF\xFF\x7F", "{\x04\xFF\xFF\xFF\x7F", "\"\x04\xFF\xFF\xFF\x7Fa", "o:\x06A\x04\xFF\xFF\xFF\x7F", "@\x06", ";\x06"].each do |document|
      assert_raises(Regauge::DecodeError, Regauge::LimitError) { M.load("\x04\x08#{document}".b) }
    end
    assert_raises(Regauge::LimitError) { M.load("\x04\x08#{"[\x06" * 600}0".b) }
  end
end

# Documents that no Marshal ever wrote.
class HostileMarshalTest < Minitest::Test
  R = Regauge

  def test_fields_that_are_no_names
    binary = "\x04\x08o:\x06AI:\x07\xFFx\x06:\x0Dencoding\"\x0EShift_JISi\x06".b
    ["I[\x00\x06I:\x06\xFF\x00i\x06", "I\"\x06x\x06I:\x07@\xFF\x06:\x06ETi\x06", "o:\x06A\x06I:\x07@\xFF\x06:\x06ETi\x06"].each do |document|
      R::Marshal.load("\x04\x08#{document}".b)
    rescue R::Error, EncodingError, NameError => error
      assert error
    end
    R::Marshal.load(binary)
  rescue R::Error, EncodingError, NameError => error
    assert error
  end

  def test_types_of_the_notation_around_anything
    kinds = %w[object struct dump marshal_dump data subclass extended identity default set class module class_or_module regexp ivars encoding symbol raw]
    values = ["1", "null", '"x"', "[]", "[1]", "{}", '{"a":1}', '{"value":1}', '{"value":1,"ivars":2}', '{"value":"x","ivars":{"@a":1}}', '{"ivars":{},"value":1}', '[[1,2]]']
    names = ["", "Time", "Set", "UTF-8", "nonsense", "Range", "String"]
    kinds.product(values, names).each do |kind, value, name|
      text = %({"$ruby:#{kind}":"#{name}","value":#{value}})
      begin
        R::JSON.load(text, unwrap: true)
        R::JSON.load(text, unwrap: true, permit: R::Marshal::CORE + [String])
      rescue R::Error, TypeError, ArgumentError, ZeroDivisionError => error
        refute_match(/an internal error/, error.message, text)
      end
    end
  end
end
