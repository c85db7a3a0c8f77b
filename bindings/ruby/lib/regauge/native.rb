# frozen_string_literal: true

module Regauge
  # The extension.
  #
  # @api private
  module Native
  end
end

require "regauge/native.so"
