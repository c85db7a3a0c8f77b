# contender: ruby-marc (json)
# library: marc
# usual: yes
# runtimes: ruby jruby
# format: marc-json
# gives: record
# gem: marc
# install: gem install marc
# stand-in: marc
# untrusted: safe
# What MARC::JSONLReader and JSONLWriter do per line, with the json gem.
require_relative "../../stand-ins/marc"
require "json"

module Contender
  def self.decode(data) = MARC::Record.new_from_hash(JSON.parse(data))
  def self.encode(record) = JSON.generate(record.to_hash)
  def self.version = "#{MARC::VERSION}, json #{JSON::VERSION}"
end
