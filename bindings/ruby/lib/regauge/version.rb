# frozen_string_literal: true

module Regauge
  # The version of the gem, and of its library.
  VERSION = "0.1.0"
end
