# frozen_string_literal: true

# Oj's interface over regauge: Oj.load, Oj.dump, Oj.generate and the like.
#
#   require "regauge/compat/oj"
#   Oj.load(text, mode: :compat, symbol_keys: true)
#
# regauge reads and writes plain documents in the mode compat, which is also called json. Other modes and options,
# Oj::Doc, Oj::Parser, Oj::StringWriter and all errors are Oj's, from the beginning: so a result never differs. In the
# mode object, and with `create_additions: true`, only classes that hold data are built, and those of
# `Regauge::Compat.permit`.

begin
  require "oj"
rescue LoadError => error
  raise LoadError, "regauge/compat/oj passes what regauge does not do itself to the gem oj, which is not installed " \
                   "(#{error.message}); install it, or use Regauge::JSON"
end
require "regauge/compat"
require "regauge/compat/oj/plain"
require "regauge/compat/oj/classes"

module Regauge
  module Compat
    # Oj over regauge.
    module Oj
      # Raised for a class that a document names in the mode object, or with `create_additions: true`.
      class UnsafeClass < ::Oj::ParseError; end

      # The methods that stand before Oj's: in `oj/calls.rb`.
      module Calls; end
    end

    add("oj", Part.new(Oj::Calls, "oj/calls.rb", ::Oj.singleton_class))
  end
end
