# contender: regauge (json)
# library: regauge
# usual: yes
# format: json
# gives: data
# install: the Ruby gem of regauge (bindings/ruby)
# not on jruby: an extension in Rust
# untrusted: safe
# `load` and `dump` with their defaults.
require "regauge"

module Contender
  def self.decode(data) = Regauge::JSON.load(data)
  def self.encode(value) = Regauge::JSON.dump(value)
  def self.version = Regauge::VERSION
end
