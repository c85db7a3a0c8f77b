#!/usr/bin/env ruby
# frozen_string_literal: true

# Makes entries of Rails.cache, messages of Rails, jobs of Active Job and Sidekiq and values of paquito with the
# frameworks themselves, and lets them read what regauge puts back.
#
#     ruby tools/envelopes_ruby.rb make corpus/envelopes
#     ruby tools/envelopes_ruby.rb check path/to/regauge
#
# The version is that of the `active_support` on the load path: `ruby -I rails/activesupport/lib -I rails/actionpack/lib
# -I rails/actionview/lib -I rails/activejob/lib …` takes a checkout of Rails. Of Rails before 6.1, only encrypted cookies
# and jobs are made. Serializers and frameworks that are not installed are named, and skipped. `make` writes a folder for
# each version, with `expected.json`: for each file its layers, what they say, the value, and the secret and the salt that
# it was signed or encrypted with.

begin
  require "logger"
  require "active_support"
  require "active_support/version"
  require "active_support/cache"
  require "active_support/key_generator"
  require "active_support/message_encryptor"
  require "active_support/message_verifier"
  require "active_support/time"
rescue LoadError => error
  puts "skipped: Rails: #{error.message}"
  exit
end
require "base64"
require "fileutils"
require "json"
require "open3"
require "openssl"
require "tmpdir"
require_relative "envelopes_jobs"

VERSION = ActiveSupport::VERSION::STRING
RELEASE = Gem::Version.new(VERSION)
NOW = Time.at(1_800_000_000.5)
EXPIRES = Time.at(4_000_000_000)

# Entries are the same whenever they are made.
Time.singleton_class.prepend(Module.new { def now(**) = NOW })

SHARED = ["one object", 1]
VALUES = {
  "hash" => { id: 7, "name" => "Ada", price: 2.5, "tags" => %w[a b], "in" => { "yes" => true, "none" => nil } },
  "long" => { "lines" => Array.new(60) { |at| "line #{at} of a page that is worth compressing" } },
  "shared" => [SHARED, SHARED, -5, 1 << 40],
  "text" => "h\u00e9llo",
  "ascii" => "plain".encode("US-ASCII"),
  "binary" => "\xff\x00\x01".b,
  "nil" => nil,
}.freeze
DATED = %w[hash long text].freeze

# What a store wrote: the bytes of its only file.
def written(folder) = File.binread(Dir["#{folder}/**/*"].find { |path| File.file?(path) })

# Yields each way in which this version writes, with its name and what makes a store.
def ways
  file = ->(**options) { ->(folder) { ActiveSupport::Cache::FileStore.new(folder, **options) } }
  return yield "6.1", file.() if RELEASE < Gem::Version.new("7.0")

  {"6.1" => 6.1, "7.0" => 7.0, "7.1" => 7.1}.each do |name, format|
    next if format == 6.1 && RELEASE >= Gem::Version.new("7.2")
    next if format == 7.1 && RELEASE < Gem::Version.new("7.1")

    yield name, (lambda do |folder|
      silence_deprecation do
        ActiveSupport::Cache.format_version = format
        ActiveSupport::Cache::FileStore.new(folder)
      end
    end)
  end
  return if RELEASE < Gem::Version.new("7.1")

  ActiveSupport::Cache.format_version = 7.1
  yield "7.1-msgpack", file.(serializer: :message_pack)
rescue LoadError => error
  puts "skipped: message_pack with #{VERSION}: #{error.message.lines.first}"
end

def silence_deprecation(&)
  deprecator = ActiveSupport.respond_to?(:deprecator) ? ActiveSupport.deprecator : ActiveSupport::Deprecation
  deprecator.silence(&)
end

# What regauge shows of a value in JSON: symbols as text, bytes in the notation.
def shown(value)
  case value
  when Hash then value.to_h { |key, inside| [key.to_s, shown(inside)] }
  when Array then value.map { |inside| shown(inside) }
  when String
    return { "$binary" => { "base64" => Base64.strict_encode64(value), "subType" => "00" } } if value.encoding == Encoding::BINARY

    value.encode("UTF-8")
  else value
  end
end

