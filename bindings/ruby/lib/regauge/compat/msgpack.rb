# frozen_string_literal: true

# The msgpack gem's interface over regauge: MessagePack.pack, MessagePack.unpack, to_msgpack.
#
#   require "regauge/compat/msgpack"
#   MessagePack.unpack(bytes, symbolize_keys: true)
#
# regauge reads and writes plain data. Extension types, timestamps, Packer, Unpacker, other options and
# all errors are msgpack's, from the beginning: so a result never differs.

begin
  require "msgpack"
rescue LoadError => error
  raise LoadError, "regauge/compat/msgpack passes what regauge does not do itself to the gem msgpack, which is not " \
                   "installed (#{error.message}); install it, or use Regauge::MessagePack"
end
require "regauge/compat"
require "regauge/compat/msgpack/plain"

module Regauge
  module Compat
    # The msgpack gem over regauge.
    module MessagePack
      # The methods that stand before msgpack's: in `msgpack/calls.rb`.
      module Calls; end
      # The same as private methods of what includes `MessagePack`.
      module Included; end
      # The methods that stand before those of `MessagePack::Factory`.
      module Factory; end
    end

    add(
      "msgpack",
      Part.new(MessagePack::Calls, "msgpack/calls.rb", ::MessagePack.singleton_class),
      Part.new(MessagePack::Included, "msgpack/included.rb", ::MessagePack),
      Part.new(MessagePack::Factory, "msgpack/factory.rb", ::MessagePack::Factory)
    )
  end
end
