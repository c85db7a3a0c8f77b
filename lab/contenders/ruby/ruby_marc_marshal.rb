# contender: ruby-marc (marshal)
# library: marc
# runtimes: ruby jruby
# format: marshal
# made from: json
# gives: record
# only: marc
# gem: marc
# install: gem install marc
# untrusted: runs code: never load bytes that you did not write
# MARC::Record objects through Ruby's own format. This process writes the reference bytes
# itself, from the MARC-in-JSON lines.
require "marc"

module Contender
  def self.decode(data) = Marshal.load(data)
  def self.encode(record) = Marshal.dump(record)
  def self.from_plain(hash) = MARC::Record.new_from_hash(hash)
  def self.to_plain(record) = record.to_hash
  def self.version = "#{MARC::VERSION}, Marshal of Ruby #{RUBY_VERSION}"
end
