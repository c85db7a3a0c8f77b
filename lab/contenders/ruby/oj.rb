# contender: oj
# library: oj
# usual: yes
# not on jruby: a C extension
# format: json
# gives: data
# gem: oj
# debian: ruby-oj
# install: apt-get install ruby-oj, or gem install oj
# untrusted: safe
# Oj in strict mode: JSON's own types only.
require "oj"

module Contender
  def self.decode(data) = Oj.strict_load(data)
  def self.encode(value) = Oj.dump(value, mode: :strict)
  def self.version = Oj::VERSION
end
