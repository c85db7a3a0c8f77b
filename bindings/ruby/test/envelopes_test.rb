# frozen_string_literal: true

require "helper"
require "json"
require "tmpdir"

# Envelopes that frameworks made: taken off, named, and put back.
class EnvelopesTest < Minitest::Test
  R = Regauge
  CORPUS = File.expand_path("../../../corpus/envelopes", __dir__)
  HASH = { "id" => 7, "name" => "Ada", "price" => 2.5, "tags" => %w[a b], "in" => { "yes" => true, "none" => nil } }.freeze

  def made(path) = File.binread(File.join(CORPUS, path))

  def test_every_file_is_named
    opened = 0
    Dir[File.join(CORPUS, "*/expected.json")].each do |expected|
      JSON.parse(File.read(expected, encoding: "UTF-8"))["files"].each do |name, row|
        path = File.join(File.dirname(expected), name)
        if row.key?("error")
          assert_raises(R::Error, path) { R.open_envelope(File.binread(path)) }
          next
        end
        inside = R.open_envelope(File.binread(path))
        next assert_nil(inside, path) if row["layer"].nil?

        layer = inside.layers.last
        assert_equal [row["layer"], row["steps"], row["format"]], [layer[:name], layer[:steps], inside.format.to_s], path
        opened += 1
      end
    end
    assert_operator opened, :>, 100
  end

  def test_what_it_says_of_its_value
    inside = R.open_envelope(made("rails-7.1.6/7.1-hash.bin"))
    assert_equal [{ name: "rails-cache-7.1", title: "Rails.cache 7.1", steps: [], holds: :marshal,
                    expires: Time.utc(2096, 10, 2, 7, 6, 40), version: "v\u00e94" }], inside.layers
    assert_equal "Ada", R::Marshal.load(inside.data)["name"]
    assert_nil R.open_envelope('{"a": 1}')
    carried = R.open_envelope(made("activejob-7.1.6/sidekiq-retried.json"))
    assert_equal %w[sidekiq-job active-job], carried.layers.map { |layer| layer[:name] }
    assert_equal ["ReportJob", 2, "[IOError, EOFError] 2"], carried.layers[1].values_at(:class, :executions, :exceptions)
    assert_equal [7], R::JSON.load(carried.data)
  end

  def test_a_conversion_takes_it_off
    session = made("django-5.2.19/session-dict.txt")
    assert_equal HASH, JSON.parse(R.convert(session, to: :json))
    assert_equal HASH, JSON.parse(R.convert(session, from: :json, to: :json, envelope: :open))
    error = assert_raises(ArgumentError) { R.convert(session, to: :json, envelope: :none) }
    assert_equal "cannot detect the format from the bytes: pass from:", error.message
    Dir.mktmpdir do |folder|
      input, output = %w[in.txt out.json].map { |name| File.join(folder, name) }
      File.binwrite(input, session)
      assert_equal 1, R.convert_file(input, output)[:documents]
      assert_equal HASH, JSON.parse(File.read(output))
    end
  end

  def test_a_conversion_puts_it_back
    kept = R.convert(made("rails-7.1.6/7.1-hash.bin"), to: :msgpack, envelope: :keep, objects: :data)
    inside = R.open_envelope(kept)
    assert_equal ["rails-cache-7.1", :msgpack], [inside.layers.first[:name], inside.format]
    assert_equal HASH, R::MessagePack.load(inside.data)
    error = assert_raises(R::EncodeError) { R.convert(made("rails-7.1.6/7.1-hash.bin"), to: :json, envelope: :keep, objects: :data) }
    assert_match(/found JSON to put into Rails.cache 7.1/, error.message)
  end

  def test_an_input_without_one_is_refused
    error = assert_raises(R::DecodeError) { R.convert('{"a": 1}', to: :json, envelope: :open) }
    assert_match(/found no envelope, expected one of Rails.cache 7.1/, error.message)
  end

  def test_a_secret_opens_what_it_signed_or_encrypted
    checked = 0
    Dir[File.join(CORPUS, "*/expected.json")].each do |expected|
      JSON.parse(File.read(expected, encoding: "UTF-8"))["files"].each do |name, row|
        next unless row.key?("secret")

        path = File.join(File.dirname(expected), name)
        data = File.binread(path)
        keys = { secret: row["secret"], salt: row["salt"] }.compact
        inside = R.open_envelope(data, **keys)
        assert_equal "checked", inside.layers.first.fetch(:signature, "checked"), path
        assert_equal row["value"], R.load(inside.data, from: inside.format), path
        assert_equal row["value"], JSON.parse(R.convert(data, to: :json, **keys)), path
        keys[:secret] += "x"
        error = assert_raises(R::DecodeError, path) { R.convert(data, to: :json, **keys) }
        assert_match(/found a wrong signature|does not decrypt/, error.message)
        refute_includes error.message, row["secret"]
        checked += 1
      end
    end
    assert_operator checked, :>, 70
  end

  def test_a_secret_for_nothing_is_an_error
    error = assert_raises(R::DecodeError) { R.convert('{"a": 1}', to: :json, secret: "hush") }
    assert_match(/found nothing that is signed .*; read it without secret:/, error.message)
    assert_raises(R::DecodeError) { R.open_envelope('{"a": 1}', secret: "hush") }
    ["", 7, :hush, ["hush"]].each do |secret|
      error = assert_raises(ArgumentError) { R.convert("[]", from: :json, to: :json, secret: secret) }
      assert_equal "secret: takes a secret that is not empty, as bytes or text", error.message
    end
  end
end
