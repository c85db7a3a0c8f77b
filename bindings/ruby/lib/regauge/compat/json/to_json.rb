# frozen_string_literal: true

module Regauge
  module Compat
    module JSON
      # @api private
      module ToJSON
        def to_json(state = nil, depth = nil)
          text = Plain::COMPACT.dump(self) if state.nil? && depth.nil?
          return text if text

          depth.nil? ? super(state) : super
        end
      end
    end
  end
end