def each_entry
  ways do |way, store_in|
    # Later versions write the same as 7.1: a few are enough to notice when they no longer do.
    names = RELEASE < Gem::Version.new("7.2") ? VALUES.keys : DATED
    VALUES.slice(*names).each do |name, value|
      # Symbols are extensions there, which stay extensions.
      value = plain(value) if way.end_with?("msgpack")
      options = DATED.include?(name) ? { expires_in: EXPIRES - NOW, version: "v\u00e9#{name.size}" } : {}
      Dir.mktmpdir do |folder|
        store_in.(folder).write("key", value, **options)
        yield way, name, value, options, folder, store_in
      end
    end
  end
end

def make(root)
  folder = File.join(root, "rails-#{VERSION}")
  FileUtils.mkdir_p(folder)
  expected = {}
  if RELEASE >= Gem::Version.new("6.1")
    make_entries(folder, expected)
    make_messages(folder, expected)
    make_keyed(folder, expected)
  end
  make_cbc(folder, expected)
  finish(folder, "activesupport #{VERSION}, #{RUBY_ENGINE} #{RUBY_VERSION}", expected)
end

def make_entries(folder, expected)
  each_entry do |way, name, value, options, at|
    bytes = written(at)
    file = "#{way}-#{name}.bin"
    File.binwrite(File.join(folder, file), bytes)
    one = { "layer" => "rails-cache-#{way.delete_suffix("-msgpack")}", "value" => shown(value) }
    one["format"] = way.end_with?("msgpack") && !value.is_a?(String) ? "msgpack" : "marshal"
    one["marshal"] = Base64.strict_encode64(Marshal.dump(value)) unless way.end_with?("msgpack") || name == "ascii"
    one.merge!("expires" => EXPIRES.utc.iso8601, "version" => options[:version]) unless options.empty?
    one["steps"] = name == "long" ? ["zlib"] : []
    expected[file] = one
  end
end

# Signed and encrypted messages, as cookies are.
def make_messages(folder, expected)
  value = VALUES["hash"].transform_keys(&:to_s)
  metadata = { expires_at: EXPIRES.utc, purpose: "cookie.user" }
  about = { "expires" => "2096-10-02T07:06:40.000Z", "purpose" => "cookie.user" }
  # Since 7.1, an application may have the metadata in the serializer of the value.
  modes = { "" => false }
  modes["-own"] = true if RELEASE >= Gem::Version.new("7.1")
  modes.each do |mode, own|
    ActiveSupport::Messages::Metadata.use_message_serializer_for_metadata = own if RELEASE >= Gem::Version.new("7.1")
    { "marshal" => Marshal, "json" => JSON }.each do |format, serializer|
      verifier = ActiveSupport::MessageVerifier.new("k" * 64, digest: "SHA256", serializer: serializer)
      { "plain" => [{}, {}], "dated" => [metadata, about] }.each do |name, (options, facts)|
        file = "signed#{mode}-#{format}-#{name}.txt"
        File.binwrite(File.join(folder, file), verifier.generate(value, **options))
        expected[file] = signed(format, value, **facts, "secret" => "k" * 64)
      end
    end
  end
  encryptor = ActiveSupport::MessageEncryptor.new("k" * 32, cipher: "aes-256-gcm")
  { "plain" => [{}, {}], "dated" => [metadata, about] }.each do |name, (options, facts)|
    file = name == "plain" ? "encrypted.txt" : "encrypted-#{name}.txt"
    File.binwrite(File.join(folder, file), encryptor.encrypt_and_sign(value, **options))
    expected[file] = encrypted("marshal", value, **facts, "secret" => "k" * 32)
  end
end

def signed(format, value, **more)
  { "layer" => "rails-signed", "format" => format, "steps" => ["base64"], "value" => value, **more }
end

def encrypted(format, value, cipher = "aes-256-gcm", **more)
  { "layer" => "rails-encrypted", "error" => "found encrypted data", "format" => format,
    "steps" => ["base64", cipher], "value" => value, **more }
end

BASE = "0123456789abcdef" * 8

