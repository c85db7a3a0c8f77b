# contender: jrjackson
# library: jrjackson
# usual: yes
# format: json
# gives: data
# gem: jrjackson
# install: jruby -S gem install jrjackson
# untrusted: safe
# Jackson with Ruby's own objects, through a Java extension: the fast JSON library for JRuby.
require "jrjackson"

module Contender
  def self.decode(data) = JrJackson::Json.load(data)
  def self.encode(value) = JrJackson::Json.dump(value)
  def self.version = JrJackson::Build.version
end
