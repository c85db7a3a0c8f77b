# contender: oj (compat)
# library: oj
# not on jruby: a C extension
# format: json
# gives: data
# gem: oj
# debian: ruby-oj
# install: apt-get install ruby-oj, or gem install oj
# not on jruby: a C extension
# untrusted: safe
# Oj in the mode that mimics the json gem, which Rails and others use.
require "oj"

module Contender
  def self.decode(data) = Oj.load(data, mode: :compat, create_additions: false)
  def self.encode(value) = Oj.dump(value, mode: :compat)
  def self.version = Oj::VERSION
end
