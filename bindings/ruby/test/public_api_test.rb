# frozen_string_literal: true

require "helper"
require "open3"

# An unknown Ruby uses the public API, with a note under -w.
class PublicApiTest < Minitest::Test
  NOTE = "regauge was not tested with the memory layout of Ruby 3.99.0: it uses Ruby's public API, which is slower\n"
  UNKNOWN = 'Object.send(:remove_const, :RUBY_VERSION); RUBY_VERSION = "3.99.0"; '

  # Returns what a new Ruby prints and warns about when it loads the extension.
  def run_ruby(*flags, code: "", environment: {})
    environment = { "REGAUGE_PUBLIC_API" => nil }.merge(environment)
    code += 'require "regauge"; print Regauge::JSON.dump(Regauge::JSON.load(%([{"a":1},{"a":2},{"a":3}])))'
    paths = $LOAD_PATH.map { |path| "-I#{path}" }
    out, err, status = Open3.capture3(environment, RbConfig.ruby, *flags, *paths, "-e", code)
    assert status.success?, err
    assert_equal '[{"a":1},{"a":2},{"a":3}]', out
    err
  end

  def test_an_unknown_version
    assert_equal NOTE, run_ruby("-w", code: UNKNOWN)
    assert_empty run_ruby(code: UNKNOWN)
    assert_empty run_ruby("-w", code: UNKNOWN, environment: { "REGAUGE_PUBLIC_API" => "1" })
  end

  def test_a_known_version
    skip "another version" unless RUBY_VERSION.start_with?("3.1.", "3.3.")
    assert_empty run_ruby("-w")
  end
end
