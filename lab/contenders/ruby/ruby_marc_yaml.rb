# contender: ruby-marc (yaml)
# library: marc
# runtimes: ruby jruby
# format: yaml
# yaml: psych
# pace: 800 kB/s
# runtimes: ruby jruby
# gives: record
# only: marc
# gem: marc
# install: gem install marc
# stand-in: marc
# untrusted: safe
# The gem's hash form through Psych.
require_relative "../../stand-ins/marc"
require "yaml"

module Contender
  def self.decode(data) = MARC::Record.new_from_hash(YAML.safe_load(data, aliases: true))
  def self.encode(record) = YAML.dump(record.to_hash)
  def self.version = "#{MARC::VERSION}, psych #{Psych::VERSION}"
end
