# frozen_string_literal: true

require "regauge/store/batch"
require "regauge/store/series"
require "regauge/store/coder"

module Regauge
  # Objects in a database: each in a codec (a format and a compression) behind an envelope with a
  # checksum, so that Python, Rust and the shell read it too.
  #
  #   store = Regauge::Store.open("sqlite:objects.db", codec: "msgpack+zstd")
  #   store["user/17"] = { "name" => "Ada", "seen" => Time.now }
  #   store["user/17"]                                   # => {"name"=>"Ada", "seen"=>…}
  #   store.scan(prefix: "user/") { |key, user| … }
  #   store.transaction { |batch| batch["a"] = 1; batch.delete("b") }
  #
  # A key is a String (text or bytes), a Symbol or an Integer, which are their text; keys come back
  # as Strings, in the order of their bytes. Values are what the codec holds: see docs/ruby.md.
  #
  # A store may be used by many threads. They take turns at its connection, and others go on while
  # the database works. After a fork the child has a connection of its own.
  class Store
    include Enumerable

    # Rolls a {#transaction} back without an exception.
    class Rollback < StandardError; end

    autoload :CacheStore, "regauge/store/cache_store"

    # Opens a collection. One that is not there is made when its first value is put.
    #
    # @param url [String] `sqlite:path`, `sqlite::memory:`, and the servers that were compiled in
    # @param collection [String, Symbol]
    # @param codec [String, Symbol, nil] `msgpack` (the default), `json+gzip`, `marshal+zstd`, …; one
    #   that is there keeps its own, and another than that is an error
    # @param sync [Boolean] whether each change is on the disk before the call comes back; without,
    #   the last ones may be missing after the machine has lost its power, never after a program was
    #   killed
    # @param options [Hash] those of the codec: `permit:`, `symbolize_names:`, `freeze:`, `on_loss:`,
    #   `limits:`, `default:`, …
    # @yieldparam store [Store] closed behind the block
    # @return [Store, Object] the store, or what the block gives
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

    # Puts an object, in the place of an older one if there is one.
    #
    # @return [Object] the object
    # @raise [EncodeError] where the codec cannot hold it
    def store(key, object)
      @native.put(key, object)
    end
    alias []= store

    # The object of a key.
    #
    # @return [Object, nil] `nil` also where there is none: see {#fetch} and {#key?}
    # @raise [DamagedError] where the stored bytes are not those that were put
    def restore(key)
      found = @native.get(key)
      found.equal?(@native) ? nil : found
    end
    alias [] restore

    # The object of a key; where there is none, what the block gives, or `default`.
    #
    # @raise [KeyError] where there is none, and neither a block nor a default
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

    # Keys in their order.
    #
    # @param prefix [String, nil] those that begin so
    # @param from [String, nil] from this one on
    # @param to [String, nil] till before this one
    # @param reverse [Boolean] the last first
    # @param limit [Integer, nil] at most so many
    # @return [Array<String>]
    def keys(prefix: nil, from: nil, to: nil, reverse: false, limit: nil)
      found = each_key(prefix: prefix, from: from, to: to, reverse: reverse)
      limit ? found.first(limit) : found.to_a
    end

    # The same one by one, in bounded memory.
    #
    # @yieldparam key [String]
    # @return [Enumerator] without a block
    def each_key(prefix: nil, from: nil, to: nil, reverse: false, &block)
      unless block
        return enum_for(:each_key, prefix: prefix, from: from, to: to, reverse: reverse)
      end

      walk(@native.cursor(from, to, prefix, reverse, true), &block)
    end

    # Keys and objects in the order of the keys, in bounded memory. What is changed meanwhile is seen
    # as it is when its page is read.
    #
    # @param prefix [String, nil] keys that begin so
    # @param from [String, nil] from this one on
    # @param to [String, nil] till before this one
    # @param reverse [Boolean] the last first
    # @yieldparam key [String]
    # @yieldparam object [Object]
    # @return [Enumerator] without a block
    def scan(prefix: nil, from: nil, to: nil, reverse: false, &block)
      unless block
        return enum_for(:scan, prefix: prefix, from: from, to: to, reverse: reverse)
      end

      walk(@native.cursor(from, to, prefix, reverse, false), &block)
    end

    # All keys and objects.
    #
    # @yieldparam key [String]
    # @yieldparam object [Object]
    # @return [Enumerator] without a block
    def each(&block)
      return enum_for(:each) unless block

      scan(&block)
    end
    alias each_pair each

    # Puts many objects: all of them or, where the engine has transactions, none.
    #
    # @param pairs [Hash, #each] keys and objects
    # @return [self]
    def store_many(pairs)
      list = []
      pairs.each { |key, object| list << key << object }
      @native.put_many(list)
      self
    end

    # The objects of many keys, in one call to the database.
    #
    # @param keys [Array<String>]
    # @return [Hash{String => Object}] those that are there
    def restore_many(*keys)
      keys = keys.flatten(1)
      found = {}
      @native.get_many(keys).each_with_index do |object, index|
        found[keys[index]] = object unless object.equal?(@native)
      end
      found
    end

    # The objects of many keys in their order, `nil` for those that are not there.
    #
    # @return [Array]
    def values_at(*keys)
      @native.get_many(keys).map { |object| object.equal?(@native) ? nil : object }
    end

    # Collects changes and makes them at the end of the block: all or, where the engine has
    # transactions, none. An exception makes none of them, {Rollback} quietly. What is read through
    # the batch is what it has changed, or else what is stored.
    #
    # @yieldparam batch [Batch]
    # @return [Object] what the block gives; `nil` after a {Rollback}
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

    # Puts what the block makes of the present object, if nobody has changed it meanwhile; else the
    # block is called again with the new one.
    #
    # @yieldparam object [Object, nil] the present one
    # @return [Object] the new one
    def update(key, default = nil)
      loop do
        seen, found = @native.seen(key)
        object = yield found.equal?(@native) ? default : found
        return object if @native.swap(key, seen, object)
      end
    end

    # Puts an object if there is none of its key.
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

    # A series of values over time.
    #
    # @param name [String, Symbol]
    # @param bucket [Numeric] seconds: values of one bucket are kept together where the engine can
    # @return [Series]
    def series(name, bucket: 86_400)
      Series.new(self, name.to_s, bucket)
    end

    # The stored document in a format, converted where it is stored in another one; no object is
    # built.
    #
    # @param as [Symbol, String]
    # @return [String, nil]
    def read(key, as:)
      @native.read(key, as)
    end

    # Puts a document that is in a format, converted where the collection stores another.
    #
    # @param bytes [String]
    # @param from [Symbol, String]
    # @return [self]
    def write(key, bytes, from:)
      @native.write(key, bytes, from)
      self
    end

    # What is known of a stored value.
    #
    # @return [Hash, nil] `codec:`, `created:`, `stored_bytes:`, `document_bytes:`
    def entry(key)
      @native.entry(key)
    end

    # What the collection is.
    #
    # @return [Hash] `engine:`, `collection:`, `codec:`, `assume:`, `atomic:`, `table:`, `key_kind:`,
    #   `text:`
    def info
      @native.info
    end

    # @return [Integer] how many objects there are
    def size
      @native.count[0]
    end
    alias length size

    # @see #size
    def count(*arguments, &block)
      arguments.empty? && block.nil? ? size : super
    end

    # @return [Integer] their bytes in the database
    def bytesize
      @native.count[1]
    end

    # @return [Boolean]
    def empty?
      each_key { return false }
      true
    end

    # Looks at every value: envelope, checksum, compression, and the whole document.
    #
    # @return [Hash] `values:`, `stored_bytes:`, `document_bytes:`, `bare:` (without an envelope),
    #   `bad:`, `codecs:` (name to values and bytes), `errors:` (the first thousand messages)
    def verify(prefix: nil, from: nil, to: nil)
      @native.verify(from, to, prefix)
    end

    # Puts every value back in another codec, online, in batches, where nobody has changed it
    # meanwhile; new values get the codec at once. A run that was stopped goes on where it was.
    #
    # @param to [String, Symbol]
    # @param dry_run [Boolean] changes nothing, and tells what would be saved and lost
    # @param rate [Numeric, nil] at most so many values a second
    # @return [Hash] `values:`, `changed:`, `already:`, `overtaken:`, `refused:`, `bytes_before:`,
    #   `bytes_after:`, `errors:`
    def reencode(to:, dry_run: false, rate: nil)
      @native.reencode(to, dry_run, rate&.to_f)
    end

    # Trains a dictionary for zstd from the values that are there, for those that are put from now
    # on.
    #
    # @return [Integer] its bytes
    def train(samples: 10_000, bytes: 112_640)
      @native.train(samples, bytes)
    end

    # Takes a table that others have written for this collection, as it stands: a column of Active
    # Record with Marshal or YAML, a table of pickles.
    #
    # @param table [String]
    # @param key [String] the column of the key
    # @param value [String] the column of the value
    # @param assume [String, Symbol] what a value without an envelope is: `marshal`, `base64:pickle`
    # @param key_kind [Symbol] `:bytes`, `:text` or `:integer`
    # @param text [Boolean] whether the column of the value takes text only
    # @return [self]
    def adopt(table:, assume:, key: "key", value: "value", key_kind: :bytes, text: false)
      @native.adopt(table, key, value, assume, key_kind, text)
      self
    end

    # Closes the connection. Calls that are under way end first.
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
