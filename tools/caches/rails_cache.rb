# frozen_string_literal: true

require "logger"
require "active_support"
require "active_support/version"
require "active_support/cache"
require "active_support/cache/redis_cache_store"
require "active_support/core_ext/hash/indifferent_access"
require "active_support/core_ext/string/output_safety"
require "active_support/time"
require_relative "marshal_names"
require_relative "rails_entry"
require_relative "samples"

# Writes entries of Rails.cache in every format that the ActiveSupport on the load path has: values, fragments of pages,
# records and counters. The newest format has plain keys, the others a namespace each.
module Writer
  VERSION = ActiveSupport::VERSION::STRING
  RELEASE = Gem::Version.new(VERSION)

  module_function

  def versions
    found = { "activesupport" => VERSION, "redis-rb" => Redis::VERSION, "ruby" => RUBY_VERSION }
    found["activerecord"] = ActiveRecord::VERSION::STRING if record
    found
  end

  # A model, if the Active Record that is installed belongs to this Rails.
  def record
    return @record if defined?(@record)

    require "active_record/version"
    raise LoadError unless ActiveRecord::VERSION::STRING == VERSION

    require "active_record"
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
    ActiveRecord::Base.connection.create_table(:articles) do |table|
      table.string :title
      table.decimal :price, precision: 9, scale: 2
      table.text :body
      table.timestamps
    end
    @record = Object.const_set(:Article, Class.new(ActiveRecord::Base))
  rescue LoadError, StandardError
    @record = nil
  end

  # The stores, each with the name of its format, the newest first.
  def stores(run)
    formats = RELEASE < Gem::Version.new("7.0") ? [nil] : [7.1, 7.0, 6.1]
    formats.delete(7.1) if RELEASE < Gem::Version.new("7.1")
    formats.delete(6.1) if RELEASE >= Gem::Version.new("7.2")
    made = formats.map do |format|
      silence { ActiveSupport::Cache.format_version = format } if format
      [format&.to_s || "6.1", silence { store(run, format) }]
    end
    made << ["7.1-msgpack", store(run, "msgpack", serializer: :message_pack)] if msgpack?(formats)
    # Plain keys for the first store of the first Rails.
    made
  end

  def store(run, format, **options)
    ActiveSupport::Cache.format_version = 7.1 if format == "msgpack"
    name = [("app#{run.part}" if run.part.positive?), (format.to_s[/\A\d/] ? "v#{format}" : format unless @plain.nil?)].compact.join(":")
    @plain = true
    ActiveSupport::Cache::RedisCacheStore.new(
      url: run.url, namespace: name.empty? ? nil : name, read_timeout: 60, write_timeout: 60,
      error_handler: ->(exception:, **) { raise exception }, **options
    )
  end

  def msgpack?(formats)
    return false unless formats.include?(7.1)

    require "active_support/message_pack"
    true
  rescue LoadError => error
    warn "skipped: message_pack with Rails #{VERSION}: #{error.message.lines.first.chomp}"
    false
  end

  def silence(&)
    deprecator = ActiveSupport.respond_to?(:deprecator) ? ActiveSupport.deprecator : ActiveSupport::Deprecation
    deprecator.silence(&)
  end

  # Returns format, store, key, shape, value and options of an entry.
  def entry(run, stores, index)
    rng = run.random(index)
    format, store = stores.sample(random: rng)
    length = run.length(rng)
    options = { expires_in: run.ttl(rng) }.compact
    shape, key = choose(rng, format, index)
    value = shape == :record ? article(rng, length) : value(shape, rng, length)
    if rng.rand < 0.3 && !%i[counter raw].include?(shape)
      options[:version] = Samples.moment(rng).strftime("%Y%m%d%H%M%S%6N")
    end
    options[:compress] = false if rng.rand < 0.05
    options[:raw] = true if shape == :raw
    [format, store, key, shape, value, options]
  end

  def choose(rng, format, index)
    case rng.rand
    when 0...0.06 then [:counter, "hits/#{index}"]
    when 0.06...0.09 then [:raw, "token:#{index}"]
    when 0.09...0.14 then [:small, "flag/#{index}"]
    when 0.14...0.34
      digest = Kernel.format("%032x", rng.rand(1 << 128))
      [:fragment, "views/products/show:#{digest}/products/#{index}-#{Samples.moment(rng).strftime("%Y%m%d%H%M%S%6N")}"]
    when 0.34...0.42
      # Records are never written with MessagePack.
      record && !format.end_with?("msgpack") ? [:record, "articles/#{index}"] : [:product, "products/#{index}"]
    else
      shape = (format.end_with?("msgpack") || rng.rand < 0.5 ? Samples::PLAIN : Samples::OBJECTS).sample(random: rng)
      [shape, "#{shape}/#{index}"]
    end
  end

  def value(shape, rng, length)
    case shape
    when :counter then rng.rand(1..9)
    when :raw then format("%040x", rng.rand(1 << 160))
    when :small then [nil, true, false, rng.rand(10**6), rng.rand, :pending, ""].sample(random: rng)
    else Samples.public_send(shape, rng, length)
    end
  end

  def article(rng, length)
    at = Samples.moment(rng).round
    columns = { "id" => rng.rand(10**6), "title" => Samples.prose(rng, 30), "price" => rng.rand(10**6).fdiv(100).to_s,
                "body" => Samples.prose(rng, length), "created_at" => at.strftime("%F %T"), "updated_at" => at.strftime("%F %T") }
    record.instantiate(columns)
  end

  def make(run)
    stores = stores(run)
    redis = Redis.new(url: run.url)
    names = {}
    run.count.times do |index|
      format, store, key, shape, value, options = entry(run, stores, index)
      full = store.send(:normalize_key, key, store.options)
      framework = "activesupport #{VERSION}"
      if shape == :counter
        store.increment(key, value, **options.slice(:expires_in))
        run.label(full, codec: "integer", framework:)
        next
      end
      store.write(key, value, **options)
      next run.label(full, codec: "text", framework:, content: "hex") if shape == :raw

      names[shape] ||= shape == :small ? [] : MarshalNames.of(Marshal.dump(value))
      run.label(full, **inside(format, value, names[shape]), framework:,
                envelope: "rails-cache-#{format.delete_suffix("-msgpack")}",
                steps: RailsEntry.steps(format, redis.get(full)))
    end
  end

  # What is in an entry: a String has no serializer around it since 7.1, and counts as Marshal.
  def inside(format, value, names)
    if value.instance_of?(String) && format.start_with?("7.1")
      { codec: "marshal", names: [], note: "a String without a serializer" }
    elsif format.end_with?("msgpack")
      { codec: "msgpack", names: [] }
    else
      { codec: "marshal", names: }
    end
  end

  def check(run)
    stores = stores(run)
    run.sample(run.count).each do |index|
      _, store, key, shape, value, options = entry(run, stores, index)
      found = store.read(key, **options.slice(:version), raw: %i[counter raw].include?(shape))
      found = found.to_i if shape == :counter
      run.checked(key, shown(value), shown(found))
    end
  end

  # What makes two values equal, apart from the identity of objects.
  def shown(value)
    case value
    when ActiveSupport::TimeWithZone then [value.utc.to_f, value.time_zone.name]
    when Samples::Basket then [:basket, value.owner, value.lines, value.total]
    when Hash then [value.class, value.map { |key, one| [key, shown(one)] }]
    when Array then value.map { |one| shown(one) }
    when Set then [:set, value.to_a]
    when BigDecimal then [:decimal, value.to_s]
    else record && value.is_a?(record) ? [:record, value.attributes.map { |key, one| [key, shown(one)] }] : value
    end
  end
end
