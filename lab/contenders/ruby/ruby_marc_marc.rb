# contender: ruby-marc (marc)
# library: marc
# usual: yes
# runtimes: ruby jruby
# format: marc
# gives: record
# gem: marc
# install: gem install marc
# stand-in: marc
# untrusted: safe
# MARC::Reader over the bytes, MARC::Writer.encode of each record.
require_relative "../../stand-ins/marc"
require "stringio"

module Contender
  def self.decode_stream(data)
    MARC::Reader.new(StringIO.new(data), external_encoding: "UTF-8").each
  end

  def self.encode_stream(records)
    out = String.new(encoding: Encoding::BINARY)
    records.each { |record| out << MARC::Writer.encode(record).b }
    out
  end

  def self.version = MARC::VERSION
end
