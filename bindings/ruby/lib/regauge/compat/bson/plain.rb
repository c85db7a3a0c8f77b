# frozen_string_literal: true

module Regauge
  module Compat
    module BSON
      # Reads and writes documents as bson does.
      #
      # @api private
      module Plain
        # Returned for a document that bson has to read.
        NOT = Object.new.freeze
        # The key of a DBRef.
        REFERENCE = "$ref".b.freeze
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

        DIALECT = Native.dialect(:bson, [Values, ::BSON::Document], {}).freeze

        # Version 5 no longer checks keys.
        VALIDATES = ::BSON::Config.respond_to?(:validating_keys?)
        # A version of bson that treats this in another way does everything itself.
        SAMPLE = {
          "_id" => ::BSON::ObjectId.from_string("0123456789abcdef01234567"), at: ::Time.at(-1, 1999).utc,
          "list" => [1, 2**40, 1.5, true, nil, { "text" => "\u00e9" }],
          "data" => ::BSON::Binary::SUBTYPES.keys.map { |type| ::BSON::Binary.new("0123456789abcdef", type) }
        }.freeze
        USUAL = begin
          bytes = SAMPLE.to_bson.to_s
          DIALECT.dump(SAMPLE) == bytes &&
            DIALECT.load(bytes) == ::BSON::Document.from_bson(::BSON::ByteBuffer.new(bytes))
        rescue ::StandardError
          false
        end

        class << self
          # Returns whether documents are read from this buffer, as this class.
          def takes?(type, buffer)
            USUAL && (type.equal?(::BSON::Document) || type.equal?(::Hash)) && buffer.instance_of?(::BSON::ByteBuffer) &&
              buffer.length >= LEAST
          end

          # Takes the bytes of the next document from a buffer; all bytes, if there are too few.
          def document(buffer)
            head = buffer.get_bytes(HEAD)
            left = head.unpack1("l<") - HEAD
            left = buffer.length unless left.between?(LEAST - HEAD, buffer.length)
            head << buffer.get_bytes(left)
          end

          # Returns the value of the block; NOT if it raises.
          def tried
            yield
          rescue ::StandardError
            NOT
          end

          # Moves the beginning of what is read next.
          def go_back(buffer, position)
            buffer.rewind!
            buffer.get_bytes(position) if position.positive?
          end

          # Returns the document in some bytes; NOT if bson has to read them.
          def load(bytes)
            return NOT if bytes.include?(REFERENCE)

            value = DIALECT.load(bytes)
            DIALECT.equal?(value) ? NOT : value
          end

          # Returns the bytes of a hash; nil if bson has to write it.
          def dump(hash)
            DIALECT.dump(hash) if USUAL && !(VALIDATES && ::BSON::Config.validating_keys?)
          end
        end
      end
      private_constant :Plain
    end
  end
end
