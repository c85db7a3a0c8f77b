# frozen_string_literal: true

require_relative "helper"

require "tmpdir"

# Conversions with a block: what it returns, and documents that it does not touch.
class MapTest < Minitest::Test
  # Each loses something as a Ruby object or when that is written: single precision, the payload of a NaN, a
  # reference.
  EXACT = {
    cbor: ["\x83\xfa\x3f\x00\x00\x00\xc1\x01\xd8\x64\x01".b, "\x82\x01\xfb\x7f\xf8\x00\x00\x00\x00\x00\x01".b],
    msgpack: ["\x92\xca\x3f\x80\x00\x00\xc7\x02\x05ab".b],
    yaml: ["- &1\n  a: 1\n- *1\n"],
    marshal: ["\x04\bo:\bFoo\x06:\x07@ai\x06".b]
  }.freeze

  def mapped(data, from, to = from, **options, &block)
    Regauge.convert(data, from: from, to: to, map: block, **options)
  end

  def test_untouched_documents_go_through_as_they_were
    EXACT.each do |format, all|
      all.each do |data|
        assert_equal Regauge.convert(data, from: format, to: format), mapped(data, format) { |it| it }, format
      end
    end
  end

  def test_a_change_in_place_is_seen
    assert_equal "{\"list\":[1,true]}\n", mapped('{"list":[1]}', :json) { |it| it["list"] << true && it }
    [[1, 1.0, "1.0"], [0.0, -0.0, "-0.0"], ["a", :a, '"a"']].each do |old, new, text|
      data = Regauge::JSON.dump({ "a" => old })
      assert_equal "{\"a\":#{text}}\n", mapped(data, :json, objects: :data) { |it| it.merge!("a" => new) }
    end
    assert_equal "{\"b\":2,\"a\":1}\n", mapped('{"a":1,"b":2}', :json) { |it| it["a"] = it.delete("a") and it }
  end

  # What a Ruby object has and a walk over it does not see.
  def marshal_documents
    cycle = []
    cycle << cycle
    noted = "x".dup.tap { |text| text.instance_variable_set(:@note, 1) }
    shared = [1]
    [Hash.new(7).merge!("a" => 1), [shared, shared], cycle, ["日本".encode("Shift_JIS"), "x".encode("UTF-16LE")], [noted],
     {}.compare_by_identity.tap { |it| 2.times { |value| it["k".dup] = value } }, { a: :b }, ["a", :a], [Set[1], Time.at(0, 5, :nsec, in: "+02:00"), 1..2, 1r]]
  end

  def test_marshal_keeps_the_parts_that_nobody_touched
    marshal_documents.each do |document|
      bytes = Marshal.dump(document)
      assert_equal bytes, mapped(bytes, :marshal) { |it| it }, document.inspect
      assert_equal Marshal.dump([document, 1]), mapped(bytes, :marshal) { |it| [it, 1] }, document.inspect
      assert_equal Marshal.dump([document, [1]]), mapped(Marshal.dump([document, []]), :marshal) { |it| it.each { |one| one << 1 if one == [] } }
    end
    assert_equal Marshal.dump(Hash.new(5)), mapped(Marshal.dump(Hash.new(1)), :marshal) { |it| it.tap { it.default = 5 } }
    assert_equal "&1\n- *1\n", mapped("&1\n- *1\n", :yaml) { |it| it }
  end

  def test_marshal_refuses_what_it_cannot_hold
    assert_raises(TypeError) { mapped("[]", :json, :marshal) { |_| [proc {}] } }
    uuid = "\xD8\x25\x50".b + "a" * 16
    assert_raises(Regauge::EncodeError) { mapped(uuid, :cbor, :marshal) { |it| [it] } }
    assert_equal [{ "$uuid" => "61616161-6161-6161-6161-616161616161" }],
                 Marshal.load(mapped(uuid, :cbor, :marshal, on_loss: :wrap) { |it| [it] })
  end

  def test_other_documents_and_nil
    lines = "{\"n\":1}\n{\"n\":2}\n{\"n\":3}\n"
    odd = mapped(lines, :ndjson) { |it| it["n"].odd? ? it.merge("odd" => true) : Regauge::OMIT }
    assert_equal "{\"n\":1,\"odd\":true}\n{\"n\":3,\"odd\":true}\n", odd
    error = assert_raises(TypeError) { mapped(lines, :ndjson) { |_| nil } }
    assert_match(/returned nil .*Regauge::OMIT/, error.message)
    assert_equal "null\n1\n", mapped("null\n1\n", :ndjson) { |it| it }
    assert_equal "\x01\x02\x03".b, mapped(lines, :ndjson, :msgpack) { |it| it["n"] }
    assert_equal "[1]\n[2]\n", mapped("[1,2]", :json, :ndjson, documents: :split) { |it| [it] }
    assert_equal "Regauge::OMIT", Regauge::OMIT.inspect
  end

  def test_a_file
    Dir.mktmpdir do |folder|
      source, target = %w[a.ndjson a.bson].map { |name| File.join(folder, name) }
      File.write(source, Array.new(1000) { |n| "{\"n\":#{n}}\n" }.join)
      report = Regauge.convert_file(source, target, head: 500, jobs: 2) { |it| { "n" => -it["n"] } }
      assert_equal 500, report[:documents]
      assert_equal(Array.new(500) { |n| { "n" => -n } }, Regauge::BSON.each(target, path: true).to_a)
    end
  end

  def test_what_fails
    Dir.mktmpdir do |folder|
      source, target = %w[a.json b.json].map { |name| File.join(folder, name) }
      File.write(source, '{"a": {"b": 1}}')
      assert_raises(KeyError) { Regauge.convert_file(source, target) { |it| it.fetch("none") } }
      refute_path_exists target
      assert_raises(KeyError) { Regauge.convert_file(source, target, bad: :skip) { |it| it.fetch("none") } }
      error = assert_raises(Regauge::EncodeError) do
        Regauge.convert_file(source, target) { |it| it["a"]["c"] = Object.new and it }
      end
      assert_equal "$.a.c", error.path
      # Other ways out of a block.
      assert_equal(7, Regauge.convert_file(source, target) { |_| break 7 })
      assert_equal(8, catch(:done) { Regauge.convert_file(source, target) { |_| throw :done, 8 } })
      refute_path_exists target
      assert_raises(ArgumentError) { Regauge.convert_file(source, source, to: :yaml) { |it| it } }
      assert_equal '{"a": {"b": 1}}', File.read(source)
      assert_raises(NoMethodError) { Regauge.convert("1", from: :json, to: :json, map: "upper") }
    end
  end

  def test_many_objects_while_the_collector_runs
    lines = Array.new(200) { |n| "{\"n\":#{n},\"list\":[#{([n] * 20).join(',')}],\"text\":\"#{'x' * 50}\"}\n" }.join
    GC.stress = true
    same = mapped(lines.lines.first(2).join, :ndjson) { |it| it }
    GC.stress = false
    assert_equal lines.lines.first(2).join, same
    assert_equal lines, mapped(lines, :ndjson) { |it| it.to_a.to_h }
  ensure
    GC.stress = false
  end
end
