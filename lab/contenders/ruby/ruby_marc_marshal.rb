# contender: ruby-marc (marshal)
# library: marc
# runtimes: ruby jruby
# format: marshal
# made from: json
# gives: record
# only: marc
# gem: marc
# install: gem install marc
# stand-in: marc
# untrusted: runs code: never load bytes that you did not write
# MARC::Record objects through Ruby's own format. This process writes the reference bytes itself,
# from records as the gem reads them from MARC 21: each tag and code is a separate binary String
# there, while those of a hash share their Strings, which Marshal writes once.
require_relative "../../stand-ins/marc"

module Contender
  def self.decode(data) = Marshal.load(data)
  def self.encode(record) = Marshal.dump(record)

  def self.from_plain(hash)
    bytes = MARC::Writer.encode(MARC::Record.new_from_hash(hash))
    record = MARC::Reader.decode(bytes, external_encoding: "UTF-8")
    # The writer has filled in the lengths.
    record.leader = hash["leader"].b
    record
  end

  def self.to_plain(record) = record.to_hash
  def self.version = "#{MARC::VERSION}, Marshal of Ruby #{RUBY_VERSION}"
end
