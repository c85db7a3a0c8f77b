# frozen_string_literal: true

require "helper"

# The gem as a coder in Ruby's interfaces.
class CoderTest < Minitest::Test
  include Helper

  R = Regauge

  def require_active_support
    begin
      require "active_support"
      require "active_support/cache"
    rescue LoadError
      skip "no Active Support"
    end
    require "regauge/active_support"
  end

  def test_every_format_is_a_coder
    R::FORMATS.each do |name, codec|
      next if %i[ndjson csv tsv].include?(name)

      coder = codec.with(symbolize_names: true)
      assert_equal({ a: 1 }, coder.load(coder.dump({ "a" => 1 })), name)
      assert_nil coder.load(nil)
      assert_nil coder.load("")
    end
    assert_raises(R::DecodeError) { R::JSON.with.load("{") }
    old = Marshal.dump({ a: [Time.at(0)] })
    coder = R::MessagePack.with(fallback: R::Marshal.permitting(Time))
    assert_equal({ a: [Time.at(0)] }, coder.load(old))
    assert_equal [1], coder.load(coder.dump([1]))
  end

  def test_a_column_leaves_marshal_in_three_steps
    old = Marshal.dump({ "a" => Time.at(0) })
    reads = R::Marshal.permitting(Time)
    seen = []
    both = R::CBOR.with(fallback: reads, writes: Marshal, on_old: seen.method(:push))
    assert_equal({ "a" => Time.at(0) }, both.load(old))
    assert_equal({ "a" => 1 }, Marshal.load(both.dump({ "a" => 1 })), "old code reads it")
    io = StringIO.new
    assert_same io, both.dump([1], io)
    assert_equal [1], Marshal.load(io.string)
    assert_equal [old], seen

    new = R::CBOR.with(fallback: reads, on_old: seen.method(:push))
    written = new.dump({ "a" => Time.at(0) })
    refute written.start_with?("\x04\x08".b)
    assert_equal({ "a" => Time.at(0) }, new.load(written))
    assert_equal [old], seen
    assert_equal({ "a" => Time.at(0) }, new.load(old))
    assert_equal [old, old], seen

    assert_raises(R::DecodeError) { R::CBOR.with.load(old) }
    # What Marshal writes is the document 4 in each of these, with bytes after it.
    [R::MessagePack, R::CBOR, R::JSON].each do |codec|
      [nil, true, 0, "", [], "text", { 1 => 2 }].each do |value|
        coder = codec.with(fallback: R::Marshal.permitting, nil_as_nil: false)
        value.nil? ? assert_nil(coder.load(Marshal.dump(value))) : assert_equal(value, coder.load(Marshal.dump(value)))
      end
    end
    assert_raises(ArgumentError) { R::CBOR.with(writes: Marshal) }
  end

  def test_the_lock_of_a_column_names_the_classes
    bytes = Marshal.dump([Basket.new("Ada"), 1])
    error = assert_raises(R::DecodeError) { R::MessagePack.with.load(bytes) }
    assert_equal "found Marshal with the classes CoderTest::Basket, expected Regauge::MessagePack", error.message
    error = assert_raises(R::DecodeError) { R::CBOR.with.load(Marshal.dump([1])) }
    assert_equal "found Marshal, expected Regauge::CBOR", error.message
    error = assert_raises(R::DecodeError) { R::CBOR.with.load(bytes[0..-2]) }
    refute_match(/found Marshal/, error.message)
  end

  def test_base64_in_a_column_of_text
    seen = []
    old = [Marshal.dump({ "at" => Time.at(0), "long" => "x" * 100 })].pack("m")
    both = R::MessagePack.with(base64: true, fallback: R::Marshal.permitting(Time), writes: Marshal, on_old: seen.method(:push))
    assert_equal({ "at" => Time.at(0), "long" => "x" * 100 }, both.load(old))
    assert_equal [old.unpack1("m")], seen
    assert_equal [1, :a], Marshal.load(both.dump([1, :a]).unpack1("m0")), "old code reads it"
    coder = R::MessagePack.with(base64: true)
    value = { "at" => Time.at(5).utc, "bytes" => "\xFF".b * 60 }
    text = coder.dump(value)
    assert_equal R::MessagePack.dump(value), text.unpack1("m0")
    assert_equal value, coder.load(text)
    assert_equal text, coder.dump(value, StringIO.new).string
    assert_nil coder.load(nil)
    assert_nil coder.load("")
    { "?" => "found text that is not Base64, expected Base64 of Regauge::MessagePack",
      5 => "found Integer, expected Base64 of Regauge::MessagePack",
      [Marshal.dump(Basket.new(1))].pack("m") =>
        "found Marshal with the classes CoderTest::Basket, expected Regauge::MessagePack" }.each do |text, message|
      assert_equal message, assert_raises(R::DecodeError) { coder.load(text) }.message
    end
  end

  def test_active_record_serialize
    begin
      require "active_record"
      require "sqlite3"
    rescue LoadError
      skip "no Active Record and sqlite3"
    end
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
    ActiveRecord::Schema.verbose = false
    ActiveRecord::Schema.define do
      create_table(:orders) do |table|
        table.binary :packed
        table.text :text
        table.binary :kept
      end
    end
    coders = { packed: R::MessagePack.with, text: R::JSON.with(symbolize_names: true), kept: R::Marshal.permitting(Time, Set) }
    by_name = ActiveRecord.gem_version >= Gem::Version.new("7.1")
    model = Class.new(ActiveRecord::Base) do
      self.table_name = "orders"
      coders.each { |column, coder| by_name ? serialize(column, coder: coder) : serialize(column, coder) }
    end
    now = Time.at(1_600_000_000, 5, :microsecond)
    id = model.create!(packed: { "a" => [1, "é", "\xFF".b] }, text: { "b" => [nil, 1.5] }, kept: { at: now, tags: Set[:x] }).id
    found = model.find(id)
    assert_equal({ "a" => [1, "é", "\xFF".b] }, found.packed)
    assert_equal({ b: [nil, 1.5] }, found.text)
    assert_equal({ at: now, tags: Set[:x] }, found.kept)
    found.packed = nil
    found.save!
    assert_nil model.find(id).packed
    found.text["c"] = 2
    assert_predicate found, :changed?
    found.save!
    assert_equal({ b: [nil, 1.5], c: 2 }, model.find(id).text)
    raw = ActiveRecord::Base.connection.select_value("select text from orders")
    assert_equal %({"b":[null,1.5],"c":2}), raw
  end

  def test_a_cache_of_rails_moves_off_marshal
    require_active_support
    Dir.mktmpdir do |folder|
      before = ActiveSupport::Cache::FileStore.new(folder)
      before.write("old", { "user" => [1, "é"], "at" => Time.at(0) }, expires_in: 3600, version: 3)
      before.write("plain", "text")
      before.write("large", "x" * 100_000)
      after = ActiveSupport::Cache::FileStore.new(folder, coder: R::CacheCoder.new(R::MessagePack, permit: [Time]))
      assert_equal({ "user" => [1, "é"], "at" => Time.at(0) }, after.read("old", version: 3))
      assert_equal "text", after.read("plain")
      assert_equal "x" * 100_000, after.read("large")
      after.write("new", { "list" => [1.5, nil], "at" => Time.at(5).utc }, expires_in: 3600, version: 7)
      file = Dir[File.join(folder, "**", "*")].find { |path| File.file?(path) && path.end_with?("new") }
      refute_equal "\x04\x08".b, File.binread(file, 2)
      refute_includes File.binread(file), "ActiveSupport"
      assert_equal({ "list" => [1.5, nil], "at" => Time.at(5).utc }, after.read("new", version: 7))
      assert_nil after.read("new", version: 8)
      after.write("gone", 1, expires_in: 0.01)
      sleep 0.02
      assert_nil after.read("gone")
      after.write("large", "y" * 100_000)
      assert_equal "y" * 100_000, after.read("large")
      assert_equal 3, after.fetch("missing") { 3 }
      assert_equal 3, after.read("missing")
    end
  end

  # What a process of the old code reads and writes.
  module OldCoder
    def self.dump(entry) = ::Marshal.dump(entry)
    def self.load(bytes) = ::Marshal.load(bytes)
  end

  def test_a_cache_moves_in_three_steps
    require_active_support
    Dir.mktmpdir do |folder|
      told = []
      cache = ->(coder) { ActiveSupport::Cache::FileStore.new(folder, coder: coder) }
      old = cache.call(OldCoder)
      both = cache.call(R::CacheCoder.new(R::MessagePack, writes: OldCoder, on_old: ->(bytes) { told << bytes }))
      moved = cache.call(R::CacheCoder.new(R::MessagePack))
      locked = cache.call(R::CacheCoder.new(R::MessagePack, reads_old: false))
      old.write("a", [1])
      assert_equal [1], both.read("a")
      assert_equal 1, told.size
      both.write("b", [2])
      assert_equal [2], old.read("b")
      moved.write("c", [3])
      assert_equal([[1], [2], [3]], %w[a b c].map { |key| moved.read(key) })
      assert_equal [3], both.read("c")
      assert_equal 1, told.size
      assert_equal [3], locked.read("c")
      error = assert_raises(R::DecodeError) { R::CacheCoder.new(R::MessagePack, reads_old: false).load(told.first) }
      assert_equal "found an entry of Rails, expected one of Regauge::MessagePack", error.message
    end
    assert_raises(ArgumentError) { R::CacheCoder.new(R::MessagePack, writes: OldCoder, reads_old: false) }
  end

  Basket = Struct.new(:owner)

  def test_rails_writes_until_the_cutover
    require_active_support
    Dir.mktmpdir do |folder|
      old = ActiveSupport::Cache::FileStore.new(folder)
      both = ActiveSupport::Cache::FileStore.new(folder, coder: R::CacheCoder.new(R::MessagePack, writes: :rails))
      [{ "a" => [1] }, "text", nil, "long " * 1000].each_with_index do |value, at|
        both.write(at.to_s, value, expires_in: 60)
        assert_equal [true, value], [old.exist?(at.to_s), old.read(at.to_s)]
        old.write(at.to_s, value)
        assert_equal [true, value], [both.exist?(at.to_s), both.read(at.to_s)]
      end
    end
  end

  def test_the_lock_names_the_classes_of_what_it_refuses
    require_active_support
    coder = R::CacheCoder.new(R::MessagePack, reads_old: false)
    head = "\x00\x11".b + [1, -1.0, -1].pack("CEl<")
    error = assert_raises(R::DecodeError) { coder.load(head + Marshal.dump("in" => [Basket.new("Ada")])) }
    assert_equal "found an entry of Rails with the classes CoderTest::Basket, expected one of Regauge::MessagePack",
                 error.message
  end

  # What `regauge migrate` makes of an entry of Rails 7.1, which Rails' own :message_pack serializer reads too.
  def test_entries_in_messagepack
    require_active_support
    told = []
    coder = R::CacheCoder.new(R::MessagePack, on_old: ->(bytes) { told << bytes })
    head = ->(type = 1, version: nil) { "\x00\x11".b + [type, -1.0, version&.bytesize || -1].pack("CEl<") + version.to_s.b }
    value = { "name" => "\u05D0da", "at" => Time.at(5).utc, "none" => nil }
    moved = "\xCC\x80".b + R::MessagePack.dump(value)
    found = coder.load(head[version: "v3"] + moved)
    assert_equal [value, "v3"], [found.value, found.version]
    assert_equal value, coder.load(head[0x81] + Zlib.deflate(moved)).value
    assert_equal value, R::CacheCoder.new(R::CBOR, reads_old: false).load(head[] + moved).value
    entry = ActiveSupport::Cache::Entry.new(value, version: "v3", compress: false)
    assert_equal head[version: "v3"] + moved, coder.dump(entry)
    cbor = R::CacheCoder.new(R::CBOR)
    assert_equal value, cbor.load(cbor.dump(entry)).value
    # A symbol of Rails: only Rails can read it.
    assert_nil coder.load(head[] + "\xCC\x80\x91\xC7\x02\x00id".b)
    assert_nil coder.load(head[] + "\x91\x01".b)
    assert_empty told
  end

  def test_a_cache_entry_of_an_attacker_is_inert
    require_active_support
    coder = R::CacheCoder.new(R::MessagePack)
    evil = "\x04\x08o:\x20ActiveSupport::Cache::Entry\x06:\x0b@valueo:\x08ERB\x06:\x09@srcI\"\x09true\x06:\x06ET".b
    entry = coder.load(evil)
    assert_instance_of R::Marshal::Object, entry.value
    assert_equal "ERB", entry.value.class_name
    struct = Struct.new(:x).new(1)
    CoderTest.const_set(:Disguised, struct.class)
    { class_name: "ActiveSupport::Cache::Entry", value: { "@value" => 1 }, kind: "object" }.each do |name, value|
      struct.instance_variable_set("@#{name}", value)
    end
    assert_nil coder.load(Marshal.dump(struct))
    error = assert_raises(R::DecodeError) { R::CacheCoder.new(R::MessagePack, reads_old: false).load("\x00\x11".b + [1, -1.0, -1].pack("CEl<") + Marshal.dump(struct)) }
    assert_match(/with the classes CoderTest::Disguised, expected/, error.message)
    assert_nil coder.load("\x00\x11\x01 of a later Rails".b)
    assert_nil coder.load("neither".b)
  end

  # Entries as Rails 7.1 and later write them, by Rails itself if it is installed.
  def test_entries_of_rails_7_1
    require_active_support
    coder = R::CacheCoder.new(R::MessagePack, permit: [Time])
    later = Time.now.to_f + 60
    head = ->(type, expires: -1.0, version: nil) { "\x00\x11".b + [type, expires, version&.bytesize || -1].pack("CEl<") + version.to_s.b }
    object = { "user" => [1, "é"], "at" => Time.at(0) }
    plain = coder.load(head[1] + Marshal.dump(object))
    assert_equal object, plain.value
    assert_nil plain.expires_at
    full = coder.load(head[0x81, expires: later, version: "v3"] + Zlib.deflate(Marshal.dump(object)))
    assert_equal [object, "v3"], [full.value, full.version]
    assert_in_delta later, full.expires_at.to_f, 1
    assert_equal "naïve", coder.load(head[2] + "naïve".b).value
    assert_equal Encoding::UTF_8, coder.load(head[2] + "naïve".b).value.encoding
    assert_equal "\xFF".b, coder.load(head[3] + "\xFF".b).value
    assert_equal "x" * 500, coder.load(head[0x82] + Zlib.deflate("x" * 500)).value
    assert_equal "\x04\x08 binary".b, coder.load(head[1, version: Marshal.dump("\x04\x08 binary".b)] + Marshal.dump(1)).version
    assert_predicate coder.load(head[2, expires: 5.0] + "old".b), :expired?
    evil = coder.load(head[1] + "\x04\x08o:\x08ERB\x06:\x09@srcI\"\x09true\x06:\x06ET".b)
    assert_equal "ERB", evil.value.class_name
    whole = head[0x81, version: "v3"] + Zlib.deflate(Marshal.dump(object))
    whole.bytesize.times do |length|
      entry = begin
        coder.load(whole.byteslice(0, length))
      rescue R::DecodeError
        nil
      end
      assert_nil entry, "cut at #{length}"
    end
    assert_nil coder.load(head[1, version: "x" * 9].byteslice(0, 18))
    assert_nil coder.load(head[9] + "neither".b)
    return unless ActiveSupport::Cache.respond_to?(:format_version=) && ActiveSupport.version >= Gem::Version.new("7.1")

    ActiveSupport::Cache.format_version = 7.1
    Dir.mktmpdir do |folder|
      before = ActiveSupport::Cache::FileStore.new(folder)
      before.write("object", object, expires_in: 3600, version: 3)
      before.write("text", "naïve")
      before.write("large", ["x" * 100_000])
      after = ActiveSupport::Cache::FileStore.new(folder, coder: coder)
      assert_equal object, after.read("object", version: 3)
      assert_equal "naïve", after.read("text")
      assert_equal ["x" * 100_000], after.read("large")
    end
  end

  def test_arguments_of_jobs
    # Sidekiq's check: arguments must survive a JSON round trip.
    arguments = [1, "a", { "b" => [nil, true, 1.5] }]
    assert_equal arguments, R::JSON.load(R::JSON.dump(arguments))
    assert_raises(R::EncodeError) { R::JSON.dump([Object.new]) }
  end

  def test_a_broken_entry_is_a_miss
    require "regauge/active_support"
    entry = ActiveSupport::Cache::Entry.new({ "a" => [1, "b" * 40] }, expires_in: 60)
    coder = Regauge::CacheCoder.new
    old = ActiveSupport::Cache::Entry.new("x", expires_in: 60)
    [coder.dump(entry), Marshal.dump(old), "\x00".b + Marshal.dump(["x", 5.0, nil])].each do |bytes|
      refute_nil coder.load(bytes)
      (1...bytes.bytesize).each { |length| assert_nil coder.load(bytes.byteslice(0, length)), bytes.byteslice(0, length).inspect }
    end
    assert_nil coder.load("\x00".b + Marshal.dump(["x", "soon", nil]))
    old.instance_variable_set(:@expires_in, [1])
    assert_nil coder.load(Marshal.dump(old))
    old.instance_variable_set(:@expires_in, nil)
    old.instance_variable_set(:@compressed, true)
    old.instance_variable_set(:@value, 5)
    assert_nil coder.load(Marshal.dump(old))
    assert_raises(Regauge::DecodeError) { Regauge::CacheCoder.new(reads_old: false).load(Marshal.dump(["x", 5.0, nil]).prepend("\x00".b)) }
  end

  def test_a_time_with_a_zone_is_a_time
    require "active_support"
    require "active_support/time"
    time = Time.utc(2024, 1, 2, 3, 4, 5, 500_000).in_time_zone("Tokyo")
    assert_equal "!!timestamp 2024-01-02T12:04:05.5+09:00", Regauge::YAML.dump(time).strip
    assert_equal time.to_time, Regauge::MessagePack.load(Regauge::MessagePack.dump({ "at" => time }))["at"]
    error = assert_raises(Regauge::EncodeError) { Regauge::YAML.dump(5.minutes) }
    assert_match(/ActiveSupport::Duration/, error.message)
  end
end
