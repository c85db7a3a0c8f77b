# frozen_string_literal: true

module Regauge
  module Compat
    module Psych
      # @api private
      module Visitor
        # Returns what builds the objects of nodes for `unsafe_load`, `load_stream` and `to_ruby`.
        def create(symbolize_names: false, freeze: false, **options)
          classes = DataClasses.new
          scanner = ::Psych::ScalarScanner.new(classes, **options)
          new(scanner, classes, symbolize_names: symbolize_names, freeze: freeze)
        end
      end
    end
  end
end