# What `Rails.application` derives keys with, for each of its digests.
def each_generator
  digests = RELEASE < Gem::Version.new("7.0") ? ["SHA1"] : %w[SHA1 SHA256]
  digests.each do |digest|
    options = RELEASE < Gem::Version.new("7.0") ? {} : { hash_digest_class: OpenSSL::Digest.const_get(digest) }
    yield digest, ActiveSupport::KeyGenerator.new(BASE, iterations: 1000, **options)
  end
end

# Messages and cookies with keys that are derived from secret_key_base, as `Rails.application` derives them.
def make_keyed(folder, expected)
  value = VALUES["hash"].transform_keys(&:to_s)
  each_generator do |digest, generator|
    verifier = ActiveSupport::MessageVerifier.new(generator.generate_key("reports"), digest: digest, serializer: JSON)
    encryptor = ActiveSupport::MessageEncryptor.new(generator.generate_key("reports", 32), cipher: "aes-256-gcm", serializer: JSON)
    made = {
      "app-signed" => [verifier.generate(value), signed("json", value, "salt" => "reports")],
      "app-encrypted" => [encryptor.encrypt_and_sign(value), encrypted("json", value, "salt" => "reports")],
      **cookies(generator, digest, value),
    }
    made.each do |name, (text, about)|
      file = "#{name}-#{digest.downcase}.txt"
      File.binwrite(File.join(folder, file), text)
      expected[file] = { **about, "secret" => BASE }
    end
  end
end

# What Rails encrypted until 5.1, and later versions if they are set so.
def make_cbc(folder, expected)
  value = VALUES["hash"].transform_keys(&:to_s)
  write = lambda do |file, text, about|
    File.binwrite(File.join(folder, file), text)
    expected[file] = about
  end
  { "marshal" => Marshal, "json" => JSON }.each do |format, serializer|
    encryptor = ActiveSupport::MessageEncryptor.new("k" * 32, cipher: "aes-256-cbc", serializer: serializer)
    write.("cbc-#{format}.txt", encryptor.encrypt_and_sign(value), encrypted(format, value, "aes-256-cbc", "secret" => "k" * 32))
  end
  make_for_urls(value, write) if RELEASE >= Gem::Version.new("7.1")
  each_generator do |digest, generator|
    about = { "secret" => BASE, "salt" => "reports" }
    key = generator.generate_key("reports", 32)
    # One key for both, or two of the same purpose.
    { "one" => [key], "two" => [key, generator.generate_key("reports")] }.each do |name, keys|
      encryptor = ActiveSupport::MessageEncryptor.new(*keys, cipher: "aes-256-cbc", digest: digest, serializer: JSON)
      file = "app-cbc-#{name}-#{digest.downcase}.txt"
      write.(file, encryptor.encrypt_and_sign(value), encrypted("json", value, "aes-256-cbc", **about))
    end
    %w[json marshal].each do |format|
      jar = cookie_jar(generator, digest, format, authenticated: false) or next
      jar.encrypted["_session"] = { value: value }
      # Since 5.2, the purpose is in the cookie.
      purpose = RELEASE < Gem::Version.new("5.2") ? {} : { "purpose" => "cookie._session" }
      write.("cookie-cbc-#{format}-#{digest.downcase}.txt", Rack::Utils.escape(jar["_session"]),
             encrypted(format, value, "aes-256-cbc", **purpose, "secret" => BASE))
    end
  end
end

# Base64 for URLs may have in it what parts are joined with.
def make_for_urls(value, write)
  { "aes-256-cbc" => "cbc-url.txt", "aes-256-gcm" => "encrypted-url.txt" }.each do |cipher, file|
    encryptor = ActiveSupport::MessageEncryptor.new("k" * 32, cipher: cipher, serializer: JSON, url_safe: true)
    text = nil
    loop do
      text = encryptor.encrypt_and_sign(value)
      parts = cipher.end_with?("cbc") ? Base64.urlsafe_decode64(text[0...-42]) : text
      break if parts.scan("--").size > (cipher.end_with?("cbc") ? 1 : 2)
    end
    write.(file, text, encrypted("json", value, cipher, "secret" => "k" * 32))
  end
end

