# frozen_string_literal: true

require "bigdecimal"
require "date"
require "set"

# Makes values as applications cache them. Each shape takes random numbers and a length, and fills the value with text
# of about that length. `PLAIN` are values that every serializer holds, `OBJECTS` those that name classes.
module Samples
  WORDS = %w[cotton kettle morning river blue garden letter paper window copper bicycle market lemon winter harbour
             silver button planet orange mountain pencil travel coffee kitchen shadow camera engine forest ticket
             small large quick slow heavy light warm cold the and with from for over under after].freeze
  FOREIGN = %w[Größe café naïve señor 東京 привет emoji🙂].freeze
  NAMES = %w[Ada Grace Linus Margaret Edsger Barbara Zoë José Ken Radia Yukihiro Guido].freeze
  # ASCII, which Ruby cuts without counting characters.
  TEXT = Random.new(0).then { |rng| Array.new(40_000) { WORDS.sample(random: rng) }.join(" ").freeze }
  BEGAN = Time.utc(2026, 1, 1)

  Point = Struct.new(:latitude, :longitude)

  # A value object of an application.
  class Basket
    attr_reader :owner, :lines, :total

    def initialize(owner, lines, total) = (@owner, @lines, @total = owner, lines, total)

    def ==(other) = other.is_a?(Basket) && [owner, lines, total] == [other.owner, other.lines, other.total]
  end

  PLAIN = %i[user product rows numbers fragment text].freeze
  OBJECTS = %i[order basket places seen indifferent safe].freeze

  module_function

  def prose(rng, length)
    text = TEXT[rng.rand(TEXT.size - length), length]
    rng.rand < 0.5 ? "#{text} #{FOREIGN.sample(random: rng)}" : text
  end

  def moment(rng) = BEGAN + rng.rand(30_000_000) + Rational(rng.rand(1_000_000), 1_000_000)

  def user(rng, length)
    { "id" => rng.rand(1..10**6), "name" => NAMES.sample(random: rng), "admin" => rng.rand < 0.05, "manager" => nil,
      "balance" => (rng.rand * 1000).round(2), "roles" => %w[reader editor buyer].sample(2, random: rng),
      "about" => prose(rng, length) }
  end

  def product(rng, length)
    { sku: format("SKU-%07d", rng.rand(10**7)), title: prose(rng, 24), price: rng.rand(100..10**6), stock: rng.rand(500),
      weight: rng.rand * 20, sizes: { s: rng.rand(9), m: rng.rand(9) }, description: prose(rng, length) }
  end

  def rows(rng, length)
    Array.new([1, length / 70].max) do
      { "id" => rng.rand(10**6), "title" => prose(rng, 20), "score" => rng.rand(-50..5000) }
    end
  end

  def numbers(rng, length) = Array.new([1, length / 5].max) { rng.rand(10**rng.rand(1..12)) }

  def text(rng, length) = prose(rng, length)

  def fragment(rng, length)
    items = Array.new([1, length / 70].max) { "<li><a href=\"/p/#{rng.rand(10**5)}\">#{prose(rng, 20)}</a></li>" }
    "<ul id=\"list-#{rng.rand(10**4)}\">#{items.join}</ul>"
  end

  def order(rng, length)
    { number: rng.rand(10**9), placed: moment(rng).in_time_zone("Europe/Berlin"), day: moment(rng).to_date,
      total: BigDecimal(rng.rand(10**7)) / 100, paid_at: moment(rng), note: prose(rng, length) }
  end

  def basket(rng, length) = Basket.new(rng.rand(10**6), numbers(rng, length), BigDecimal(rng.rand(10**6)) / 100)

  def places(rng, length) = Array.new([1, length / 40].max) { Point.new(rng.rand * 180 - 90, rng.rand * 360 - 180) }

  def seen(rng, length)
    { ids: Set.new(numbers(rng, length)), span: 1..rng.rand(2..99), kind: Integer, ratio: Rational(1, 3) }
  end

  def indifferent(rng, length) = user(rng, length).with_indifferent_access

  def safe(rng, length) = ActiveSupport::SafeBuffer.new(fragment(rng, length))
end
