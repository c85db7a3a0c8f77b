# contender: regauge (yaml)
# library: regauge
# usual: yes
# format: yaml
# gives: data
# install: the Ruby gem of regauge (bindings/ruby)
# not on jruby: an extension in Rust
# untrusted: safe
# `load` and `dump` with their defaults.
require "regauge"

module Contender
  def self.decode(data) = Regauge::YAML.load(data)
  def self.encode(value) = Regauge::YAML.dump(value)
  def self.version = Regauge::VERSION
end
