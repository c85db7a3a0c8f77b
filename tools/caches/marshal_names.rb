# frozen_string_literal: true

# Returns the classes and modules that a Marshal document names, by reading its bytes: nothing is loaded.
class MarshalNames
  def self.of(data) = new(data).read

  def initialize(data)
    @data, @at, @symbols, @names = data, 2, [], []
  end

  def read
    value
    @names.uniq.sort
  end

  private

  def byte
    @at += 1
    @data.getbyte(@at - 1)
  end

  # `r_long` of marshal.c.
  def long
    first = byte
    first -= 256 if first > 127
    return first if first.zero?
    return first - 5 if first > 4
    return first + 5 if first < -4

    number = (0...first.abs).sum { |place| byte << (8 * place) }
    first.positive? ? number : number - (1 << (8 * -first))
  end

  def bytes
    size = long
    @at += size
    @data.byteslice(@at - size, size)
  end

  def symbol
    case byte.chr
    when ":" then bytes.tap { |one| @symbols << one }
    when ";" then @symbols.fetch(long)
    when "I"
      one = symbol
      long.times { symbol; value }
      one
    end
  end

  def name = @names << symbol

  def value
    case type = byte.chr
    when "0", "T", "F" then nil
    when "i", "@" then long
    when ":" then @symbols << bytes
    when ";" then long
    when "f", '"' then bytes
    when "c", "m", "M" then @names << bytes
    when "l"
      byte
      words = long
      @at += 2 * words
    when "/"
      bytes
      byte
    when "[" then long.times { value }
    when "{", "}"
      long.times { value; value }
      value if type == "}"
    when "I"
      value
      variables
    when "e", "C"
      name
      value
    when "u"
      name
      bytes
    when "U"
      name
      value
    when "o", "S"
      name
      variables
    else raise "unknown type #{type.inspect} at #{@at - 1}"
    end
  end

  def variables = long.times { symbol; value }
end
