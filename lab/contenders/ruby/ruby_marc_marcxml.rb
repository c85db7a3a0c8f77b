# contender: ruby-marc (marcxml)
# library: marc
# usual: yes
# runtimes: ruby jruby
# format: marcxml
# gives: record
# gem: marc
# install: gem install marc
# untrusted: safe
# XMLReader with the parser that the gem prefers (Nokogiri if installed, else REXML) and the gem's
# fast writer, UnsafeXMLWriter.
require "marc"
require "stringio"

module Contender
  PARSER = MARC::XMLReader.best_available

  def self.decode_stream(data)
    MARC::XMLReader.new(StringIO.new(data), parser: PARSER).each
  end

  def self.encode_stream(records)
    out = +MARC::UnsafeXMLWriter::XML_HEADER
    out << MARC::UnsafeXMLWriter.open_collection
    records.each { |record| out << MARC::UnsafeXMLWriter.encode(record, include_namespace: false) }
    out << "</collection>"
  end

  def self.version = "#{MARC::VERSION} with #{PARSER}"
end
