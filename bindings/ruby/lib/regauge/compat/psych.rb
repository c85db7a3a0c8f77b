# frozen_string_literal: true

# Psych's interface over regauge: YAML.load, YAML.dump and the like.
#
#   require "regauge/compat/psych"
#   YAML.safe_load_file("config.yml", symbolize_names: true)
#
# regauge reads and writes plain documents. Nodes, events, documents with tags, aliases, merges, dates,
# other options and all errors are Psych's, from the beginning: so a result never differs. Only classes
# that hold data, and those of `Regauge::Compat.permit`, are built where Psych would build any.

require "yaml"
require "regauge/compat"
require "regauge/compat/psych/plain"

module Regauge
  module Compat
    # Psych over regauge.
    module Psych
      # Raised for a class that a document names in `unsafe_load`, `load_stream` or `to_ruby`.
      class UnsafeClass < ::Psych::DisallowedClass
        # @param name [String] the class
        def initialize(name)
          super("load", name)
          @name = name
        end

        # @return [String]
        def to_s
          "#{super}: regauge/compat/psych builds only classes that hold data; list it with " \
            "Regauge::Compat.permit(#{@name}), or in permitted_classes: of safe_load"
        end
      end

      # Finds the classes that only hold data, and those that the program has listed or has given a tag.
      #
      # @api private
      class DataClasses < ::Psych::ClassLoader
        private

        def find(name)
          return super if Compat.permitted?(name) || ::Psych.load_tags.value?(name)

          raise UnsafeClass, name
        end
      end

      # The methods that stand before Psych's: in `psych/calls.rb`.
      module Calls; end
      # The method that stands before `Psych::Visitors::ToRuby.create`.
      module Visitor; end
    end

    add(
      "psych",
      Part.new(Psych::Calls, "psych/calls.rb", ::Psych.singleton_class),
      Part.new(Psych::Visitor, "psych/visitor.rb", ::Psych::Visitors::ToRuby.singleton_class)
    )
  end
end
