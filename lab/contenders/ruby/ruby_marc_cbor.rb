# contender: ruby-marc (cbor)
# library: marc
# not on jruby: cbor is a C extension
# format: cbor
# gives: record
# only: marc
# gem: marc cbor
# debian: ruby-cbor
# install: gem install marc cbor
# stand-in: marc
# not on jruby: a C extension
# untrusted: safe
# The gem's hash form through CBOR.
require_relative "../../stand-ins/marc"
require "cbor"

module Contender
  def self.decode(data) = MARC::Record.new_from_hash(CBOR.decode(data))
  def self.encode(record) = CBOR.encode(record.to_hash)
  def self.version = "#{MARC::VERSION}, cbor #{CBOR::VERSION}"
end
