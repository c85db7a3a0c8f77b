# contender: oj (object)
# library: oj
# not on jruby: a C extension
# format: json
# gives: data
# gem: oj
# debian: ruby-oj
# install: apt-get install ruby-oj, or gem install oj
# avoids: "^
# not on jruby: a C extension
# untrusted: makes objects: of any class that the document names
# Oj's default mode, which writes any object and reads it back. Plain data is JSON, except for text
# that begins with ":", which it reads as a symbol, and keys that begin with "^", which name
# classes: it does not get any.
require "oj"

module Contender
  def self.decode(data) = Oj.object_load(data)
  def self.encode(value) = Oj.dump(value, mode: :object)
  def self.version = Oj::VERSION
end
