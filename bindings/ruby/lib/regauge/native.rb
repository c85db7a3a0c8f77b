# frozen_string_literal: true

module Regauge
  # The extension.
  #
  # @api private
  module Native
  end
end

require "regauge/native.so"

# Only with -w, because the results are the same.
if $VERBOSE && Regauge::Native.untried?
  warn "regauge was not tested with the memory layout of Ruby #{RUBY_VERSION}: " \
       "it uses Ruby's public API, which is slower"
end
