# contender: floor
# library: floor
# format: json
# gives: data
# install: comes with Ruby
# untrusted: safe
# floor: yes
# No contender: what building the objects costs with no parsing, and writing with no walk.
#
# Each document becomes a literal in a lambda, compiled before the clock starts. To call it makes
# every Hash and Array anew and a String of its own for each text (which shares the bytes of a
# long one); keys are the frozen strings that a Hash would make of them. Marshal, which is made for
# loading objects, is slower than the json gem. Encoding copies the finished bytes once.
require "json"

module Contender
  def self.floor_prepare(document)
    eval("# frozen_string_literal: false\n-> { #{JSON.parse(document).inspect} }")
  end

  # A new String that starts empty, so that the bytes are copied and not shared.
  def self.floor_encode(document) = String.new(capacity: document.bytesize) << document

  def self.decode(literal) = literal.call
  # For the check alone, which has to see that the objects are right.
  def self.encode(value) = JSON.generate(value)
  def self.version = "literals of Ruby #{RUBY_VERSION}"
end
