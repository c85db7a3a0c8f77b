# frozen_string_literal: true

module Regauge
  module Compat
    module BSON
      # Reads and writes documents as bson does.
      #
      # @api private
      module Plain
        # The bytes of a document's length, and the least length.
        HEAD = 4
        LEAST = 5

        # Converts the values that are not plain data; returns itself for those that bson has to convert.
        module Values
          class << self
            # Builds a value that was read.
            def ext(kind, first, second = nil)
              case kind
              when "object_id" then ::BSON::ObjectId.from_data(first)
              when "time" then ::Time.at(first, second / 1000).utc
              when "uuid" then ::BSON::Binary.new(first, :uuid)
              when "binary"
                type = ::BSON::Binary::TYPES[first.chr]
                type ? ::BSON::Binary.new(second, type) : self
              else self
              end
            end

            # Returns what is written for an object.
            def lower(object)
              if object.instance_of?(::BSON::ObjectId)
                Special.new(:object_id, [object.to_s].pack("H*"))
              elsif object.instance_of?(::Time)
                ::Time.at(object.to_i, object.usec / 1000, :millisecond)
              elsif object.instance_of?(::BSON::Binary)
                Special.new(:binary, ::BSON::Binary::SUBTYPES.fetch(object.type).ord, object.data)
              else
                self
              end
            end
          end
        end

        # An embedded document with the key $ref is a DBRef.
        dialect = Native.dialect(:bson, [:no_dbrefs, Values, ::BSON::Document], {}).freeze

        # A version of bson that treats this in another way does everything itself.
        SAMPLE = {
          "_id" => ::BSON::ObjectId.from_string("0123456789abcdef01234567"), at: ::Time.at(-1, 1999).utc,
          "list" => [1, 2**40, 1.5, true, nil, { "text" => "\u00e9" }],
          "data" => ::BSON::Binary::SUBTYPES.keys.map { |type| ::BSON::Binary.new("0123456789abcdef", type) }
        }.freeze
        USUAL = begin
          bytes = SAMPLE.to_bson.to_s
          dialect.dump(SAMPLE) == bytes &&
            dialect.load(bytes) == ::BSON::Document.from_bson(::BSON::ByteBuffer.new(bytes))
        rescue ::StandardError
          false
        end
        # Reads and writes documents.
        READER = USUAL ? dialect : Library

        class << self
          # Moves the beginning of what is read next back.
          def go_back(buffer, bytes)
            position = buffer.read_position - bytes
            buffer.rewind!
            buffer.get_bytes(position) if position.positive?
          end

          # @return [Native::Dialect, Library] what writes hashes
          attr_reader :writer

          # Looks at bson's configuration, which may have changed: version 5 no longer checks keys.
          def look
            checks = ::BSON::Config.respond_to?(:validating_keys?) && ::BSON::Config.validating_keys?
            @writer = checks ? Library : READER
          end
        end
      end
      private_constant :Plain
    end
  end
end
