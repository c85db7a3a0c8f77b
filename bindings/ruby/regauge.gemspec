# frozen_string_literal: true

require_relative "lib/regauge/version"

Gem::Specification.new do |spec|
  spec.name = "regauge"
  spec.version = Regauge::VERSION
  spec.authors = ["The regauge contributors"]
  spec.summary = "Safe, fast codecs for fourteen formats, a Marshal that runs nothing, and MARC records."
  spec.description = "JSON, NDJSON, YAML, TOML, CSV, MessagePack, BSON, CBOR, Ruby Marshal, Python pickle, MARC 21, " \
                     "MARCXML and MARC-in-JSON by one API: load, dump, each, convert, inspect."
  spec.homepage = "https://github.com/regauge/regauge"
  spec.licenses = ["MIT", "Apache-2.0"]
  spec.required_ruby_version = ">= 3.1"
  spec.metadata = { "rubygems_mfa_required" => "true" }

  extension = Dir.chdir(__dir__) { Dir["lib/regauge/native.{so,bundle}"] }
  spec.files = Dir.chdir(__dir__) { Dir["lib/**/*.rb", "sig/**/*.rbs", "README.md"] } + extension
  spec.require_paths = ["lib"]
  # With the crates next to it (`rake source_gem`) the extension is compiled when the gem is
  # installed; without either, the gem drives the executable, for JRuby.
  if Dir.exist?(File.join(__dir__, "ext/crates"))
    spec.files += Dir.chdir(__dir__) { Dir["LICENSE-*", "ext/**/*"].select { |file| File.file?(file) } }
    spec.extensions = ["ext/regauge_native/extconf.rb"]
  else
    spec.platform = extension.empty? ? "java" : Gem::Platform::CURRENT
  end
  spec.add_dependency "bigdecimal" if RUBY_VERSION >= "3.4"
end
