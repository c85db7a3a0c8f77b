# frozen_string_literal: true

module Regauge
  class Store
    # Values over time: keys that sort by time, in buckets that the engine can store together.
    #
    #   series = store.series("temperature", bucket: 86_400)
    #   series[Time.now] = { "celsius" => 21.5 }
    #   series.each(from: Time.now - 3600, reverse: true) { |time, value| … }
    #
    # A time is a Time, anything with `to_time`, or an Integer of nanoseconds since 1970; from 1677
    # to 2262.
    class Series
      include Enumerable

      # @return [String]
      attr_reader :name

      # @api private
      def initialize(store, name, bucket)
        @store = store
        @name = name
        @bucket = (bucket * 1_000_000_000).to_i
        raise ArgumentError, "found a bucket of #{bucket} seconds, expected at most 292 years" if @bucket >= 2**63

        @whole = Native.series_range(@name, @bucket)
      end

      # Returns the key for the value at a time.
      #
      # @return [String]
      def key(time)
        Native.series_key(@name, @bucket, nanoseconds(time))
      end

      # Puts a value.
      #
      # @return [Object] the value
      def store(time, object)
        @store.store(key(time), object)
      end
      alias []= store

      # @return [Object, nil]
      def restore(time)
        @store.restore(key(time))
      end
      alias [] restore

      # @return [Boolean] whether there was one
      def delete(time)
        @store.delete(key(time))
      end

      # Puts many values in one transaction.
      #
      # @param pairs [Hash, #each] times and objects
      # @return [self]
      def store_many(pairs)
        @store.store_many(pairs.map { |time, object| [key(time), object] })
        self
      end

      # Returns the values of many times, in one call to the database.
      #
      # @return [Array] `nil` for missing ones
      def values_at(*times)
        @store.values_at(*times.map { |time| key(time) })
      end

      # Yields times and values in order.
      #
      # @param from [Time, Integer, nil] the start time, inclusive
      # @param to [Time, Integer, nil] the end time, exclusive
      # @param reverse [Boolean] newest first
      # @yieldparam time [Time] in UTC
      # @yieldparam object [Object]
      # @return [Enumerator] without a block
      def each(from: nil, to: nil, reverse: false)
        return enum_for(:each, from: from, to: to, reverse: reverse) unless block_given?

        range = { from: from ? key(from) : @whole[0], to: to ? key(to) : @whole[1] }
        @store.scan(**range, reverse: reverse) do |key, object|
          yield [Time.at(0, Native.series_time(@name, @bucket, key), :nanosecond).utc, object]
        end
        self
      end

      # Deletes the values of a range.
      #
      # @return [Integer] how many there were
      def clear(from: nil, to: nil)
        @store.clear(from: from ? key(from) : @whole[0], to: to ? key(to) : @whole[1])
      end

      # @return [String]
      def inspect
        "#<#{self.class} #{name}>"
      end

      private

      def nanoseconds(time)
        return time if time.is_a?(Integer)

        time = time.to_time unless time.is_a?(Time)
        time.to_i * 1_000_000_000 + time.nsec
      end
    end
  end
end
