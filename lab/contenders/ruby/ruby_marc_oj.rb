# contender: ruby-marc (oj)
# library: marc
# usual: yes
# not on jruby: Oj is a C extension
# format: marc-json
# gives: record
# gem: marc oj
# debian: ruby-oj
# install: gem install marc oj
# stand-in: marc
# untrusted: safe
# The gem's hash form through Oj.
require_relative "../../stand-ins/marc"
require "oj"

module Contender
  def self.decode(data) = MARC::Record.new_from_hash(Oj.strict_load(data))
  def self.encode(record) = Oj.dump(record.to_hash, mode: :strict)
  def self.version = "#{MARC::VERSION}, oj #{Oj::VERSION}"
end
