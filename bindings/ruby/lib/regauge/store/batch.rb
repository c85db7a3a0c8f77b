# frozen_string_literal: true

module Regauge
  class Store
    # Changes that are made together at the end: see {Store#transaction}.
    class Batch
      DELETED = ::Object.new.freeze
      private_constant :DELETED

      # @api private
      def initialize(store)
        @store = store
        @changes = {}
      end

      # Puts an object. It is encoded at the end of the transaction.
      #
      # @return [Object] the object
      def store(key, object)
        @changes[text(key)] = object
      end
      alias []= store

      # Deletes an object.
      #
      # @return [nil]
      def delete(key)
        @changes[text(key)] = DELETED
        nil
      end

      # Returns the object of a key, including this batch's changes.
      #
      # @return [Object, nil]
      def restore(key)
        fetch(key, nil)
      end
      alias [] restore

      # @see Store#fetch
      def fetch(key, *default, &block)
        return @store.fetch(key, *default, &block) unless @changes.key?(text(key))

        object = @changes[text(key)]
        return object unless DELETED.equal?(object)
        return block.call(key) if block
        return default[0] unless default.empty?

        raise KeyError.new("the batch deletes key #{key.inspect}", receiver: self, key: key)
      end

      # @return [Boolean]
      def key?(key)
        object = @changes.fetch(text(key)) { return @store.key?(key) }
        !DELETED.equal?(object)
      end

      # @return [Integer] the number of keys to change
      def size
        @changes.size
      end

      # @api private
      def commit
        return if @changes.empty?

        native = @store.native
        native.put_many(@changes.flat_map { |key, object| [key, DELETED.equal?(object) ? native : object] })
      end

      private

      # Normalises a key: `:a`, `"a"` and its bytes are the same.
      def text(key)
        case key
        when String, Symbol, Integer then key.to_s.b
        else raise TypeError, "a key is a String, a Symbol or an Integer"
        end
      end
    end
  end
end
