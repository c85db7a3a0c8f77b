# contender: cbor
# library: cbor
# usual: yes
# not on jruby: a C extension
# format: cbor
# gives: data
# gem: cbor
# debian: ruby-cbor
# install: apt-get install ruby-cbor, or gem install cbor
# not on jruby: a C extension
# untrusted: safe
# `decode` and `encode` of the gem, which is by the author of the format.
require "cbor"

module Contender
  def self.decode(data) = CBOR.decode(data)
  def self.encode(value) = CBOR.encode(value)
  def self.version = CBOR::VERSION
end
