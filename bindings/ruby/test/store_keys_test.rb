# frozen_string_literal: true

require_relative "helper"

# What a store takes as a key, and as pairs.
class StoreKeysTest < Minitest::Test
  R = Regauge

  def test_keys_of_a_transaction_and_pairs
    R::Store.open("sqlite::memory:") do |store|
      [nil, 1.5, Object.new].each do |key|
        assert_raises(TypeError) { store[key] = 1 }
        assert_raises(TypeError) { store.transaction { |batch| batch[key] = 1 } }
        assert_raises(TypeError) { store.transaction { |batch| batch.delete(key) } }
      end
      [[["a"]], [["a", 1], ["b", 1, 2]], ["a"], [nil]].each do |pairs|
        assert_match(/expected a key and an object/, assert_raises(ArgumentError) { store.store_many(pairs) }.message)
      end
      assert_empty store.keys
      store.store_many([["a", 1], [:b, [2]]])
      store.store_many({ 3 => { "c" => 1 } })
      store.store_many({ "d" => 4 }.each_pair)
      assert_equal({ "3" => { "c" => 1 }, "a" => 1, "b" => [2], "d" => 4 }, store.to_h)
    end
  end
end
