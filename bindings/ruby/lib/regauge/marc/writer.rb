# frozen_string_literal: true

module Regauge
  module MARC
    # Methods shared by the writers: records to a path or an IO.
    module Writing
      # @param target [String, #write] a path, or an IO
      def initialize(target, **options)
        @io = target.respond_to?(:write) ? target : File.open(target, "wb")
        @options = options
        start
        return unless block_given?

        begin
          yield self
        ensure
          close
        end
      end

      # @param record [Record]
      # @return [self]
      def write(record)
        @io.write(encoded(record))
        self
      end
      alias << write

      # Writes buffered data, and closes the IO.
      #
      # @return [void]
      def close
        finish
        @io.close
      end

      private

      def start; end

      def finish; end
    end

    # Writes MARC 21 (ISO 2709).
    class Writer
      include Writing

      # @return [String]
      def self.encode(record, **options)
        MARC.dump(record, **options)
      end

      private

      def encoded(record)
        MARC.dump(record, **@options)
      end
    end

    # Writes MARC-in-JSON, one record per line.
    class JSONLWriter
      include Writing

      # @return [String]
      def self.encode(record, **options)
        JSON.dump(record, **options).chomp
      end

      private

      def encoded(record)
        JSON.dump(record, **@options)
      end
    end

    # Writes MARCXML: one collection.
    class XMLWriter
      include Writing

      # @return [String] a whole document
      def self.encode(record, **options)
        XML.dump(record, **options)
      end

      private

      # The library writes a whole collection each time; only its records are used.
      def encoded(record)
        document = XML.dump(record, **@options)
        head = document.index("<record")
        tail = document.rindex("</collection>")
        @head ||= document[0...head]
        @tail ||= document[tail..]
        opening = @opened ? "" : @head
        @opened = true
        opening + document[head...tail]
      end

      def finish
        empty = XML.dump([], **@options)
        @io.write(@opened ? @tail : empty)
      end
    end
  end
end
