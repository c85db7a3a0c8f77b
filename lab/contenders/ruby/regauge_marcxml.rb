# contender: regauge (marcxml)
# library: regauge
# usual: yes
# format: marcxml
# gives: record
# install: the Ruby gem of regauge (bindings/ruby)
# not on jruby: an extension in Rust
# untrusted: safe
# Regauge::MARC::XMLReader over the bytes, XMLWriter. Every subfield is accessed, as in regauge
# (marc).
require "regauge"
require "stringio"

module Contender
  def self.decode_stream(data)
    Enumerator.new do |records|
      Regauge::MARC::XMLReader.new(StringIO.new(data)).each do |record|
        record.each { |field| field.is_a?(Regauge::MARC::DataField) ? field.subfields : field.value }
        records << record
      end
    end
  end

  def self.encode_stream(records)
    out = StringIO.new(String.new(encoding: Encoding::BINARY))
    writer = Regauge::MARC::XMLWriter.new(out)
    records.each { |record| writer.write(record) }
    writer.close
    out.string
  end

  def self.version = Regauge::VERSION
end
