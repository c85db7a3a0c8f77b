# frozen_string_literal: true

# Fast, safe codecs for sixteen formats, a Marshal that runs no code, and MARC records.
#
# Every format is a module with `load`, `dump`, `load_file`, `each` and `Writer`, so each can be
# used wherever Ruby expects a coder; for Active Record, which loads nil too, `with` makes one:
#
#   Regauge::JSON.load('{"a":1}')              # => {"a"=>1}
#   Regauge::MessagePack.dump({ "a" => 1 })    # => "\x81\xA1a\x01"
#   Regauge::YAML.load_file("config.yml")
#   Regauge::NDJSON.each_file("events.ndjson") { |event| … }
#   Regauge.convert(bytes, from: :bson, to: :json)
#
# See docs/ruby.md for the options, the types, and what is refused.
module Regauge
  # The interpreter determines the backend: the extension, or the executable.
  BACKEND = RUBY_ENGINE == "jruby" || ENV["REGAUGE_BACKEND"] == "command" ? :command : :extension
end

require "regauge/version"
require "regauge/errors"
require "regauge/types"

if Regauge::BACKEND == :command
  require "regauge/command"
else
  require "regauge/build"
  require "regauge/simplify"
  require "regauge/marshal"
  require "regauge/marc/fields"
  require "regauge/marc/record"
  require "regauge/native"
  require "regauge/codec"
  require "regauge/formats"
  require "regauge/events"
  require "regauge/marc"
  require "regauge/store"
end
