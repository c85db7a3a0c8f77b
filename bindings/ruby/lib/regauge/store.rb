# frozen_string_literal: true

require "regauge/store/batch"
require "regauge/store/series"
require "regauge/store/coder"

module Regauge
  # Objects in a database: each in a codec (a format and a compression) after an envelope with a
  # checksum, so that Python, Rust and the shell can read it too.
  #
  #   store = Regauge::Store.open("sqlite:objects.db", codec: "msgpack+zstd")
  #   store["user/17"] = { "name" => "Ada", "seen" => Time.now }
  #   store["user/17"]                                   # => {"name"=>"Ada", "seen"=>…}
  #   store.scan(prefix: "user/") { |key, user| … }
  #   store.transaction { |batch| batch["a"] = 1; batch.delete("b") }
  #
  # A key is a String (text or bytes), or a Symbol or an Integer, which are converted to text; keys
  # are returned as Strings, in byte order. Values are what the codec holds: see docs/ruby.md.
  #
  # Threads may share a store. They take turns on its connection, and others run while the database
  # works. After a fork the child has its own connection.
  class Store
    include Enumerable

    # Rolls a {#transaction} back without an exception.
    class Rollback < StandardError; end

    autoload :CacheStore, "regauge/store/cache_store"

    # Opens a collection. A missing one is created when its first value is put.
    #
    # @param url [String] `sqlite:path`, `sqlite::memory:`, and the servers that were compiled in
    # @param collection [String, Symbol]
    # @param codec [String, Symbol, nil] `msgpack` (the default), `json+gzip`, `marshal+zstd`, …; an
    #   existing collection keeps its own, and naming a different one is an error
    # @param sync [Boolean] whether each change is on disk before the call returns; otherwise, the
    #   last ones may be missing after a power failure, but never after a killed program
    # @param options [Hash] the codec's options: `permit:`, `symbolize_names:`, `freeze:`,
    #   `on_loss:`, `limits:`, `default:`, …
    # @yieldparam store [Store] closed after the block
    # @return [Store, Object] the store, or the block's result
    def self.open(url, **options)
      store = new(url, **options)
      return store unless block_given?

      begin
        yield store
      ensure
        store.close
      end
    end

    # @see .open
    def initialize(url, collection: "objects", codec: nil, sync: true, **options)
      @native = Native.store_open(url, collection, codec, sync, options.freeze)
      @name = collection.to_s
    end

    # @return [String] the name of the collection
    attr_reader :name

    # @api private
    attr_reader :native

    # Puts an object, replacing an existing one.
    #
    # @return [Object] the object
    # @raise [EncodeError] if the codec cannot hold it
    def store(key, object)
      @native.put(key, object)
    end
    alias []= store

    # Returns the object of a key.
    #
    # @return [Object, nil] `nil` also if there is none: see {#fetch} and {#key?}
    # @raise [DamagedError] if the stored bytes are not those that were put
    def restore(key)
      found = @native.get(key)
      found.equal?(@native) ? nil : found
    end
    alias [] restore

    # Returns the object of a key; if there is none, the block's result, or `default`.
    #
    # @raise [KeyError] if there is none, and neither a block nor a default
    def fetch(key, default = (none = true), &block)
      found = @native.get(key)
      return found unless found.equal?(@native)
      return block.call(key) if block
      return default unless none

      raise KeyError.new("the store has no key #{key.inspect}", receiver: self, key: key)
    end

    # Deletes an object.
    #
    # @return [Boolean] whether there was one
    def delete(key)
      @native.delete(key)
    end

    # @return [Boolean]
    def key?(key)
      @native.key?(key)
    end
    alias include? key?
    alias member? key?
    alias has_key? key?

    # Returns the keys in order.
    #
    # @param prefix [String, nil] only keys with this prefix
    # @param from [String, nil] the first key, inclusive
    # @param to [String, nil] the end, exclusive
    # @param reverse [Boolean] last key first
    # @param limit [Integer, nil] the maximum number of keys
    # @return [Array<String>]
    def keys(prefix: nil, from: nil, to: nil, reverse: false, limit: nil)
      found = each_key(prefix: prefix, from: from, to: to, reverse: reverse)
      limit ? found.first(limit) : found.to_a
    end

    # Yields the keys one by one, in bounded memory.
    #
    # @yieldparam key [String]
    # @return [Enumerator] without a block
    def each_key(prefix: nil, from: nil, to: nil, reverse: false, &block)
      unless block
        return enum_for(:each_key, prefix: prefix, from: from, to: to, reverse: reverse)
      end

      walk(@native.cursor(from, to, prefix, reverse, true), &block)
    end

    # Yields keys and objects in key order, in bounded memory. Concurrent changes are visible once
    # their page is read.
    #
    # @param prefix [String, nil] only keys with this prefix
    # @param from [String, nil] the first key, inclusive
    # @param to [String, nil] the end, exclusive
    # @param reverse [Boolean] last key first
    # @yieldparam key [String]
    # @yieldparam object [Object]
    # @return [Enumerator] without a block
    def scan(prefix: nil, from: nil, to: nil, reverse: false, &block)
      unless block
        return enum_for(:scan, prefix: prefix, from: from, to: to, reverse: reverse)
      end

      walk(@native.cursor(from, to, prefix, reverse, false), &block)
    end

    # Yields all keys and objects.
    #
    # @yieldparam key [String]
    # @yieldparam object [Object]
    # @return [Enumerator] without a block
    def each(&block)
      return enum_for(:each) unless block

      scan(&block)
    end
    alias each_pair each

    # Puts many objects: all of them or, if the engine has transactions, none.
    #
    # @param pairs [Hash, #each] keys and objects
    # @return [self]
    def store_many(pairs)
      list = []
      pairs.each do |*pair|
        pair = pair[0] if pair.length == 1
        unless pair.is_a?(Array) && pair.length == 2
          raise ArgumentError, "found #{pair.inspect[0, 40]}, expected a key and an object"
        end

        list.concat(pair)
      end
      @native.put_many(list)
      self
    end

    # Returns the objects of many keys, in one call to the database.
    #
    # @param keys [Array<String>]
    # @return [Hash{String => Object}] those that exist
    def restore_many(*keys)
      keys = keys.flatten(1)
      found = {}
      @native.get_many(keys).each_with_index do |object, index|
        found[keys[index]] = object unless object.equal?(@native)
      end
      found
    end

    # Returns the objects of many keys in order, `nil` for missing ones.
    #
    # @return [Array]
    def values_at(*keys)
      @native.get_many(keys).map { |object| object.equal?(@native) ? nil : object }
    end

    # Collects changes and makes them at the end of the block: all or, if the engine has
    # transactions, none. An exception discards all of them, {Rollback} without propagating. Reads
    # through the batch see its own changes, or else what is stored.
    #
    # @yieldparam batch [Batch]
    # @return [Object] the block's result; `nil` after a {Rollback}
    def transaction
      batch = Batch.new(self)
      begin
        result = yield batch
      rescue Rollback
        return nil
      end
      batch.commit
      result
    end
    alias batch transaction

    # Puts the block's result for the current object, if nobody has changed it meanwhile; otherwise
    # calls the block again with the new one.
    #
    # @yieldparam object [Object, nil] the current one
    # @return [Object] the new one
    def update(key, default = nil)
      loop do
        seen, found = @native.seen(key)
        object = yield found.equal?(@native) ? default : found
        return object if @native.swap(key, seen, object)
      end
    end

    # Puts an object unless the key exists.
    #
    # @return [Boolean] whether it was put
    def store_new(key, object)
      @native.swap(key, nil, object)
    end

    # Deletes many objects.
    #
    # @return [Integer] how many there were
    def clear(prefix: nil, from: nil, to: nil)
      count = 0
      each_key(prefix: prefix, from: from, to: to).each_slice(500) do |keys|
        @native.put_many(keys.flat_map { |key| [key, @native] })
        count += keys.length
      end
      count
    end

    # Returns a series of values over time.
    #
    # @param name [String, Symbol]
    # @param bucket [Numeric] seconds: values of one bucket are stored together if the engine can
    # @return [Series]
    def series(name, bucket: 86_400)
      Series.new(self, name.to_s, bucket)
    end

    # Returns the stored document in a format, converted if it is stored in another one; no object
    # is built.
    #
    # @param as [Symbol, String]
    # @return [String, nil]
    def read(key, as:)
      @native.read(key, as)
    end

    # Puts a document that is in a format, converted if the collection stores another.
    #
    # @param bytes [String]
    # @param from [Symbol, String]
    # @return [self]
    def write(key, bytes, from:)
      @native.write(key, bytes, from)
      self
    end

    # Returns the metadata of a stored value.
    #
    # @return [Hash, nil] `codec:`, `created:`, `stored_bytes:`, `document_bytes:`
    def entry(key)
      @native.entry(key)
    end

    # Describes the collection.
    #
    # @return [Hash] `engine:`, `collection:`, `codec:`, `assume:`, `atomic:`, `table:`, `key_kind:`,
    #   `text:`
    def info
      @native.info
    end

    # @return [Integer] the number of objects
    def size
      @native.count[0]
    end
    alias length size

    # @see #size
    def count(*arguments, &block)
      arguments.empty? && block.nil? ? size : super
    end

    # @return [Integer] their size in the database
    def bytesize
      @native.count[1]
    end

    # @return [Boolean]
    def empty?
      each_key { return false }
      true
    end

    # Verifies every value: envelope, checksum, compression, and the whole document.
    #
    # @return [Hash] `values:`, `stored_bytes:`, `document_bytes:`, `bare:` (without an envelope),
    #   `bad:`, `codecs:` (name to values and bytes), `errors:` (the first thousand messages)
    def verify(prefix: nil, from: nil, to: nil)
      @native.verify(from, to, prefix)
    end

    # Re-encodes every value with another codec, online, in batches, unless another writer changes
    # it meanwhile; new values use the codec at once. An interrupted run resumes where it stopped.
    #
    # @param to [String, Symbol]
    # @param dry_run [Boolean] changes nothing, and reports what would be saved and lost
    # @param rate [Numeric, nil] the maximum number of values per second, above 0
    # @return [Hash] `values:`, `changed:`, `already:`, `overtaken:`, `refused:`, `bytes_before:`,
    #   `bytes_after:`, `errors:`
    def reencode(to:, dry_run: false, rate: nil)
      @native.reencode(to, dry_run, rate&.to_f)
    end

    # Trains a zstd dictionary on stored values, for those that are put from now on.
    #
    # @return [Integer] its size in bytes
    def train(samples: 10_000, bytes: 112_640)
      @native.train(samples, bytes)
    end

    # Adopts another program's table as this collection, unchanged: an Active Record column with
    # Marshal or YAML, a table of pickles.
    #
    # @param table [String]
    # @param key [String] the key column
    # @param value [String] the value column
    # @param assume [String, Symbol] the encoding of values without an envelope: `marshal`,
    #   `base64:pickle`
    # @param key_kind [Symbol] `:bytes`, `:text` or `:integer`
    # @param text [Boolean] whether the value column accepts only text
    # @return [self]
    def adopt(table:, assume:, key: "key", value: "value", key_kind: :bytes, text: false)
      @native.adopt(table, key, value, assume, key_kind, text)
      self
    end

    # Closes the connection. Calls in progress finish first.
    #
    # @return [nil]
    def close
      @native.close
    end

    # @return [String] without the URL, which may hold a password
    def inspect
      "#<#{self.class} #{name}>"
    end

    private

    def walk(cursor)
      until (item = cursor.advance).equal?(cursor)
        yield item
      end
      self
    end
  end
end
