# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "tempfile"
require "tmpdir"
require "bigdecimal"
require "regauge"

# Shared by the tests.
module Helper
  ROOT = File.expand_path("../../..", __dir__)

  # The real data, which `make data` fetches.
  DATA = File.join(ROOT, "build", "data")

  # @return [String] the path of a real data file; without the data the test is skipped, or fails
  #   with CI=true
  def data(path)
    missing("#{DATA} does not exist: `make data` gets it") unless File.directory?(DATA)
    File.join(DATA, path)
  end

  # Skips a test that lacks something, or lets it fail with CI=true.
  def missing(message)
    ENV["CI"] == "true" ? flunk(message) : skip(message)
  end

  # Values that every format except MARC can hold.
  PLAIN = {
    "nothing" => nil, "truths" => [true, false], "small" => 1, "below" => -1,
    "widths" => [0, 23, 24, 127, 128, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1],
    "negative" => [-1, -24, -25, -32, -33, -128, -129, -32_768, -32_769, -2**31, -2**31 - 1, -2**63],
    "floats" => [0.0, -0.0, 1.0, 0.1, -1.5, 1e300, 5e-324, 1.7976931348623157e308, 1.7272337110188893e-77],
    "text" => ["", "a", "naïve", "\u{1F600}", "a" * 31, "a" * 32, "a" * 1000, "line\nbreak", "\"quoted\"", "tab\t", "\u0000"],
    "nested" => { "list" => [[], {}, [[[]]]], "map" => { "a" => { "b" => {} } } },
    "many" => (0..20).to_h { |index| ["key #{index}", index] }
  }.freeze

  # Returns the value without its `nil`s if the format has none.
  def fitting(name, value)
    return value unless name == :toml

    case value
    when Hash then value.compact.transform_values { |inner| fitting(name, inner) }
    when Array then value.compact.map { |inner| fitting(name, inner) }
    else value
    end
  end

  # Whether two values are identical, distinguishing -0.0 and number types.
  def assert_same_value(expected, found)
    assert_equal expected.inspect, found.inspect
  end
end
