# frozen_string_literal: true

module Regauge
  module Compat
    module MessagePack
      # @api private
      module Included
        def load(...) = ::MessagePack.load(...)
        alias unpack load

        def pack(...) = ::MessagePack.pack(...)
        alias dump pack
      end
    end
  end
end
