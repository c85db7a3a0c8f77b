# contender: ruby-marc (marshal of hash)
# library: marc
# runtimes: ruby jruby
# format: marshal
# runtimes: ruby jruby
# gives: record
# only: marc
# gem: marc
# install: gem install marc
# stand-in: marc
# untrusted: runs code: never load bytes that you did not write
# The gem's hash form through Ruby's own format: bytes that are independent of the gem's classes.
require_relative "../../stand-ins/marc"

module Contender
  def self.decode(data) = MARC::Record.new_from_hash(Marshal.load(data))
  def self.encode(record) = Marshal.dump(record.to_hash)
  def self.version = "#{MARC::VERSION}, Marshal of Ruby #{RUBY_VERSION}"
end
