# frozen_string_literal: true

module Regauge
  module Compat
    module MessagePack
      # Reads and writes plain data as msgpack does.
      #
      # @api private
      module Plain
        # The readers, by `symbolize_keys` (1) and `freeze` (2).
        READERS = Array.new(4) do |place|
          options = { symbolize_names: place.anybits?(1), freeze: place.anybits?(2) }
          Native.dialect(:msgpack, [], options).freeze
        end.freeze
        FIRST = READERS.first
        # The writers: without symbols, if they are an extension type, and with them.
        TEXT = Native.dialect(:msgpack, [], {}).freeze
        SYMBOLS = Native.dialect(:msgpack, [:symbols], {}).freeze

        @writer = ::MessagePack::DefaultFactory.type_registered?(::Symbol, :packer) ? TEXT : SYMBOLS

        class << self
          # @return [Native::Dialect] what writes for MessagePack.pack
          attr_reader :writer

          # Returns what reads with these options.
          def reader(options)
            place = place(options)
            place ? READERS[place] : Library
          end

          # Notes that a factory has an extension type for a class.
          def registered(factory, type)
            @writer = TEXT if type.equal?(::Symbol) && factory.equal?(::MessagePack::DefaultFactory)
          end

          private

          # Returns the number of the reader for these options; nil if msgpack has to look at them.
          def place(options)
            return unless options.instance_of?(Hash)

            options.sum do |name, value|
              case name
              when :symbolize_keys then value ? 1 : 0
              when :freeze then value ? 2 : 0
              when :allow_unknown_ext then 0
              else return nil
              end
            end
          end
        end
      end
      private_constant :Plain
    end
  end
end
