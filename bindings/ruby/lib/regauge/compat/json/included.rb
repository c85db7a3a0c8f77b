# frozen_string_literal: true

module Regauge
  module Compat
    module JSON
      # @api private
      module Included
        %i[
          parse parse! load restore generate unparse fast_generate fast_unparse pretty_generate pretty_unparse dump
        ].each do |name|
          define_method(name) { |*arguments, **options| ::JSON.public_send(name, *arguments, **options) }
          private name
        end
      end
    end
  end
end
