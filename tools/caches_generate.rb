#!/usr/bin/env ruby
# frozen_string_literal: true

# Writes the families of tools/caches_generate.py whose frameworks are in Ruby. That program runs this one:
#
#     ruby tools/caches_generate.rb versions FAMILY
#     ruby tools/caches_generate.rb make|check FAMILY HOST PORT DATABASE COUNT SEED SIZE CHECKS PART
#
# It prints JSON on lines: first the versions, or what is missing; then the label of each key that `make` wrote, or
# what `check` expected and found. PART numbers the Rails that share a family; the versions are those on the load path.

require "json"
require "zlib"

FAMILIES = %w[rails-cache rails-sessions sidekiq].freeze

# What a family is asked to write, and what it says about it.
Run = Struct.new(:family, :host, :port, :database, :count, :seed, :size, :checks, :part) do
  def url = "redis://#{host}:#{port}/#{database}"

  # The random numbers of a value, the same whether it is made or checked.
  def random(index) = Random.new(Zlib.crc32("#{seed}/#{family}/#{part}/#{index}") << 16 | seed)

  def sample(count) = (0...count).to_a.sample([checks, count].min, random: random("sample")).sort

  # Log-normal around the mean, as sizes in caches are, up to 64 KiB.
  def length(rng)
    normal = Math.sqrt(-2 * Math.log(1 - rng.rand)) * Math.cos(2 * Math::PI * rng.rand)
    [Math.exp(Math.log([size, 2].max) - 0.405 + 0.9 * normal).to_i, 65_536].min
  end

  # An expiry in seconds, or none.
  def ttl(rng, share: 0.7) = (rng.rand < share ? rng.rand(48..2160) * 3600 : nil)

  def label(key, codec:, framework:, kind: "string", envelope: nil, steps: [], names: [], **more)
    puts JSON.generate(key:, kind:, framework:, envelope:, steps:, codec:, names:, **more)
  end

  def checked(key, expected, found)
    puts JSON.generate(key:, expected: expected.inspect, found: found.inspect)
  end
end

what, family, *rest = ARGV
unless %w[versions make check].include?(what) && FAMILIES.include?(family) && (what == "versions" || rest.size == 8)
  abort "usage: ruby tools/caches_generate.rb versions FAMILY\n" \
        "       ruby tools/caches_generate.rb make|check FAMILY HOST PORT DATABASE COUNT SEED SIZE CHECKS PART"
end

begin
  require_relative "caches/#{family.tr("-", "_")}"
rescue LoadError => error
  puts JSON.generate(missing: error.message.lines.first.chomp)
  exit
end
puts JSON.generate(versions: Writer.versions)
unless what == "versions"
  host, *numbers = rest
  Writer.public_send(what, Run.new(family, host, *numbers.map(&:to_i)))
end
