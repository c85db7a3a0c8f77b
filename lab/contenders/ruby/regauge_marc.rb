# contender: regauge (marc)
# library: regauge
# usual: yes
# format: marc
# gives: record
# install: the Ruby gem of regauge (bindings/ruby)
# not on jruby: an extension in Rust
# untrusted: safe
# Regauge::MARC::Reader over the bytes, Regauge::MARC.dump of each record. A record keeps its bytes
# and parses fields on first access; ruby-marc parses everything up front, so every subfield is
# accessed here, within the time.
require "regauge"
require "stringio"

module Contender
  def self.decode_stream(data)
    Enumerator.new do |records|
      Regauge::MARC::Reader.new(StringIO.new(data)).each do |record|
        record.each { |field| field.is_a?(Regauge::MARC::DataField) ? field.subfields : field.value }
        records << record
      end
    end
  end

  def self.encode_stream(records)
    out = String.new(encoding: Encoding::BINARY)
    records.each { |record| out << Regauge::MARC.dump(record) }
    out
  end

  def self.version = Regauge::VERSION
end
