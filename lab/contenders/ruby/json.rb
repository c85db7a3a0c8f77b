# contender: json
# library: json
# usual: yes
# runtimes: ruby jruby
# format: json
# gives: data
# gem: json
# debian: ruby-json
# install: comes with Ruby
# untrusted: safe
# The json gem. `parse` and `generate` create no objects of user classes.
require "json"

module Contender
  def self.decode(data) = JSON.parse(data)
  def self.encode(value) = JSON.generate(value)
  def self.version = JSON::VERSION
end
