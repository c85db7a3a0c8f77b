# contender: test psych_unsafe
# library: psych_unsafe
# format: json
# gives: data
# install: pip install psych_unsafe
# untrusted: safe
# Psych as it loads on demand. The format in its head is not what it reads: the test says that.
require "yaml"

module Contender
  def self.decode(data) = YAML.unsafe_load(data)
  def self.encode(value) = YAML.dump(value)
  def self.version = Psych::VERSION
end
