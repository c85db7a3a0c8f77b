# frozen_string_literal: true

# The Rails application of tools/move_check.py: it fills a cache, and reads and writes it under load.
#
#     ruby rails_app.rb fill|rewrite|again|work URL COUNT CODE WORKER SEED
#
# CODE is `old` (Rails alone), `both` (reads both, writes the old entries), `new` or `locked`. `work` runs until its
# standard input ends; `rewrite` writes plain data over what cannot move; `again` reads everything and writes it. It
# prints JSON.

require "json"
require "logger"
require "active_support"
require "active_support/cache"
require "active_support/time"

ActiveSupport::Cache.format_version = 7.1
Line = Struct.new(:id, :text)
DAY = 86_400
BATCH = 500

what, url, count, code, worker, seed = ARGV
count, worker, seed = [count, worker, seed].map(&:to_i)
found = Hash.new(0)
errors = []

options = { url: url, expires_in: DAY, error_handler: ->(exception:, **) { raise exception } }
unless code == "old"
  require "regauge/active_support"
  how = { "both" => { writes: :rails }, "new" => {}, "locked" => { reads_old: false } }.fetch(code)
  options[:coder] = Regauge::CacheCoder.new(Regauge::MessagePack, permit: [Time, Line],
                                            on_old: ->(_) { found["old entries read"] += 1 }, **how)
end
CACHE = ActiveSupport::Cache::RedisCacheStore.new(**options)

# What is at `n`, in the generation in which it was written. Six of ten are plain data; the last three stay as they
# are until the application writes them again as plain data.
def value(n, generation, plain: false)
  name = "Product #{n} of generation #{generation}"
  case n % 10
  when 0, 1 then { "g" => generation, "name" => name, "price" => n / 8.0, "tags" => ["new", "sale", nil, true] }
  when 2 then "#{generation}: #{name}"
  when 3 then [generation, n, -n, n / 3.0, "h\u00e9llo"]
  when 4 then { "g" => generation, "page" => "<p>#{name}</p>\n" * 60 }
  when 5 then { "g" => generation, "at" => { "day" => n % 365, "lines" => Array.new(5) { |at| { "sku" => at, "name" => name } } } }
  when 6 then { "g" => generation, 1 => [1 << 40, -1], "empty" => [{}, [], ""] }
  when 7 then plain ? { "g" => 0, "kind" => "book" } : { "g" => 0, kind: :book }
  when 8 then plain ? { "g" => 0, "at" => n } : { "g" => 0, "at" => Time.at(n).utc }
  else plain ? { "g" => 0, "id" => n, "text" => name } : { "g" => 0, "line" => Line.new(n, name) }
  end
end

def stays?(n) = n % 10 > 6
def key(n) = "products/#{n}"
def right?(n, value) = value == value(n, generation(value)) || (stays?(n) && value == value(n, 0, plain: true))

def generation(value)
  case value
  when Hash then value["g"]
  when Array then value[0]
  when String then value.to_i
  end
end

case what
when "fill"
  (0...count).each_slice(BATCH) { |part| CACHE.write_multi(part.to_h { |n| [key(n), value(n, 0)] }) }
when "rewrite"
  (0...count).select { |n| stays?(n) }.each_slice(BATCH) do |part|
    CACHE.write_multi(part.to_h { |n| [key(n), value(n, 0, plain: true)] })
  end
when "again"
  (0...count).each_slice(BATCH) do |part|
    CACHE.write_multi(CACHE.read_multi(*part.map { |n| key(n) }))
  end
when "work"
  running = true
  Thread.new { $stdin.read; running = false }
  numbers = Random.new(seed)
  seen = Hash.new(0)
  written = {}
  mine = ->(n) { n / 10 % 2 == worker && !stays?(n) }
  while running
    n = numbers.rand(count)
    begin
      # What was not read yet may have been written by the process before.
      if mine[n] && seen.key?(n) && numbers.rand(3).zero?
        CACHE.write(key(n), value(n, seen[n] + 1))
        seen[n] += 1
        written[n] = true
        found["writes"] += 1
      elsif (now = CACHE.read(key(n))).nil?
        found["misses"] += 1
      else
        found["reads"] += 1
        at = generation(now)
        # Nobody else writes what is mine, and no generation comes back.
        is_lost = mine[n] && seen.key?(n) ? at != seen[n] : at < seen[n]
        if is_lost || !right?(n, now)
          found["wrong"] += 1
          errors << "#{key(n)}: found #{now.inspect[0, 200]}, expected generation #{seen[n]}"
        end
        seen[n] = at
      end
    rescue StandardError => error
      found["exceptions"] += 1
      errors << "#{key(n)}: #{error.class}: #{error.message}"
    end
  end
end
written = (written || {}).keys.map { |n| key(n) }
puts JSON.generate(found: found, errors: errors.first(5), written: written)
