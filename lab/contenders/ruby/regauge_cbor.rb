# contender: regauge (cbor)
# library: regauge
# usual: yes
# format: cbor
# gives: data
# install: the Ruby gem of regauge (bindings/ruby)
# not on jruby: an extension in Rust
# untrusted: safe
# `load` and `dump` with their defaults.
require "regauge"

module Contender
  def self.decode(data) = Regauge::CBOR.load(data)
  def self.encode(value) = Regauge::CBOR.dump(value)
  def self.version = Regauge::VERSION
end
