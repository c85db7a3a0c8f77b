# frozen_string_literal: true

module Regauge
  module Compat
    module MessagePack
      # Reads and writes plain data as msgpack does.
      #
      # @api private
      module Plain
        # Returned for bytes that msgpack has to read.
        NOT = Object.new.freeze

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
          # Returns the value of some bytes; NOT if msgpack has to read them.
          def load(source, options)
            dialect = FIRST
            unless options.nil? || options.empty?
              place = place(options)
              return NOT unless place

              dialect = READERS[place]
            end
            value = dialect.load(source)
            dialect.equal?(value) ? NOT : value
          end

          # Returns the bytes of an object; nil if msgpack has to write it.
          def dump(object)
            @writer.dump(object)
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