# What Action Dispatch puts into a Cookie header.
def cookies(generator, digest, value)
  jar = cookie_jar(generator, digest, "json", authenticated: true) or return {}
  jar.signed["user"] = { value: value, expires: EXPIRES.utc }
  jar.encrypted["_session"] = { value: value }
  user, session = %w[user _session].map { |name| Rack::Utils.escape(jar[name]) }
  about = { "expires" => "2096-10-02T07:06:40.000Z", "purpose" => "cookie.user" }
  { "cookie-signed" => [user, signed("json", value, **about)],
    "cookie-encrypted" => [session, encrypted("json", value, "purpose" => "cookie._session")] }
end

def cookie_jar(generator, digest, format, authenticated:)
  require "action_dispatch"
  require "action_dispatch/middleware/cookies"
  require "rack"
  rotations = {}
  if RELEASE >= Gem::Version.new("5.2")
    require "active_support/messages/rotation_configuration"
    rotations["action_dispatch.cookies_rotations"] = ActiveSupport::Messages::RotationConfiguration.new
  end
  ActionDispatch::Request.new(
    "action_dispatch.key_generator" => ActiveSupport::CachingKeyGenerator.new(generator),
    "action_dispatch.signed_cookie_salt" => "signed cookie",
    "action_dispatch.encrypted_cookie_salt" => "encrypted cookie",
    "action_dispatch.encrypted_signed_cookie_salt" => "signed encrypted cookie",
    "action_dispatch.authenticated_encrypted_cookie_salt" => "authenticated encrypted cookie",
    "action_dispatch.encrypted_cookie_cipher" => authenticated ? "aes-256-gcm" : "aes-256-cbc",
    "action_dispatch.use_authenticated_cookie_encryption" => authenticated,
    "action_dispatch.use_cookies_with_metadata" => true,
    "action_dispatch.cookies_serializer" => format.to_sym,
    "action_dispatch.cookies_digest" => digest,
    **rotations,
  ).cookie_jar
rescue LoadError => error
  puts "skipped: cookies of #{VERSION}: #{error.message.lines.first}"
end

def finish(folder, made_by, expected)
  File.write(File.join(folder, "expected.json"), "#{JSON.pretty_generate("made_by" => made_by, "files" => expected)}\n")
  puts "#{folder}: #{expected.size} files, made by #{made_by}"
end

# The job that Sidekiq's client hands to Redis.
def make_sidekiq(root)
  require "sidekiq"
  lists = []
  connection = Object.new
  connection.define_singleton_method(:pipelined) { |&block| block.(self) }
  connection.define_singleton_method(:sadd) { |*| nil }
  connection.define_singleton_method(:lpush) { |_, jobs| lists.concat(jobs) }
  pool = Object.new
  pool.define_singleton_method(:with) { |&block| block.(connection) }
  arguments = [7, "Ada", { "price" => 2.5, "tags" => ["a"] }]
  Sidekiq::Client.new(pool).push("class" => "HardJob", "args" => arguments, "jid" => "b4a577edbccf1d805744efa9")
  folder = File.join(root, "sidekiq-#{Sidekiq::VERSION}")
  FileUtils.mkdir_p(folder)
  File.binwrite(File.join(folder, "job.json"), lists.fetch(0))
  expected = { "layer" => "sidekiq-job", "format" => "json", "steps" => [], "value" => arguments }
  finish(folder, "sidekiq #{Sidekiq::VERSION}, #{RUBY_ENGINE} #{RUBY_VERSION}", "job.json" => expected)
rescue LoadError => error
  puts "skipped: sidekiq: #{error.message}"
end

# What paquito puts in front of a value. The serializers are the application's.
def paquito
  require "paquito"
  yaml = Paquito::SafeYAML.new(permitted_classes: [], aliases: true)
  msgpack = Paquito::CodecFactory.build([Symbol])
  {
    "comment-yaml" => [Paquito::CommentPrefixVersion.new(1, { 1 => yaml }), "yaml", "1"],
    "comment-marshal" => [Paquito::CommentPrefixVersion.new(2, { 2 => Marshal }), "marshal", "2"],
    "comment-msgpack" => [Paquito::CommentPrefixVersion.new(3, { 3 => msgpack }), "msgpack", "3"],
    "byte-marshal" => [Paquito::SingleBytePrefixVersion.new(1, { 1 => Marshal }), "marshal", "1"],
  }
