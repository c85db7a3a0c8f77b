# contender: regauge (marc)
# library: regauge
# usual: yes
# format: marc
# gives: record
# install: the Ruby gem of regauge (bindings/ruby)
# not on jruby: an extension in Rust
# untrusted: safe
# Regauge::MARC::Reader over the bytes, Regauge::MARC.dump of each record. A record keeps its bytes and
# takes a field apart when it is touched; ruby-marc has all of it in hand after reading, so every
# subfield is touched here, within the time.
require "regauge"
require "stringio"

module Contender
  def self.decode_stream(data)
    Regauge::MARC::Reader.new(StringIO.new(data)).each.map do |record|
      record.each { |field| field.is_a?(Regauge::MARC::DataField) ? field.subfields : field.value }
      record
    end
  end

  def self.encode_stream(records)
    out = String.new(encoding: Encoding::BINARY)
    records.each { |record| out << Regauge::MARC.dump(record) }
    out
  end

  def self.version = Regauge::VERSION
end
