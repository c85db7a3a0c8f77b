# contender: ruby-marc (bson)
# library: marc
# runtimes: ruby jruby
# format: bson
# runtimes: ruby jruby
# gives: record
# only: marc
# gem: marc bson
# debian: ruby-bson
# install: gem install marc bson
# stand-in: marc
# install on jruby: jruby -S gem install bson
# untrusted: safe
# The gem's hash form through BSON.
require_relative "../../stand-ins/marc"
require "bson"

module Contender
  def self.decode(data)
    MARC::Record.new_from_hash(BSON::Document.from_bson(BSON::ByteBuffer.new(data)))
  end

  def self.encode(record) = record.to_hash.to_bson.to_s
  def self.version = "#{MARC::VERSION}, bson #{BSON::VERSION}"
end
