# frozen_string_literal: true

require "helper"

class MARCTest < Minitest::Test
  include Helper

  MARC = Regauge::MARC

  def record
    record = MARC::Record.new
    record.append(MARC::ControlField.new("001", "12883376"))
    record.append(MARC::DataField.new("245", "1", "0", ["a", "T"], MARC::Subfield.new("b", "é and ü /")))
    record.append(MARC::DataField.new("650", " ", "0", ["a", "Programming"]))
    record.append(MARC::DataField.new("650", " ", "1", ["a", "Languages"], ["a", "again"]))
    record.leader[9] = "a"
    record
  end

  def test_a_record_has_the_habits_of_ruby_marc
    r = record
    assert_equal 24, r.leader.length
    assert_equal "T", r["245"]["a"]
    assert_nil r["999"]
    assert_nil r["245"]["x"]
    assert_equal %w[Programming Languages], r.fields("650").map { |field| field["a"] }
    assert_equal %w[245 650 650], r.fields(%w[650 245]).map(&:tag)
    assert_equal 2, r.fields("600".."699").length
    assert_equal %w[001 245 650], r.tags
    assert_equal %w[001 245 650 650], r.map(&:tag)
    assert_equal "245 10 $a T $b é and ü / ", r["245"].to_s
    assert_equal "001 12883376", r["001"].to_s
    assert_equal %w[a again], [r.fields("650")[1].codes[0], r.fields("650")[1].subfields[1].value]
    assert_equal "Té and ü /", r["245"].value
    assert r =~ /Programming/
    assert_predicate r, :valid?
    assert_equal r, MARC::Record.new_from_hash(r.to_hash)
    assert_equal r, MARC::Record.new_from_marchash(r.to_marchash)
    copy = r.dup
    copy["245"].subfields[0].value = "other"
    assert_equal "T", r["245"]["a"]
  end

  # Objects whose variables are laid out differently.
  def test_odd_objects_are_written_as_they_are
    expected = MARC.load_all(MARC.dump([record, record]))
    bytes = MARC.dump(expected)
    odd = lambda do |change|
      found = MARC.load_all(bytes)
      found.each { |r| r.fields.each { |field| change.call(field) } }
      found
    end
    subfields = ->(field) { field.respond_to?(:subfields) ? field.subfields : [] }
    [
      ->(field) { field.instance_variable_set(:@more, 1) },
      ->(field) { subfields[field].each_with_index { |part, index| part.instance_variable_set(:@more, 1) if index.even? } },
      ->(field) { field.define_singleton_method(:extra) { 1 } },
      ->(field) { subfields[field].first&.define_singleton_method(:extra) { 1 } },
      ->(field) { field.tag = field.remove_instance_variable(:@tag) },
      ->(field) { subfields[field].each { |part| part.code = part.remove_instance_variable(:@code) } },
      ->(field) { 9.times { |index| field.instance_variable_set(:"@odd#{index}", index) } }
    ].each do |change|
      changed = odd[change]
      [MARC, MARC::XML, MARC::JSON].each { |codec| assert_equal codec.dump(expected), codec.dump(changed) }
      assert_equal expected, changed
    end
    classes = [Class.new(MARC::DataField), Class.new(MARC::Subfield)]
    made = MARC::Record.new
    made.leader = expected[0].leader
    expected[0].fields.each do |field|
      next made.append(field) unless field.is_a?(MARC::DataField)

      parts = field.subfields.map { |part| classes[1].new(part.code, part.value) }
      made.append(classes[0].new(field.tag, field.indicator1, field.indicator2, *parts))
    end
    assert_equal MARC.dump(expected[0]), MARC.dump(made)
    assert_raises(Regauge::EncodeError) { MARC.dump([made, 5]) }
    made.fields[0].remove_instance_variable(:@tag)
    assert_raises(Regauge::EncodeError) { MARC.dump([expected[1], made]) }
    assert_equal MARC.dump(expected[1]), MARC.dump(expected[1]), "a failure leaves nothing behind"
  end

  def test_records_go_through_every_format
    r = record
    Regauge::MARC_FORMATS.each_value do |codec|
      bytes = codec.dump([r, r])
      found = codec.load_all(bytes)
      assert_equal 2, found.length
      assert_equal r.fields, found[0].fields
      assert_equal bytes, codec.dump(found), "read, touched and written"
      assert_equal bytes, codec.dump(codec.load_all(bytes)), "read and written"
      assert_equal bytes, codec.dump([r.to_hash, r.to_hash]), "as hashes"
      assert_equal found, codec.each(StringIO.new(bytes)).to_a
    end
    assert_equal r.fields, MARC.load(r.to_marc).fields
    [Regauge::JSON, Regauge::MessagePack, Regauge::CBOR, Regauge::YAML].each do |codec|
      assert_equal r, MARC::Record.new_from_hash(codec.load(codec.dump(r)))
    end
    assert_equal r, Marshal.load(Marshal.dump(r))
  end

  def test_a_record_that_was_changed_is_written_changed
    bytes = record.to_marc
    found = MARC.load(bytes)
    found.leader[5] = "c"
    assert_equal "c", MARC.load(found.to_marc).leader[5]
    found["245"].subfields[0].value = "changed"
    found.append(MARC::DataField.new("999", " ", " ", %w[a new]))
    again = MARC.load(found.to_marc)
    assert_equal ["changed", "new", "c"], [again["245"]["a"], again["999"]["a"], again.leader[5]]
  end

  def test_what_cannot_be_a_record_is_refused
    r = record
    r["245"].subfields[0].value = 7
    error = assert_raises(Regauge::EncodeError) { r.to_marc }
    assert_match(/245/, error.message)
    assert_raises(Regauge::EncodeError) { MARC.dump(Object.new) }
    r["245"].subfields[0].value = "x" * 10_000
    assert_raises(Regauge::EncodeError) { r.to_marc }
    refute_empty r.to_marc(oversize: true)
    assert_raises(Regauge::DecodeError) { MARC.load("") }
  end

  def test_broken_records_stop_or_are_passed_over_and_kept
    good = record.to_marc
    broken = good.dup
    broken.setbyte(12, "x".ord)
    bytes = good + broken + good
    error = assert_raises(Regauge::DecodeError) { MARC.each(bytes).to_a }
    assert_equal 2, error.record
    assert_operator error.offset, :>=, good.bytesize
    Tempfile.create("marc") do |file|
      file.binmode
      file.write(bytes)
      file.close
      reader = MARC::Reader.new(file.path, bad: :skip)
      assert_equal 2, reader.to_a.length
      assert_equal [2], reader.bad_records.map { |bad| bad.error.record }
      assert_equal broken, reader.bad_records[0].bytes
    end
    seen = []
    assert_equal 2, MARC.each(StringIO.new(bytes), on_bad: ->(bad) { seen << bad }).to_a.length
    assert_equal [broken], seen.map(&:bytes)
  end

  def test_writers_write_files
    Dir.mktmpdir do |folder|
      { MARC::Writer => MARC::Reader, MARC::XMLWriter => MARC::XMLReader, MARC::JSONLWriter => MARC::JSONLReader }.each do |writer, reader|
        path = File.join(folder, writer.name.split("::").last)
        writer.new(path) { |to| 3.times { to.write(record) } }
        assert_equal [record.fields] * 3, reader.new(path).map(&:fields)
        File.open(path, "rb") { |io| assert_equal 3, reader.new(io).count }
        writer.new(path).close
        assert_equal 0, reader.new(path).count unless writer == MARC::Writer && File.empty?(path)
      end
    end
  end

  def test_parallel_reading_keeps_the_order
    bytes = (1..2000).map { |number| record.tap { |r| r["001"].value = number.to_s }.to_marc }.join
    [1, 2, 4].each do |jobs|
      assert_equal (1..2000).map(&:to_s), MARC.each(StringIO.new(bytes), jobs: jobs).map { |r| r["001"].value }
      assert_equal (1..2000).map(&:to_s), MARC.each(bytes, jobs: jobs).map { |r| r["001"].value }
    end
    broken = bytes.dup
    broken.setbyte(bytes.byteslice(0, 5).to_i + 12, "x".ord)
    assert_equal 1999, MARC.each(broken, jobs: 3, bad: :skip).count
    assert_raises(Regauge::DecodeError) { MARC.each(broken, jobs: 3).count }
  end

  def test_real_files_come_back_with_the_same_bytes
    files = Dir[File.join(data("marc/binary"), "{miku,gkearney,traject,edsu,perl4lib,pkiraly}*", "**", "*")].select { |path| File.file?(path) }
    refute_empty files
    same = records = 0
    files.first(60).each do |path|
      MARC.each(path, path: true, bad: :skip) do |found|
        untouched = MARC.dump(found)
        found.fields
        assert_equal untouched, MARC.dump(found), path
        records += 1
        same += 1
      rescue Regauge::EncodeError
        records += 1
      end
    end
    assert_operator records, :>, 100
    assert_operator same, :>, records * 0.95
  end

  def test_real_records_of_ruby_marc
    library = ENV["RUBY_MARC_LIB"] or skip "no ruby-marc: set RUBY_MARC_LIB to its lib"
    script = <<~'RUBY'
      require "marc"
      require "regauge"
      files = Dir[File.join(ARGV[0], "marc/binary/{miku,gkearney,traject}*", "**", "*")].select { |path| File.file?(path) }
      count = 0
      files.each do |path|
        begin
          theirs = ::MARC::Reader.new(path, external_encoding: "UTF-8").to_a
        rescue StandardError
          next
        end
        ours = Regauge::MARC::Reader.new(path, as: ::MARC::Record, bad: :skip).to_a
        next unless ours.length == theirs.length
        theirs.zip(ours) do |their, our|
          raise path unless our.instance_of?(::MARC::Record) && our.fields.instance_of?(::MARC::FieldMap)
          next unless their.to_s.valid_encoding? && their.leader.ascii_only? && their.leader[9] == "a"
          raise "#{path}: #{their.to_hash.inspect} #{our.to_hash.inspect}" unless their == our && their.fields == our.fields
          raise path unless ::MARC::Writer.encode(our) == ::MARC::Writer.encode(their)
          raise path unless our.to_hash == their.to_hash
          count += 1
        end
      end
      print count
    RUBY
    output = IO.popen([RbConfig.ruby, "-W0", "-I#{library}", "-I#{File.dirname($LOADED_FEATURES.find { |path| path.end_with?("/regauge.rb") })}", "-e", script, data("")], err: %i[child out], &:read)
    assert_operator output.to_i, :>, 100, output
  end

  def test_objects_that_were_read_are_like_those_that_were_made
    fields = [{ "001" => "x" }, { "245" => { "ind1" => "1", "ind2" => " ", "subfields" => [{ "a" => "y" }, { "b" => "z" }] } }]
    bytes = Regauge::MARC.dump([{ "leader" => "00000nam a2200000 a 4500", "fields" => fields }] * 3)
    Regauge::MARC.each(bytes) do |record|
      control, data = record.fields.to_a
      made = Regauge::MARC::DataField.new("245", "1", " ", %w[a y], %w[b z])
      [[control, Regauge::MARC::ControlField.new("001", "x")], [data, made], data.subfields.zip(made.subfields)[1]].each do |read, own|
        assert_equal own.instance_variables, read.instance_variables
        assert_equal own.instance_variables.map { |name| own.instance_variable_get(name).class },
                     read.instance_variables.map { |name| read.instance_variable_get(name).class }
        read.instance_variable_set(:@more, [1])
        copy = read.clone
        assert_equal [1], copy.instance_variable_get(:@more)
        assert_equal own, Marshal.load(Marshal.dump(copy))
        copy.remove_instance_variable(:@more)
        assert_equal own.instance_variables, copy.instance_variables
        refute copy.frozen?
      end
      data.tag = "246"
      assert_equal %w[001 246], record.fields.tag_list
      assert_equal({ "001" => [0], "246" => [1] }, record.fields.tags)
    end
  end

  def test_a_copy_of_a_record_that_was_read_leaves_both_whole
    bytes = MARC.dump([record, record])
    [->(r) { r.dup }, ->(r) { r.clone }, ->(r) { r.clone(freeze: true) }].each do |copy|
      one, two = MARC.load_all(bytes)
      copied = copy[one]
      assert_equal two, copied
      assert_equal two, one
      assert_equal bytes, MARC.dump([copied, one])
      copied["245"].indicator1 = "7" unless copied.frozen?
      assert_equal "1", one["245"].indicator1
    end
    # One that has another's source, before and after the other's fields were created.
    one, two = MARC.load_all(bytes)
    other = MARC::Record.allocate
    other.leader = one.leader
    other.instance_variable_set(:@fields, one.instance_variable_get(:@fields))
    assert_equal MARC.dump(two), MARC.dump(other)
    assert_equal two.fields, one.fields
    assert_raises(ArgumentError) { other.fields }
    assert_raises(Regauge::EncodeError) { MARC.dump(other) }
  end

  def test_the_memory_of_a_record_is_used_again
    sizes = [1, 300, 2, 40, 1, 3000, 1]
    bytes = sizes.map do |size|
      long = record
      (size / 10).times { |index| long.append(MARC::DataField.new("650", (index % 10).to_s, "é", ["a", "x" * (size % 97)], ["é", index.to_s])) }
      long.append(MARC::ControlField.new("009", "y" * size))
      long.to_marc
    end
    whole = MARC.load_all(bytes.join)
    # Some are read immediately, some later, so that memory is reused back and forth.
    [[0, 2, 4], [1, 5], (0..6).to_a].each do |early|
      found = []
      MARC.each(bytes.join) { |r| r.fields if early.include?(found.push(r).length - 1) }
      assert_equal bytes, found.map { |r| MARC.dump(r) }
      assert_equal whole, found
    end
  end

  def test_indicators_are_set_one_by_one
    first, second = MARC.load(MARC.dump(record)).fields("650")
    first.indicator1 = "9"
    first.indicator2 = nil
    assert_equal ["9", nil, " ", "1"], [first.indicator1, first.indicator2, second.indicator1, second.indicator2]
    assert_equal "650 9 $a Programming ", first.to_s
    made = MARC::DataField.new("650", nil, "0")
    assert_equal [" ", "0"], [made.indicator1, made.indicator2]
    made.indicator1 = "ab"
    assert_equal "ab", made.indicator1
    copy = made.dup
    copy.indicator2 = "5"
    assert_equal %w[0 5], [made.indicator2, copy.indicator2]
  end

  def test_a_record_that_nobody_touched_is_written_by_its_bytes
    reader = ->(bytes, **options) { Regauge::MARC.load_all(bytes, **options) }
    fields = [{ "001" => "é" }, { "245" => { "ind1" => "1", "ind2" => " ", "subfields" => [{ "a" => "ü" }] } }]
    bytes = Regauge::MARC.dump([{ "leader" => "00000nam a2200000 a 4500", "fields" => fields }] * 2)
    { {} => bytes, { write_charset: :marc8 } => nil, { write_charset: :utf8 } => bytes }.each do |options, expected|
      touched = Regauge::MARC.dump(reader[bytes].each(&:fields), **options)
      assert_equal touched, Regauge::MARC.dump(reader[bytes], **options)
      assert_equal expected, touched if expected
    end
    ["00000nam  2200000 a 4500", "00000cam a2200000 a 4500", "99999nam a2299999 a 4500"].each do |leader|
      change = ->(record) { record.leader = leader }
      touched = reader[bytes].each(&:fields).each(&change)
      assert_equal Regauge::MARC.dump(touched), Regauge::MARC.dump(reader[bytes].each(&change)), leader
    end
    change = ->(record) { record.leader = "short" }
    messages = [reader[bytes].each(&:fields), reader[bytes]].map do |records|
      assert_raises(Regauge::EncodeError) { Regauge::MARC.dump(records.each(&change)) }.message
    end
    assert_equal(*messages)
    large = { limits: { record_bytes: 40 } }
    messages = [reader[bytes].each(&:fields), reader[bytes]].map do |records|
      assert_raises(Regauge::LimitError) { Regauge::MARC.dump(records, **large) }.message
    end
    assert_equal(*messages)
  end
end
