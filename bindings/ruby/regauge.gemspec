# frozen_string_literal: true

require_relative "lib/regauge/version"

Gem::Specification.new do |spec|
  spec.name = "regauge"
  spec.version = Regauge::VERSION
  spec.authors = ["The regauge contributors"]
  spec.summary = "Safe, fast codecs for eleven formats, a Marshal that runs nothing, and MARC records."
  spec.description = "JSON, NDJSON, YAML, MessagePack, BSON, CBOR, Ruby Marshal, Python pickle, MARC 21, " \
                     "MARCXML and MARC-in-JSON by one API: load, dump, each, convert, inspect."
  spec.homepage = "https://github.com/regauge/regauge"
  spec.licenses = ["MIT", "Apache-2.0"]
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true" }

  extension = Dir.chdir(__dir__) { Dir["lib/regauge/native.{so,bundle}"] }
  spec.files = Dir.chdir(__dir__) { Dir["lib/**/*.rb", "sig/**/*.rbs", "README.md"] } + extension
  spec.require_paths = ["lib"]
  # Without the extension the gem is the front of the executable, for JRuby.
  spec.platform = extension.empty? ? "java" : Gem::Platform::CURRENT
  spec.add_dependency "bigdecimal" if RUBY_VERSION >= "3.4"
end
