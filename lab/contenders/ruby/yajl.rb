# contender: yajl
# library: yajl-ruby
# not on jruby: a C extension
# format: json
# gives: data
# gem: yajl-ruby
# debian: ruby-yajl
# install: apt-get install ruby-yajl, or gem install yajl-ruby
# untrusted: safe
# The class methods, which create a parser and an encoder per document, as in the manual.
require "yajl"

module Contender
  def self.decode(data) = Yajl::Parser.parse(data)
  def self.encode(value) = Yajl::Encoder.encode(value)
  def self.version = Gem::Specification.find_by_name("yajl-ruby").version.to_s
end
