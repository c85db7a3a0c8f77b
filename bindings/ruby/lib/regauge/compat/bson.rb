# frozen_string_literal: true

# The bson gem's interface over regauge: Hash#to_bson, Hash.from_bson and BSON::Document.from_bson.
#
#   require "regauge/compat/bson"
#   BSON::Document.from_bson({ "a" => 1 }.to_bson)
#
# regauge reads and writes documents of plain data, times, ObjectIds and binary data, which are Ruby's and bson's
# own classes. Other types, DBRef, options, buffers that are written to and all errors are bson's, from the beginning:
# so a result never differs.

begin
  require "bson"
rescue LoadError => error
  raise LoadError, "regauge/compat/bson passes what regauge does not do itself to the gem bson, which is not " \
                   "installed (#{error.message}); install it, or use Regauge::BSON"
end
require "regauge/compat"
require "regauge/compat/bson/plain"

module Regauge
  module Compat
    # The bson gem over regauge.
    module BSON
      # The method `to_bson` of hashes.
      module ToBSON; end
      # The method `from_bson` of Hash and BSON::Document.
      module FromBSON; end
      # The methods that stand before those of `BSON::Config`.
      module Config; end
    end

    add(
      "bson",
      Part.new(BSON::ToBSON, "bson/to_bson.rb", ::Hash, before: false),
      Part.new(BSON::FromBSON, "bson/from_bson.rb", ::Hash.singleton_class, before: false),
      Part.new(BSON::Config, "bson/config.rb", ::BSON::Config.singleton_class)
    )
  end
end
