# contender: bson
# library: bson
# usual: yes
# runtimes: ruby jruby
# format: bson
# runtimes: ruby jruby
# gives: data
# gem: bson
# debian: ruby-bson
# install on jruby: jruby -S gem install bson
# install: apt-get install ruby-bson, or gem install bson
# install on jruby: jruby -S gem install bson
# untrusted: safe
# MongoDB's own gem: documents become BSON::Document, a Hash.
require "bson"

module Contender
  def self.decode(data) = BSON::Document.from_bson(BSON::ByteBuffer.new(data))
  def self.encode(value) = value.to_bson.to_s
  def self.version = BSON::VERSION
end
