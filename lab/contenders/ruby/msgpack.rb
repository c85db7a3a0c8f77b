# contender: msgpack
# library: msgpack
# usual: yes
# runtimes: ruby jruby
# format: msgpack
# gives: data
# gem: msgpack
# debian: ruby-msgpack
# install on jruby: jruby -S gem install msgpack
# install: apt-get install ruby-msgpack, or gem install msgpack
# untrusted: safe
# A pool of packers and unpackers from one Factory, the fastest way in the manual; before version
# 1.5, which introduced the pool, the Factory itself. Timestamps are registered as the manual shows,
# which costs other data nothing; before version 1.4 the gem has no code for them.
require "msgpack"

module Contender
  FACTORY = MessagePack::Factory.new
  if defined?(MessagePack::Time::Packer)
    FACTORY.register_type(-1, Time, packer: MessagePack::Time::Packer, unpacker: MessagePack::Time::Unpacker)
  end
  CODER = FACTORY.respond_to?(:pool) ? FACTORY.pool(1) : FACTORY

  def self.decode(data) = CODER.load(data)
  def self.encode(value) = CODER.dump(value)
  def self.version = MessagePack::VERSION
end
