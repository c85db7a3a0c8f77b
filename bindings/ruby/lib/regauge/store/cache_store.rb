# frozen_string_literal: true

require "active_support"
require "active_support/cache"
require "regauge"

module Regauge
  class Store
    # A Rails cache in a {Store}: a single SQLite file, readable from other languages too.
    #
    #   config.cache_store = Regauge::Store::CacheStore.new("sqlite:tmp/cache.db", codec: "msgpack+lz4")
    #
    # An entry is an array: the value, its expiry time (seconds since 1970, or `nil`) and its
    # version. Values are what the codec holds; `codec: "marshal", permit: [...]` keeps Ruby's
    # objects.
    class CacheStore < ::ActiveSupport::Cache::Store
      # Entries that are read or deleted at once.
      SLICE = 500
      private_constant :SLICE

      # @return [Store]
      attr_reader :store

      # @param url [String, Store] a database, or an open store
      # @param collection [String, Symbol]
      # @param codec [String, Symbol, nil]
      # @param sync [Boolean] whether each change waits for the disk: a cache can be rebuilt
      # @param with [Hash] the codec's options: `permit:`, …
      # @param options [Hash] the options of every cache: `namespace:`, `expires_in:`, …
      def initialize(url, collection: "cache", codec: nil, sync: false, with: {}, **options)
        super(options)
        @store = url.is_a?(Store) ? url : Store.open(url, collection: collection, codec: codec, sync: sync, **with)
      end

      # @return [Boolean]
      def self.supports_cache_versioning?
        true
      end

      # Adds to a number, atomically. A missing or expired one counts as 0.
      #
      # @return [Integer] the new number
      def increment(name, amount = 1, options = nil)
        add(:increment, name, amount, options)
      end

      # Subtracts from a number, atomically.
      #
      # @return [Integer] the new number
      def decrement(name, amount = 1, options = nil)
        add(:decrement, name, -amount, options)
      end

      # Deletes the entries whose keys match a pattern.
      #
      # @param matcher [Regexp]
      # @return [Integer] how many there were
      def delete_matched(matcher, options = nil)
        options = merged_options(options)
        matcher = key_matcher(matcher, options)
        instrument(:delete_matched, matcher.inspect) do
          delete_all(@store.each_key.lazy.select { |key| key.valid_encoding? && key.match?(matcher) })
        end
      end

      # Deletes expired entries.
      #
      # @return [Integer] how many there were
      def cleanup(_options = nil)
        now = Time.now.to_f
        instrument(:cleanup, nil, size: @store.size) do
          expired = @store.scan.lazy.select { |_, parts| expired?(parts, now) }
          delete_all(expired.map(&:first))
        end
      end

      # Deletes all entries, or with `namespace:` those in it.
      #
      # @return [Integer] how many there were
      def clear(options = nil)
        namespace = options && options[:namespace]
        namespace = namespace.call if namespace.respond_to?(:call)
        @store.clear(prefix: namespace && "#{namespace}:")
      end

      private

      def read_entry(key, **)
        entry_of(@store.restore(key))
      end

      def write_entry(key, entry, unless_exist: false, **)
        parts = [entry.value, entry.expires_at&.to_f, entry.version]
        return @store.store(key, parts) && true unless unless_exist

        present = read_entry(key)
        return false if present && !present.expired?

        present ? @store.store(key, parts) && true : @store.store_new(key, parts)
      end

      def delete_entry(key, **)
        @store.delete(key)
      end

      def read_multi_entries(names, **options)
        keys = names.to_h { |name| [normalize_key(name, options), name] }
        found = {}
        @store.restore_many(keys.keys).each do |key, parts|
          entry = entry_of(parts)
          next if entry.nil?

          name = keys[key]
          next @store.delete(key) if entry.expired?

          found[name] = entry.value unless entry.mismatched?(normalize_version(name, options))
        end
        found
      end

      def write_multi_entries(entries, **)
        @store.store_many(entries.map { |key, entry| [key, [entry.value, entry.expires_at&.to_f, entry.version]] })
      end

      def entry_of(parts)
        return unless parts.is_a?(Array)

        value, expires, version = parts
        return unless expires.nil? || expires.is_a?(Numeric)

        ::ActiveSupport::Cache::Entry.new(value, version: version, compress: false,
                                                 expires_in: expires && expires - Time.now.to_f)
      end

      def expired?(parts, now)
        parts.is_a?(Array) && parts[1].is_a?(Numeric) && parts[1] <= now
      end

      def add(operation, name, amount, options)
        options = merged_options(options)
        key = normalize_key(name, options)
        instrument(operation, name, amount: amount) do
          now = Time.now.to_f
          parts = @store.update(key) do |present|
            present = nil if present && expired?(present, now)
            value, expires, version = present
            expires = now + options[:expires_in] if present.nil? && options[:expires_in]
            [value.to_i + amount, expires, version]
          end
          parts[0]
        end
      end

      def delete_all(keys)
        count = 0
        keys.each_slice(SLICE) do |slice|
          @store.transaction { |batch| slice.each { |key| batch.delete(key) } }
          count += slice.length
        end
        count
      end
    end
  end
end
