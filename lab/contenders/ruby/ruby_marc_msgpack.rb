# contender: ruby-marc (msgpack)
# library: marc
# usual: yes
# runtimes: ruby jruby
# format: msgpack
# gives: record
# only: marc
# gem: marc msgpack
# debian: ruby-msgpack
# install: gem install marc msgpack
# stand-in: marc
# untrusted: safe
# The gem's hash form through MessagePack.
require_relative "../../stand-ins/marc"
require "msgpack"

module Contender
  FACTORY = MessagePack::Factory.new
  CODER = FACTORY.respond_to?(:pool) ? FACTORY.pool(1) : FACTORY

  def self.decode(data) = MARC::Record.new_from_hash(CODER.load(data))
  def self.encode(record) = CODER.dump(record.to_hash)
  def self.version = "#{MARC::VERSION}, msgpack #{MessagePack::VERSION}"
end
