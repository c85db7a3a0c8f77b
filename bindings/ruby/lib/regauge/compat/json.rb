# frozen_string_literal: true

# The json gem's interface over regauge: JSON.parse, JSON.generate, to_json and the like.
#
#   require "regauge/compat/json"
#   JSON.parse(text, symbolize_names: true)
#
# regauge reads and writes plain documents. Objects with a `to_json` of their own, other options and all
# errors are json's, from the beginning: so a result never differs. `create_additions: true` builds only
# classes that hold data, and those of `Regauge::Compat.permit`.

require "json"
require "regauge/compat"
if JSON::VERSION.to_i > 2
  raise LoadError, "regauge/compat/json stands in for version 2 of the gem json, found #{JSON::VERSION}; " \
                   "use Regauge::JSON"
end
require "regauge/compat/json/plain"

module Regauge
  module Compat
    # The json gem over regauge.
    module JSON
      # The methods that stand before json's: in `json/calls.rb`.
      module Calls; end
      # The same as private methods of what includes `JSON`.
      module Included; end
      # The method `to_json` of arrays and hashes.
      module ToJSON; end
    end

    add(
      "json",
      Part.new(JSON::Calls, "json/calls.rb", ::JSON.singleton_class),
      Part.new(JSON::Included, "json/included.rb", ::JSON),
      Part.new(JSON::ToJSON, "json/to_json.rb", ::Array, ::Hash, before: false)
    )
  end
end
