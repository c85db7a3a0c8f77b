# frozen_string_literal: true

require "helper"

# The store as a Rails cache, and its envelope in an Active Record column.
class CacheStoreTest < Minitest::Test
  include Helper

  R = Regauge

  def setup
    require "active_support"
    require "active_support/cache"
    require "active_support/notifications"
  rescue LoadError
    skip "no Active Support"
  end

  def in_file(**options)
    Dir.mktmpdir do |folder|
      cache = R::Store::CacheStore.new("sqlite:#{folder}/cache.db", **options)
      yield cache
    ensure
      cache&.store&.close
    end
  end

  def expired(cache, name)
    cache.write(name, 5, expires_in: 0.01)
    sleep 0.02
  end

  def test_what_every_cache_does
    in_file do |cache|
      assert_nil cache.read("a")
      assert cache.write("a", { "b" => [1, nil, "é"] })
      assert_equal({ "b" => [1, nil, "é"] }, cache.read("a"))
      assert cache.exist?("a")
      assert cache.delete("a")
      refute cache.exist?("a")
      assert_equal 3, cache.fetch("f") { 3 }
      assert_equal 3, cache.fetch("f") { flunk }
      assert_equal 4, cache.fetch("f", force: true) { 4 }
      assert_nil cache.fetch("nil") { nil }
      assert_nil cache.fetch("nil") { flunk }
      assert cache.fetch("skip", skip_nil: true) { nil }.nil?
      refute cache.exist?("skip")
      assert cache.write("once", 1, unless_exist: true)
      refute cache.write("once", 2, unless_exist: true)
      assert_equal 1, cache.read("once")
      assert_equal "array/of/parts", cache.send(:normalize_key, %w[array of parts], {})
      cache.write(%w[array of parts], 5)
      assert_equal 5, cache.read("array/of/parts")
    end
  end

  def test_expiry_and_versions
    in_file(expires_in: 60) do |cache|
      expired(cache, "gone")
      cache.write("stays", 1)
      assert_nil cache.read("gone")
      expired(cache, "gone")
      cache.write("versioned", "three", version: 3)
      assert_equal "three", cache.read("versioned", version: 3)
      assert_nil cache.read("versioned", version: 4)
      cache.write("versioned", "three", version: 3)
      expires = cache.store["stays"][1]
      assert_in_delta Time.now.to_f + 60, expires, 5
      assert_equal 1, cache.cleanup
      assert_equal %w[stays versioned], cache.store.keys
      expired(cache, "gone")
      assert cache.write("gone", 2, unless_exist: true)
      assert_equal 2, cache.read("gone")
    end
  end

  def test_many_at_once
    in_file(namespace: "app") do |cache|
      cache.write_multi({ "a" => 1, "b" => [2], "c" => nil })
      assert_equal({ "a" => 1, "b" => [2], "c" => nil }, cache.read_multi("a", "b", "c", "none"))
      assert_equal %w[app:a app:b app:c], cache.store.keys
      assert_equal({ "a" => 1, "d" => "d!" }, cache.fetch_multi("a", "d") { |name| "#{name}!" })
      expired(cache, "a")
      assert_equal({ "b" => [2] }, cache.read_multi("a", "b"))
      refute cache.store.key?("app:a")
      cache.write("x", 1, namespace: "other")
      assert_equal 1, cache.delete_matched(/^b/)
      assert_equal 1, cache.clear(namespace: "other")
      assert_equal "d!", cache.read("d")
      cache.clear
      assert_predicate cache.store, :empty?
    end
  end

  def test_counters
    in_file do |cache|
      assert_equal 1, cache.increment("n")
      assert_equal 6, cache.increment("n", 5)
      assert_equal 4, cache.decrement("n", 2)
      assert_equal 4, cache.read("n")
      expired(cache, "short")
      assert_equal 1, cache.increment("short", 1, expires_in: 60)
      assert_in_delta Time.now.to_f + 60, cache.store["short"][1], 5
      threads = Array.new(6) { Thread.new { 30.times { cache.increment("shared") } } }
      threads.each(&:join)
      assert_equal 180, cache.read("shared")
    end
  end

  def test_objects_of_ruby_where_they_are_listed
    in_file(codec: "marshal+lz4", with: { permit: [Time, Set] }) do |cache|
      cache.write("a", { at: Time.at(5), tags: Set[:x] })
      assert_equal({ at: Time.at(5), tags: Set[:x] }, cache.read("a"))
      cache.write("b", Gem::Version.new("1"))
      assert_kind_of R::Marshal::Object, cache.read("b")
    end
    in_file { |cache| assert_raises(R::EncodeError) { cache.write("a", Object.new) } }
  end

  def test_a_column_with_the_envelope
    begin
      require "active_record"
      require "sqlite3"
    rescue LoadError
      skip "no Active Record and sqlite3"
    end
    Dir.mktmpdir do |folder|
      path = "#{folder}/app.db"
      ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: path)
      ActiveRecord::Schema.verbose = false
      ActiveRecord::Schema.define { create_table(:pending) { |table| table.binary :object } }
      coder = R::Store::Coder.new("msgpack+zstd", fallback: R::Marshal.permitting(Time))
      # Rails 7.1 requires the coder by name.
      by_name = ActiveRecord.version >= Gem::Version.new("7.1")
      model = Class.new(ActiveRecord::Base) do
        self.table_name = "pending"
        by_name ? serialize(:object, coder: coder) : serialize(:object, coder)
      end
      old = ActiveRecord::Base.connection.raw_connection
      old.execute("INSERT INTO pending (object) VALUES (?)", [SQLite3::Blob.new(Marshal.dump({ "old" => Time.at(1) }))])
      id = model.create!(object: { "list" => [1, "é"] * 50, "at" => Time.at(9) }).id
      assert_equal({ "old" => Time.at(1) }, model.first.object)
      assert_equal({ "list" => [1, "é"] * 50, "at" => Time.at(9) }, model.find(id).object)
      # And the store adopts the column unchanged, and re-encodes it while the application uses it.
      R::Store.open("sqlite:#{path}", collection: "objects", permit: [Time]) do |store|
        store.adopt(table: "pending", key: "id", value: "object", key_kind: :integer, assume: :marshal)
        found = store.verify
        assert_equal({ values: 2, bare: 1, bad: 0 }, found.slice(:values, :bare, :bad))
        did = store.reencode(to: "cbor+gzip")
        assert_equal [2, 2], [did[:values], did[:changed] + did[:refused]]
        assert_equal "cbor+gzip", store.entry(id)[:codec]
      end
      assert_equal "é", model.find(id).object["list"][1]
    ensure
      ActiveRecord::Base.connection.disconnect!
    end
  end

  def test_what_is_no_entry_is_a_miss
    cache = Regauge::Store::CacheStore.new("sqlite::memory:")
    cache.write("a", 1)
    cache.store.store_many({ "b" => 5, "c" => [1, "soon", nil], "d" => { "x" => 1 } })
    assert_equal({ "a" => 1 }, cache.read_multi("a", "b", "c", "d", "e"))
    assert_equal [nil, nil, nil], %w[b c d].map { |key| cache.read(key) }
    cache.cleanup
    assert_equal 1, cache.read("a")
  end
end
