# frozen_string_literal: true

require_relative "lib/regauge/version"

Gem::Specification.new do |spec|
  spec.name = "regauge"
  spec.version = Regauge::VERSION
  spec.authors = ["The regauge contributors"]
  spec.summary = "Safe, fast codecs for sixteen formats, a Marshal that runs nothing, and MARC records."
  spec.description = "JSON, NDJSON, YAML, TOML, CSV, TSV, MessagePack, BSON, CBOR, Ruby Marshal, Python pickle, MARC 21, " \
                     "MARCXML and MARC-in-JSON by one API: load, dump, each, convert, inspect."
  spec.homepage = "https://github.com/regauge/regauge"
  spec.licenses = ["MIT", "Apache-2.0"]
  spec.metadata = { "rubygems_mfa_required" => "true" }

  extension = Dir.chdir(__dir__) { Dir["lib/regauge/native.{so,bundle}"] }
  spec.files = Dir.chdir(__dir__) { Dir["lib/**/*.rb", "sig/**/*.rbs", "README.md"] } + extension
  spec.require_paths = ["lib"]
  spec.required_ruby_version = ">= 3.1"
  # With the crates next to it (`rake source_gem`) the extension is compiled when the gem is
  # installed; without either, the gem drives the executable, for JRuby. A compiled extension is that of one Ruby.
  if Dir.exist?(File.join(__dir__, "ext/crates"))
    spec.files += Dir.chdir(__dir__) { Dir["LICENSE-*", "ext/**/*"].select { |file| File.file?(file) } }
    spec.extensions = ["ext/regauge_native/extconf.rb"]
  else
    spec.platform = extension.empty? ? "java" : Gem::Platform::CURRENT
    spec.required_ruby_version = "~> #{RUBY_VERSION[/\A\d+\.\d+/]}.0" if extension.any?
  end
  spec.add_dependency "bigdecimal" if RUBY_VERSION >= "3.4"
end
