# frozen_string_literal: true

module Regauge
  module Compat
    module BSON
      # @api private
      module Config
        def validating_keys=(value)
          super
        ensure
          Plain.look
        end
      end

      Plain.look
    end
  end
end
