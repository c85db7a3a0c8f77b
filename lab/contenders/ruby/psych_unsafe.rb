# contender: psych (unsafe_load)
# library: psych
# runtimes: ruby jruby
# format: yaml
# yaml: psych
# pace: 800 kB/s
# runtimes: ruby jruby
# gives: data
# install: comes with Ruby
# untrusted: runs code: tags name classes, whose objects it makes
# The loader that instantiates any class: `YAML.load` before Psych 4.
require "date"
require "yaml"

module Contender
  LOAD = YAML.respond_to?(:unsafe_load) ? YAML.method(:unsafe_load) : YAML.method(:load)

  def self.decode(data) = LOAD.call(data)
  def self.encode(value) = YAML.dump(value)

  def self.version
    return Psych::VERSION unless defined?(Psych::LIBYAML_VERSION)
    "#{Psych::VERSION} with libyaml #{Psych::LIBYAML_VERSION}"
  end
end
