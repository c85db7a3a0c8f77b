# contender: psych (safe_load)
# library: psych
# usual: yes
# runtimes: ruby jruby
# format: yaml
# yaml: psych
# pace: 800 kB/s
# runtimes: ruby jruby
# gives: data
# install: comes with Ruby
# untrusted: safe
# `YAML.safe_load`, with aliases and with the classes that plain data needs: times and symbols.
require "date"
require "yaml"

module Contender
  CLASSES = [Date, Symbol, Time].freeze

  def self.decode(data) = YAML.safe_load(data, permitted_classes: CLASSES, aliases: true)
  def self.encode(value) = YAML.dump(value)

  def self.version
    return Psych::VERSION unless defined?(Psych::LIBYAML_VERSION)
    "#{Psych::VERSION} with libyaml #{Psych::LIBYAML_VERSION}"
  end
end
