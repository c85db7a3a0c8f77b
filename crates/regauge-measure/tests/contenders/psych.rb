# contender: test psych
# library: psych
# format: json
# gives: data
# install: pip install psych
# untrusted: safe
# Psych as it loads by default. The format in its head is not what it reads: the test says that.
require "yaml"

module Contender
  def self.decode(data) = YAML.load(data)
  def self.encode(value) = YAML.dump(value)
  def self.version = Psych::VERSION
end
