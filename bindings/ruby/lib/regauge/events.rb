# frozen_string_literal: true

require "pathname"

module Regauge
  # The events of a stream, one by one and in bounded memory; no Hash or Array of the document is
  # built. An event is a frozen Array of a kind and a value:
  #
  #   [:begin_document, nil] [:end_document, nil]   around each document
  #   [:begin_map, nil]      [:end_map, nil]        around the keys and values of a map, in turn
  #   [:begin_array, nil]    [:end_array, nil]      around the values of an array
  #   [:key, object]         [:value, object]       as `load` returns them
  #   [:bad_record, BadRecord]                      a broken record, if those are skipped
  #
  # A value with a type around it (an object of Marshal, a tag) is one event.
  class Events
    include Enumerable

    KINDS = %i[begin_document end_document begin_map end_map begin_array end_array key value bad_record].freeze

    # @api private
    def self.path_of(source, path)
      # A Pathname has a method `read` too, but each call starts over. A File, which has both, is an IO.
      is_path = source.respond_to?(:to_path) && (source.is_a?(::Pathname) || !source.respond_to?(:read))
      return source.to_path if is_path

      source.to_s if path
    end

    # @api private
    def self.of(format, source, options, path: false, &block)
      name = path_of(source, path)
      file = source = File.open(name, "rb") if name
      events = new(format, source, options, file)
      return events unless block

      events.each(&block)
      nil
    rescue StandardError
      file&.close
      raise
    end

    # Yields a block that passes events to the methods of a handler.
    #
    # @api private
    def self.handle(handler)
      takes = KINDS.to_h { |kind| [kind, handler.respond_to?(kind)] }
      raise ArgumentError, "found a handler with none of the methods #{KINDS.join(", ")}" if takes.values.none?

      yield(lambda do |(kind, value)|
        next unless takes[kind]

        case kind
        when :key then handler.key(value)
        when :value then handler.value(value)
        when :bad_record then handler.bad_record(value)
        else handler.public_send(kind)
        end
      end)
    end

    # @api private
    def initialize(format, source, options, file = nil)
      @file = file
      @stream = Native.events(format, source, options)
      @batch = []
      @index = 0
      @most = FIRST
      @latest = nil
    end

    # Yields each event that is left. Without a block, returns an Enumerator.
    #
    # @yieldparam event [Array(Symbol, Object)] the kind and the value
    # @return [self, Enumerator]
    def each
      return enum_for(:each) unless block_given?

      begin
        while @index < @batch.length || fill
          @latest = @batch[@index]
          @index += 1
          yield @latest
        end
      ensure
        close
      end
      self
    end

    # Returns the next event.
    #
    # @raise [StopIteration] at the end
    # @return [Array(Symbol, Object)]
    def next
      raise StopIteration, "the stream has ended" unless @index < @batch.length || fill

      @index += 1
      @latest = @batch[@index - 1]
    end

    # Skips what the latest event announced: after a key its value; after the beginning of a map, an
    # array or a document everything up to its end, with that. After any other event it does nothing.
    # Skipping is faster than ignoring events, because no objects are made.
    #
    # @return [self]
    def skip
      levels = NESTING.fetch(@latest&.first, -1)
      return self if levels.negative?

      @latest = nil
      @most = FIRST
      while (event = @batch[@index])
        @index += 1
        levels += NESTING.fetch(event[0], 0)
        return self if levels.zero?
      end
      @stream&.skip(levels)
      self
    end

    # Ends the stream, and closes the file if it was given by its path.
    #
    # @return [nil]
    def close
      @stream&.close
      @stream = nil
      @batch = []
      @index = 0
      @file&.close
      @file = nil
    end

    # A batch begins small, because events that are skipped were made for nothing.
    FIRST = 16
    MOST = 512
    NESTING = {
      begin_document: 1, begin_map: 1, begin_array: 1, end_document: -1, end_map: -1, end_array: -1, key: 0
    }.freeze
    private_constant :FIRST, :MOST, :NESTING

    private

    def fill
      return false unless @stream

      @batch = @stream.advance(@most)
      @index = 0
      @most = [@most * 2, MOST].min
      !@batch.empty?
    end
  end

  class << self
    # Yields the events of a stream one by one, in bounded memory; without a block, returns them as
    # an {Events}, which is Enumerable and has `next` and `skip`.
    #
    #   Regauge.events("orders.json", path: true) { |kind, value| … }
    #
    # @param source [String, #read, #to_path] bytes; a path as a Pathname or with `path: true`; or
    #   anything with a method `read`
    # @param from [Symbol, nil] the format; detected from the file's name or the first bytes by
    #   default, which needs a path or a String
    # @param path [Boolean] whether the source is a path
    # @yieldparam event [Array(Symbol, Object)]
    # @return [Events, nil] nil with a block
    def events(source, from: nil, path: false, **options, &block)
      unless from
        name = Events.path_of(source, path)
        from = name ? detect(File.binread(name, 4096) || "", name: name) : source.is_a?(String) && detect(source)
        raise ArgumentError, "cannot detect the format: pass from:" unless from
      end
      Events.of(from, source, own_options(from, options), path: path, &block)
    end

    # Calls the methods of a handler with the events of a stream, in bounded memory. They are named
    # after the kinds of events; `key`, `value` and `bad_record` take an argument. Those that the
    # handler lacks are left out.
    #
    # @param source [String, #read, #to_path] see {events}
    # @param handler [#key, #value, #begin_map, …]
    # @return [nil]
    def parse_events(source, handler, **options)
      Events.handle(handler) { |takes| events(source, **options, &takes) }
    end
  end
end
