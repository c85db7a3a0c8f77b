# frozen_string_literal: true

# Runs ruby-marc's own tests against regauge/marc/compat:
#
#   RUBY_MARC=folder/of/ruby-marc ruby -Ilib test/ruby_marc_suite.rb
#
# Prints how many passed, and the names of the failures.

folder = ENV["RUBY_MARC"] or abort "skipped: RUBY_MARC names no copy of ruby-marc"
library = File.expand_path("../lib", __dir__)
$LOAD_PATH.unshift(library) unless ENV["REGAUGE_INSTALLED"]
require "regauge/marc/compat"
$LOADED_FEATURES.concat(%w[marc marc/marc8/to_unicode marc/xml_parsers].map { |name| "#{name}.rb" })
# Its tests also require library files by path, and a gem that silences warnings.
module Warning
  def self.ignore(*) = nil
end

module Kernel
  alias require_of_ruby_marc require

  def require(name)
    return false if name.to_s.match?(%r{\A(marc(/|\z)|warning\z)})

    require_of_ruby_marc(name)
  end
end

begin
  require_of_ruby_marc "test/unit"
rescue LoadError
  # Debian's Ruby has minitest; the few assertions with different names are here.
  require "minitest/autorun"
  module Test
    module Unit
      class TestCase < Minitest::Test
        alias assert_raise assert_raises
        def assert_not_nil(value, *rest) = refute_nil(value, *rest)
        def assert_not_equal(one, other, *rest) = refute_equal(one, other, *rest)
        def assert_nothing_raised(*) = yield
        def assert_not_empty(value, *rest) = refute_empty(value, *rest)
        def assert_true(value, *rest) = assert_equal(true, value, *rest)
        def assert_false(value, *rest) = assert_equal(false, value, *rest)
        def assert_block(*) = assert(yield)
      end
    end
  end
end

Dir.chdir(folder)
$LOAD_PATH.unshift(folder)
Dir["test/tc_*.rb", "test/marc8/tc_*.rb"].sort.each do |file|
  require_of_ruby_marc File.expand_path(file)
rescue LoadError => error
  warn "skipped: #{file}: #{error.message}"
end