rescue LoadError => error
  puts "skipped: paquito: #{error.message}"
  {}
end

def make_paquito(root)
  value = VALUES["hash"].transform_keys(&:to_s)
  expected = paquito.to_h do |name, (coder, format, version)|
    folder = File.join(root, "paquito-#{Paquito::VERSION}")
    FileUtils.mkdir_p(folder)
    File.binwrite(File.join(folder, "#{name}.bin"), coder.dump(value))
    layer = "paquito-#{name[/\A[a-z]+/]}"
    ["#{name}.bin", { "layer" => layer, "format" => format, "steps" => [], "value" => value, "version" => version }]
  end
  return if expected.empty?

  folder = File.join(root, "paquito-#{Paquito::VERSION}")
  finish(folder, "paquito #{Paquito::VERSION}, #{RUBY_ENGINE} #{RUBY_VERSION}", expected)
end

# What is put back is read by the coder that wrote it.
def check_paquito(regauge)
  value = VALUES["hash"].transform_keys(&:to_s)
  paquito.each do |name, (coder, format, _)|
    found = coder.load(converted(regauge, coder.dump(value), "--to", format))
    abort "paquito #{name}: expected #{value}, found #{found}" unless found == value
  end
end

# The same in class, keys and encoding; a String is text or binary.
def same?(one, other)
  case one
  when Hash then other.is_a?(Hash) && one.keys.map(&:class) == other.keys.map(&:class) && one == other
  when String then one == other && (one.encoding == other.encoding || one.ascii_only?)
  else one == other
  end
end

def converted(regauge, bytes, *options)
  out, error, status = Open3.capture3(regauge, "convert", "-", "-", "--envelope", "keep", *options,
                                      stdin_data: bytes, binmode: true)
  abort "#{options.join(" ")}: #{error}" unless status.success?
  out
end

# What is put back is read by the store that wrote it: value, expiry and version.
def check(regauge)
  checks = 0
  each_entry do |way, name, value, options, folder, store_in|
    targets = [["--to", "marshal"]]
    # Symbols become text there.
    targets << ["--to", "msgpack", "--objects", "data"] if way.start_with?("7.1") && msgpack?
    targets.shift if way.end_with?("msgpack")
    targets.each do |target|
      path = Dir["#{folder}/**/*"].find { |one| File.file?(one) }
      before = File.binread(path)
      File.binwrite(path, converted(regauge, before, *target))
      entry = store_in.(folder).send(:read_entry, path.then { store_in.(folder).send(:normalize_key, "key", {}) })
      File.binwrite(path, before)
      found = entry&.value
      wanted = target.include?("data") && way == "7.1" ? plain(value) : value
      unless entry && same?(wanted, found)
        abort "#{VERSION} #{way} #{name} #{target.join(" ")}: expected #{wanted.inspect[0, 200]}, found #{found.inspect[0, 200]}"
      end
      unless options.empty?
        abort "#{way} #{name}: expiry #{entry.expires_at}" unless (entry.expires_at.to_f - EXPIRES.to_f).abs < 1e-3
        abort "#{way} #{name}: version #{entry.version}" unless entry.version == options[:version]
      end
      checks += 1
    end
  end
  puts "rails #{VERSION}: #{checks} entries that regauge put back are read"
end

def plain(value)
  case value
  when Hash then value.to_h { |key, inside| [key.is_a?(Symbol) ? key.to_s : key, plain(inside)] }
  when Array then value.map { |inside| plain(inside) }
  else value
  end
end

def msgpack?
  return @msgpack unless @msgpack.nil?

  @msgpack = begin
    require "active_support/message_pack"
    true
  rescue LoadError, StandardError
    false
  end
end

case ARGV
in ["make", root]
  make(root)
  make_sidekiq(root)
  make_paquito(root)
  Jobs.make(root) do |folder, frameworks, expected|
    finish(folder, "#{frameworks}, #{RUBY_ENGINE} #{RUBY_VERSION}", expected)
  end
in ["check", regauge]
  check(regauge) if RELEASE >= Gem::Version.new("6.1")
  check_paquito(regauge)
  Jobs.check(regauge)
else
  abort "usage: ruby tools/envelopes_ruby.rb make FOLDER | check path/to/regauge"
end
