# frozen_string_literal: true

require "logger"
require "active_support"
require "active_support/version"
require "active_support/cache"
require "active_support/cache/redis_cache_store"
require "action_dispatch"
require "action_dispatch/middleware/session/cache_store"

begin
  require "redis-rack"
rescue LoadError => error
  warn "skipped: sessions of redis-rack: #{error.message}"
end
require_relative "marshal_names"
require_relative "rails_entry"
require_relative "samples"

# Writes sessions of Rails: by its cache store, as an entry of Rails.cache, and by redis-rack, as bare Marshal.
module Writer
  module_function

  def versions
    found = { "actionpack" => ActionPack::VERSION::STRING, "redis-rb" => Redis::VERSION }
    found["redis-rack"] = ::Redis::Rack::VERSION.to_s if rack?
    found
  end

  def rack? = defined?(Rack::Session::Redis)

  def session(run, index)
    rng = run.random(index)
    data = { "session_id" => format("%032x", rng.rand(1 << 128)), "_csrf_token" => [rng.bytes(32)].pack("m0"),
             "warden.user.user.key" => [[rng.rand(10**6)], "$2a$12$#{Samples::NAMES.sample(random: rng)}"] }
    data["flash"] = { "discard" => [], "flashes" => { "notice" => Samples.prose(rng, 30) } } if rng.rand < 0.3
    data["cart"] = Samples.numbers(rng, run.length(rng) / 4) if rng.rand < 0.5
    data["seen_at"] = Samples.moment(rng) if rng.rand < 0.3
    # Ids as they are in a cookie; the key has a digest of it.
    id = Rack::Session::SessionId.new(format("%032x", rng.rand(1 << 128)))
    [rack? && rng.rand < 0.5 ? :rack : :cache, id, data]
  end

  def stores(run)
    app = ->(_) { [200, {}, []] }
    cache = ActiveSupport::Cache::RedisCacheStore.new(url: run.url, read_timeout: 60, write_timeout: 60,
                                                        error_handler: ->(exception:, **) { raise exception })
    made = { cache: ActionDispatch::Session::CacheStore.new(app, cache:, key: "_session_id") }
    made[:rack] = Rack::Session::Redis.new(app, redis_server: "#{run.url}/rack:session") if rack?
    made
  end

  # A request as the middleware of sessions has it.
  def request(store)
    made = ActionDispatch::Request.new("rack.multithread" => false)
    ActionDispatch::Request::Session.create(store, made, {})
    made
  end

  def make(run)
    stores = stores(run)
    format = RailsEntry.format
    redis = Redis.new(url: run.url)
    run.count.times do |index|
      which, id, data = session(run, index)
      stores[which].write_session(request(stores[which]), id, data, { expire_after: 14 * 86_400 })
      names = MarshalNames.of(Marshal.dump(data))
      if which == :cache
        key = "_session_id:#{id.private_id}"
        run.label(key, codec: "marshal", framework: "actionpack #{ActionPack::VERSION::STRING}",
                  envelope: "rails-cache-#{format}", steps: RailsEntry.steps(format, redis.get(key)), names:)
      else
        framework = "redis-rack #{::Redis::Rack::VERSION}"
        run.label("rack:session:#{id.private_id}", codec: "marshal", framework:, names:)
      end
    end
  end

  def check(run)
    stores = stores(run)
    run.sample(run.count).each do |index|
      which, id, data = session(run, index)
      _, found = stores[which].find_session(request(stores[which]), id)
      run.checked(id.private_id, data, found)
    end
  end
end
