# frozen_string_literal: true

require "helper"
require "timeout"

# Objects in a database.
class StoreTest < Minitest::Test
  include Helper

  R = Regauge

  def in_file(**options)
    Dir.mktmpdir do |folder|
      url = "sqlite:#{folder}/objects.db"
      store = R::Store.open(url, **options)
      yield store, url
    ensure
      store&.close
    end
  end

  def in_memory(**options, &block)
    R::Store.open("sqlite::memory:", **options, &block)
  end

  def test_what_is_put_is_got
    %w[msgpack json yaml bson cbor marshal pickle msgpack+zstd json+gzip cbor+lz4].each do |codec|
      in_file(codec: codec) do |store, url|
        value = codec == "bson" ? PLAIN : PLAIN.merge("large" => 2**63)
        assert_same value, store.store("plain", value)
        assert_same_value value, store.restore("plain")
        R::Store.open(url) do |other|
          assert_same_value value, other["plain"]
          assert_equal codec, other.info[:codec]
          assert_equal codec, other.entry("plain")[:codec]
        end
      end
    end
  end

  def test_the_access_of_a_hash
    in_memory do |store|
      assert_predicate store, :empty?
      assert_nil store["a"]
      refute store.key?("a")
      assert_equal [], store.keys
      assert_equal [nil], store.values_at("a")
      assert_equal({}, store.restore_many("a"))
      refute store.delete("a")
      store["a"] = 1
      store[:b] = nil
      store[3] = [3]
      store["\xFF\x00".b] = "bytes"
      assert_equal 1, store["a"]
      assert_equal 1, store[:a]
      assert_equal [3], store["3"]
      assert store.key?("b")
      assert_nil store["b"]
      assert_nil store.fetch("b")
      assert_equal 7, store.fetch("none", 7)
      assert_nil store.fetch("none", nil)
      assert_equal "none!", store.fetch("none") { |key| "#{key}!" }
      error = assert_raises(KeyError) { store.fetch("none") }
      assert_equal "none", error.key
      assert_equal ["3", "a", "b", "\xFF\x00".b], store.keys
      assert_equal [Encoding::UTF_8] * 3 + [Encoding::BINARY], store.keys.map(&:encoding)
      assert_equal [["3", [3]], ["a", 1], ["b", nil], ["\xFF\x00".b, "bytes"]], store.each.to_a
      assert_equal 4, store.size
      assert_equal 4, store.count
      assert_equal 1, store.count { |_, value| value == 1 }
      assert_includes store, "a"
      assert store.delete("a")
      refute store.delete("a")
      assert_equal 3, store.clear
      assert_predicate store, :empty?
      assert_raises(TypeError) { store[nil] }
      assert_raises(TypeError) { store[1.5] = 1 }
    end
  end

  def test_scans
    in_memory do |store|
      keys = (0...2500).map { |number| format("key/%05d", number) }
      store.store_many(keys.map { |key| [key, key] })
      store.store_many("a" => 1, "z" => 2)
      assert_equal ["a", *keys, "z"], store.keys
      assert_equal ["z", *keys.reverse, "a"], store.keys(reverse: true)
      assert_equal keys.to_h { |key| [key, key] }, store.scan(prefix: "key/").to_h
      assert_equal keys.reverse, store.scan(prefix: "key/", reverse: true).map(&:first)
      assert_equal keys[10...2000], store.scan(from: keys[10], to: keys[2000]).map(&:last)
      assert_equal keys[10...20], store.keys(prefix: "key/0001")
      assert_equal keys[15...20], store.keys(prefix: "key/0001", from: keys[15])
      assert_equal keys[10...12], store.keys(prefix: "key/0001", to: keys[12], limit: 5)
      assert_equal keys.first(3), store.scan(prefix: "key/").first(3).map(&:first)
      assert_equal keys.first(2), store.keys(prefix: "key/", limit: 2)
      assert_equal [], store.keys(prefix: "none")
      # Deleting during a walk does no harm.
      store.scan(prefix: "key/") { |key, _| store.delete(key) }
      assert_equal %w[a z], store.keys
      found = store.restore_many("z", "none", "a")
      assert_equal({ "z" => 2, "a" => 1 }, found)
      assert_equal [2, nil, 1], store.values_at("z", "none", "a")
    end
  end

  def test_transactions
    in_memory do |store|
      store["a"] = 1
      result = store.transaction do |batch|
        batch["b"] = 2
        batch.delete("a")
        assert_nil batch["a"]
        refute batch.key?("a")
        assert_equal 2, batch[:b]
        assert_equal 5, batch.fetch("a", 5)
        assert_raises(KeyError) { batch.fetch("a") }
        assert_equal 1, store["a"]
        assert_equal 2, batch.size
        :done
      end
      assert_equal :done, result
      assert_equal %w[b], store.keys
      assert_raises(RuntimeError) { store.transaction { |batch| batch["c"] = 3; raise "no" } }
      assert_nil store.transaction { |batch| batch["c"] = 3; raise R::Store::Rollback }
      # If one object cannot be held, none is put.
      assert_raises(R::EncodeError) { store.transaction { |batch| batch["c"] = 3; batch["d"] = Object.new } }
      assert_raises(R::EncodeError) { store.store_many("c" => 3, "d" => Object.new) }
      assert_equal %w[b], store.keys
      store.transaction { |batch| assert_equal 2, batch["b"] }
      assert_equal 3, store.update("b") { |value| value + 1 }
      assert_equal 1, store.update("n", 0) { |value| value + 1 }
      assert store.store_new("new", 1)
      refute store.store_new("new", 2)
      assert_equal 1, store["new"]
    end
  end

  def test_options_of_the_codec
    in_memory(codec: "marshal", permit: [Time, Set], freeze: true) do |store|
      at = Time.at(1_600_000_000, 5, :nsec)
      store["a"] = { at: at, tags: Set[:x] }
      assert_equal({ at: at, tags: Set[:x] }, store["a"])
      assert_predicate store["a"], :frozen?
      store["b"] = Gem::Version.new("1.2")
      assert_equal "Gem::Version", store["b"].class_name
    end
    in_memory(symbolize_names: true, codec: :json) { |store| store["a"] = { "b" => 1 }; assert_equal({ b: 1 }, store["a"]) }
    in_memory(codec: "json", on_loss: :wrap) { |store| store["a"] = "\xFF".b; assert_equal "\xFF".b, store["a"] }
    in_memory(default: ->(object) { object.to_s }) { |store| store["a"] = ENV; assert_equal "ENV", store["a"] }
    assert_raises(ArgumentError) { in_memory(nonsense: 1) }
    assert_raises(ArgumentError) { in_memory(codec: "ndjson") }
    assert_raises(ArgumentError) { in_memory(codec: "json+snappy") }
  end

  def test_records
    record = R::MARC::Record.new
    record.append(R::MARC::ControlField.new("001", "1"))
    record.append(R::MARC::DataField.new("245", "1", "0", %w[a Iliad]))
    %w[marc marcxml+zstd marc-json].each do |codec|
      in_memory(codec: codec) do |store|
        store["r"] = record
        assert_equal "Iliad", store["r"]["245"]["a"], codec
        store["h"] = record.to_hash
        assert_equal "1", store["h"]["001"].value
        assert_raises(R::EncodeError) { store["both"] = [record, record] }
        assert_raises(R::EncodeError, NoMethodError) { store["none"] = 5 }
        assert_equal 0, store.verify[:bad]
      end
    end
  end

  def test_errors_are_the_gems
    error = assert_raises(R::StoreError) { R::Store.open("nowhere://x") }
    assert_equal :usage, error.kind
    assert_kind_of R::Error, error
    refute_predicate error, :passing?
    assert_raises(R::StoreError) { R::Store.open("sqlite:/no/such/folder/x.db") }
    assert_raises(R::StoreError) { R::Store.open("sqlite::memory:", collection: "no word").store("a", 1) }
    in_file(codec: "json") do |store, url|
      error = assert_raises(R::EncodeError) { store["some key"] = { "a" => [Object.new] } }
      assert_equal %("some key"), error.key
      assert_equal "$.a[0]", error.path
      assert_match(/\Akey "some key": json: /, error.message)
      store["a"] = { "a" => 1 }
      error = assert_raises(R::StoreError) { R::Store.open(url, codec: "cbor") }
      assert_match(/stores json, not cbor/, error.message)
      store.close
      error = assert_raises(R::StoreError) { store["a"] }
      assert_match(/closed/, error.message)
      store.close
    end
  end

  # Bit flips in the file are detected and named, and the rest stays readable.
  def test_damage
    require "sqlite3"
    in_file do |store, url|
      store.store_many("a" => "x" * 100, "b" => "y" * 100, "c" => "z" * 100)
      base = SQLite3::Database.new(url.delete_prefix("sqlite:"))
      value = base.get_first_value("SELECT value FROM objects WHERE key = x'62'").dup
      value.setbyte(60, value.getbyte(60) ^ 4)
      base.execute("UPDATE objects SET value = ? WHERE key = x'62'", [SQLite3::Blob.new(value)])
      error = assert_raises(R::DamagedError) { store["b"] }
      assert_equal %("b"), error.key
      assert_equal :damaged, error.kind
      assert_equal "z" * 100, store["c"]
      found = store.verify
      assert_equal [3, 1], [found[:values], found[:bad]]
      assert_match(/key "b"/, found[:errors].fetch(0))
      assert_equal({ "msgpack" => [2, 2 * (16 + 102)] }, found[:codecs])
      # A walk stops there, and resumes after it.
      assert_raises(R::DamagedError) { store.each { nil } }
      walk = store.native.cursor(nil, nil, nil, false, false)
      assert_equal "a", walk.advance[0]
      assert_raises(R::DamagedError) { walk.advance }
      assert_equal "c", walk.advance[0]
      assert_same walk, walk.advance
      assert store.delete("b")
      assert_equal 0, store.verify[:bad]
    ensure
      base&.close
    end
  rescue LoadError
    skip "no sqlite3"
  end

  def test_documents_without_objects
    in_memory(codec: "cbor+zstd") do |store|
      store.write("a", %({"b":[1,2.5]}), from: :json)
      assert_equal({ "b" => [1, 2.5] }, store["a"])
      assert_equal %({"b":[1,2.5]}), store.read("a", as: :json)
      assert_equal({ "b" => [1, 2.5] }, R::MessagePack.load(store.read("a", as: "msgpack")))
      assert_nil store.read("none", as: :json)
      error = assert_raises(R::DecodeError) { store.write("a", "{", from: :json) }
      assert_equal %("a"), error.key
      assert_raises(ArgumentError) { store.read("a", as: :nonsense) }
      entry = store.entry("a")
      assert_equal "cbor+zstd", entry[:codec]
      assert_in_delta Time.now.to_f, entry[:created].to_f, 5
      assert_operator entry[:document_bytes], :>, 0
      assert_nil store.entry("none")
    end
  end

  def test_reencoding
    in_file(codec: "json") do |store, url|
      store.store_many((0...700).to_h { |number| ["k#{number}", { "number" => number, "text" => "value " * 20 }] })
      store["float"] = 1.5
      other = R::Store.open(url)
      would = store.reencode(to: "msgpack+zstd", dry_run: true)
      assert_equal [701, 701, 0], would.values_at(:values, :changed, :refused)
      assert_operator would[:bytes_after], :<, would[:bytes_before] / 2
      assert_equal "json", store.info[:codec]
      did = store.reencode(to: "msgpack+zstd")
      assert_equal 701, did[:changed]
      assert_equal "msgpack+zstd", store.info[:codec]
      store["new"] = 1
      assert_equal "msgpack+zstd", store.entry("new")[:codec]
      # A store opened before that can still read, and writes what can be read.
      assert_equal 699, other["k699"]["number"]
      other["late"] = { "a" => 1 }
      assert_equal({ "a" => 1 }, store["late"])
      assert_equal 0, store.verify[:bad]
      # What the new format cannot hold stays unchanged, and is named.
      refused = store.reencode(to: "bson")
      assert_equal 2, refused[:refused]
      assert_match(/key "float"/, refused[:errors].join("\n"))
      assert_in_delta 1.5, store["float"]
      assert_raises(ArgumentError) { store.reencode(to: "nonsense") }
      [-1, 0, Float::INFINITY, Float::NAN].each do |rate|
        error = assert_raises(R::StoreError) { store.reencode(to: "json", rate: rate) }
        assert_match(/expected a number above 0/, error.message)
      end
      assert_operator store.reencode(to: "json+zstd", rate: 1e9)[:changed], :>, 600
      assert_operator store.train(samples: 600, bytes: 4_000), :>, 100
    end
  end

  # A slow, rate-limited walk ends when its thread is killed, and waiting threads continue.
  def test_a_long_walk_can_be_interrupted
    in_file(codec: "json") do |store|
      store.store_many((0...5000).to_h { |number| ["k#{number}", number] })
      began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      assert_raises(Timeout::Error) { Timeout.timeout(0.2) { store.reencode(to: "cbor", rate: 500) } }
      assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, :<, 4
      assert_equal "cbor", store.info[:codec]
      assert_equal 4999, store["k4999"]
      assert_operator store.reencode(to: "cbor")[:changed], :>, 3000
      assert_equal({ "cbor" => 5000 }, store.verify[:codecs].transform_values(&:first))
    end
  end

  def test_a_column_of_others_is_adopted
    require "sqlite3"
    in_file do |store, url|
      base = SQLite3::Database.new(url.delete_prefix("sqlite:"))
      base.execute("CREATE TABLE pending (id INTEGER PRIMARY KEY, object BLOB)")
      5.times do |id|
        base.execute("INSERT INTO pending VALUES (?, ?)", [id, SQLite3::Blob.new(Marshal.dump({ "id" => id, at: Time.at(id) }))])
      end
      pending = R::Store.open(url, collection: "pending_objects", permit: [Time])
      pending.adopt(table: "pending", key: "id", value: "object", key_kind: :integer, assume: :marshal)
      assert_equal %w[0 1 2 3 4], pending.keys
      assert_equal({ "id" => 3, at: Time.at(3) }, pending[3])
      assert_equal 5, pending.verify[:bare]
      pending[9] = [1]
      assert_equal "msgpack", pending.entry(9)[:codec]
      assert_equal({ "marshal" => 5, "msgpack" => 1 }, pending.verify[:codecs].transform_values(&:first))
      assert_raises(R::StoreError) { store.adopt(table: "none", assume: :marshal) }
      assert_raises(ArgumentError) { store.adopt(table: "pending", assume: :nonsense) }
    ensure
      base&.close
      pending&.close
    end
  rescue LoadError
    skip "no sqlite3"
  end

  def test_series
    in_memory do |store|
      series = store.series(:temperature, bucket: 3600)
      times = (0...50).map { |hour| Time.at(1_700_000_000 + hour * 1800, 123_456_789 + hour, :nsec) }
      series.store_many(times.each_with_index.to_h { |time, index| [time, { "celsius" => index }] })
      store.series("other")[times[0]] = "other"
      series[-1] = "before 1970"
      assert_equal 51, series.count
      assert_equal [Time.at(0, -1, :nsec), *times], series.map(&:first)
      assert_equal times.reverse.first(3), series.each(reverse: true).first(3).map(&:first)
      assert_equal times[3...10], series.each(from: times[3], to: times[10]).map(&:first)
      assert_equal({ "celsius" => 7 }, series[times[7]])
      assert_equal [{ "celsius" => 7 }, nil], series.values_at(times[7], times[7] + 1)
      assert series.delete(times[7])
      assert_nil series[times[7]]
      assert_equal 10, series.clear(from: times[40])
      assert_equal "other", store.series("other")[times[0]]
      extremes = [-2**63, 2**63 - 1]
      extremes.each { |time| series[time] = time }
      assert_equal extremes, series.map(&:last).values_at(0, -1)
      assert_raises(ArgumentError) { series[2**63] = 1 }
      assert_raises(ArgumentError) { store.series("a\0b") }
      assert_raises(ArgumentError) { store.series("a", bucket: 0) }
      error = assert_raises(ArgumentError) { store.series("a", bucket: 10**12) }
      assert_equal "found a bucket of 1000000000000 seconds, expected at most 292 years", error.message
      century = store.series("century", bucket: 200 * 365 * 86_400)
      century[times[0]] = "in a long bucket"
      assert_equal [times[0]], century.map(&:first)
    end
  end

  def test_threads
    in_file(codec: "msgpack+lz4") do |store|
      threads = Array.new(8) do |number|
        Thread.new do
          150.times do |index|
            store["t#{number}/#{index}"] = { "n" => [number, index] }
            raise "torn" unless store["t#{number}/#{index}"]["n"] == [number, index]

            store.update("counter", 0) { |value| value + 1 } if (index % 10).zero?
          end
          store.scan(prefix: "t#{number}/").count
        end
      end
      assert_equal [150] * 8, threads.map(&:value)
      assert_equal 120, store["counter"]
      assert_equal 0, store.verify[:bad]
    end
  end

  # While the database blocks one thread, the others continue. Another process holds the file: two
  # SQLite libraries in one process do not see each other's locks.
  def test_the_lock_is_let_go
    holder = <<~RUBY
      require "sqlite3"
      base = SQLite3::Database.new(ARGV[0])
      base.execute("BEGIN IMMEDIATE")
      puts "held"
      STDOUT.flush
      STDIN.gets
      base.execute("COMMIT")
    RUBY
    in_file do |store, url|
      store["a"] = 1
      IO.popen([RbConfig.ruby, "-W0", "-e", holder, url.delete_prefix("sqlite:")], "r+") do |other|
        skip "no sqlite3" unless other.gets == "held\n"
        waiting = Thread.new { store["a"] = 2 }
        sleep 0.05
        steps = 0
        steps += 1 until steps > 200_000
        assert_predicate waiting, :alive?
        other.puts "go on"
        waiting.join(9)
      end
      assert_equal 2, store["a"]
    end
  end

  def test_a_fork_has_a_connection_of_its_own
    skip "no fork" unless Process.respond_to?(:fork)

    in_file do |store, url|
      coder = R::Store::Coder.new("json")
      store["parent"] = 1
      busy = Thread.new { loop { store["busy"] = store["parent"] } }
      children = Array.new(6) do |number|
        fork do
          ok = store["parent"] == 1
          20.times { |index| store["child#{number}/#{index}"] = number }
          ok &&= coder.load(coder.dump([number])) == [number]
          GC.start
          store.close if number.even?
          exit!(ok ? 0 : 1)
        end
      end
      # And one that ends without ever using it.
      children << fork { exit(0) }
      statuses = children.map { |child| Process.wait2(child)[1].exitstatus }
      busy.kill.join
      assert_equal [0] * 7, statuses
      assert_equal 120, store.keys(prefix: "child").length
      R::Store.open(url) { |again| assert_equal 0, again.verify[:bad] }
      in_memory do |memory|
        memory["a"] = 1
        child = fork do
          memory["a"]
          exit!(1)
        rescue R::StoreError
          exit!(0)
        end
        assert_equal 0, Process.wait2(child)[1].exitstatus
      end
    end
  end

  def test_under_stress
    in_memory(codec: "marshal+lz4", permit: [Time]) do |store|
      value = { "a" => [1, "x" * 50, Time.at(0), nil, { "b" => 1.5 }] }
      begin
        GC.stress = true
        store["a"] = value
        store.store_many("b" => value, "c" => [value])
        found = [store["a"], *store.values_at("b", "none"), store.scan.to_h, store.update("a") { |old| [old] }]
        store.transaction { |batch| batch["d"] = found[0] }
        names = [store.keys, store.entry("d"), store.info, store.verify]
        error = begin
          store["e"] = proc {}
        rescue TypeError => caught
          caught
        end
      ensure
        GC.stress = false
      end
      assert_equal [value, value, nil, { "a" => value, "b" => value, "c" => [value] }, [value]], found
      assert_equal %w[a b c d], names[0]
      assert_equal 0, names[3][:bad]
      assert_kind_of TypeError, error
    end
  end

  def test_a_method_that_uses_the_store_it_is_put_into
    in_memory do |store|
      inner = Object.new
      inner.define_singleton_method(:to_regauge) do
        store["inner"] = 1
        store.clear if store.size > 5
        store["inner"]
      end
      store["outer"] = [inner, inner]
      assert_equal [1, 1], store["outer"]
      raising = Object.new
      def raising.to_regauge = raise("mine")
      assert_raises(RuntimeError) { store["x"] = raising }
      assert_equal :out, catch(:out) { store.update("x") { throw :out, :out } }
      closing = Object.new
      closing.define_singleton_method(:to_regauge) { store.close }
      # The call continues on the connection that it started with.
      store["last"] = [closing]
      assert_raises(R::StoreError) { store["last"] }
    end
  end

  def test_nothing_leaks
    skip "no /proc" unless File.exist?("/proc/self/statm")

    resident = -> { GC.start; File.read("/proc/self/statm").split[1].to_i * 4 }
    round = lambda do |times|
      times.times do |index|
        R::Store.open("sqlite::memory:", codec: "json+zstd") do |store|
          store["a"] = "x" * 5000
          store["a"]
          assert_raises(R::EncodeError) { store["b"] = Object.new }
          store.scan { break }
          store.close if index.even?
        end
      end
    end
    # Until the heap has settled, also after the other tests. A store that stays open takes some 100 kB.
    round.call(500)
    before = resident.call
    round.call(800)
    assert_operator resident.call - before, :<, 12_288
  end

  def test_a_coder_with_the_envelope
    coder = R::Store::Coder.new("msgpack+zstd", symbolize_names: true, fallback: R::Marshal.permitting(Time))
    assert_nil coder.dump(nil)
    assert_nil coder.load(nil)
    assert_nil coder.load("")
    bytes = coder.dump({ "a" => ["b"] * 100 })
    assert_equal "\xC1\x67".b, bytes.byteslice(0, 2)
    assert_equal({ a: ["b"] * 100 }, coder.load(bytes))
    assert_equal [Time.at(0)], coder.load(Marshal.dump([Time.at(0)]))
    bytes.setbyte(-1, bytes.getbyte(-1) ^ 1)
    assert_raises(R::DamagedError) { coder.load(bytes) }
    assert_raises(R::StoreError) { R::Store::Coder.new("json").load("[1]") }
    assert_raises(R::EncodeError) { coder.dump(Object.new) }
  end
end
