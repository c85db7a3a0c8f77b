# contender: marshal
# library: Marshal
# usual: yes
# runtimes: ruby jruby
# format: marshal
# gives: data
# install: comes with Ruby
# untrusted: runs code: never load bytes that you did not write
# Ruby's own format.
module Contender
  def self.decode(data) = Marshal.load(data)
  def self.encode(value) = Marshal.dump(value)
  def self.version = "#{Marshal::MAJOR_VERSION}.#{Marshal::MINOR_VERSION} of Ruby #{RUBY_VERSION}"
end
