# contender: regauge (bson)
# library: regauge
# usual: yes
# format: bson
# gives: data
# install: the Ruby gem of regauge (bindings/ruby)
# not on jruby: an extension in Rust
# untrusted: safe
# `load` and `dump` with their defaults.
require "regauge"

module Contender
  def self.decode(data) = Regauge::BSON.load(data)
  def self.encode(value) = Regauge::BSON.dump(value)
  def self.version = Regauge::VERSION
end
