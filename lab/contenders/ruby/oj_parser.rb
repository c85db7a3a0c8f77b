# contender: oj (Parser)
# library: oj
# usual: yes
# not on jruby: a C extension
# format: json
# gives: data
# gem: oj
# debian: ruby-oj
# install: apt-get install ruby-oj, or gem install oj
# untrusted: safe
# Oj::Parser is Oj's newer parser, kept between calls, with its key cache enabled. It reads an
# integer of 19 digits or more, and a number of 16 digits or more with a point, as a BigDecimal; a
# negative one loses its digits. The check reveals it.
require "oj"

module Contender
  PARSER = Oj::Parser.new(:usual)
  PARSER.cache_keys = true

  def self.decode(data) = PARSER.parse(data)
  def self.encode(value) = Oj.dump(value, mode: :strict)
  def self.version = Oj::VERSION
end
