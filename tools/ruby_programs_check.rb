# frozen_string_literal: true

# Boots a Rails application with and without `require "regauge/compat/psych"`, and compares what it prints.
#
#   ruby tools/ruby_programs_check.rb [rounds]
#
# The application is written to build/programs/rails: 240 locale files, 3.4 MB of YAML, and the files of
# `config_for`. Rails and I18n are Debian's ruby-railties and ruby-i18n; the gem is that of bindings/ruby, after `rake
# compile`. Prints for each command the median of its processor time without and with regauge, in turn; exits with
# 1 if its output differs.

require "fileutils"
require "open3"
require "rbconfig"

ROOT = File.expand_path("..", __dir__)
APP = File.join(ROOT, "build", "programs", "rails")
LIB = File.join(ROOT, "bindings", "ruby", "lib")
ROUNDS = Integer(ARGV.fetch(0, "5"))

LANGUAGES = %w[ar bg bs ca cs cy da de el en es et eu fa fi fr gl he hi hr hu id is it ja ko lt lv mk nb nl pl pt ro ru sk
               sl sv tr uk].freeze
PARTS = %w[models views mailers errors dates admin].freeze

FILES = {
  "config/boot.rb" => %(require "regauge/compat/psych" if ENV["DROP_INS"] == "psych"\n),
  "config/application.rb" => <<~RUBY,
    require_relative "boot"
    require "rails"
    require "action_controller/railtie"

    class Shop < Rails::Application
      config.root = File.expand_path("..", __dir__)
      config.eager_load = true
      config.logger = Logger.new(IO::NULL)
      config.secret_key_base = "x" * 30
      config.i18n.available_locales = Dir["\#{config.root}/config/locales/*"].map { |path| File.basename(path).to_sym }
      config.i18n.load_path += Dir["\#{config.root}/config/locales/*/*.yml"].sort
      config.payment = config_for(:payment)
    end
  RUBY
  "config/environment.rb" => %(require_relative "application"\nRails.application.initialize!\n),
  "config/payment.yml" => <<~YAML,
    shared: &shared
      currency: EUR
      hosts: [one, two]
    production:
      <<: *shared
      limit: <%= 7 * 6 %>
  YAML
  "boot.rb" => <<~RUBY,
    require_relative "config/environment"
    p Rails.configuration.payment
  RUBY
  "translate.rb" => <<~RUBY
    require_relative "config/environment"
    require "digest"
    I18n.eager_load!
    all = I18n.available_locales.sort.map { |locale| I18n.t(".", locale: locale) }
    puts all.length, Digest::SHA256.hexdigest(all.inspect.gsub(/#<Proc\\S+/, "")), I18n.t("models.item7.title", locale: :de, count: 3)
  RUBY
}.freeze

# Returns a locale file, as Rails' generators and translators write them.
def locale(language, part)
  items = Array.new(60) do |index|
    <<-YAML
    item#{index}:
      title: "#{part.capitalize} #{index}: %{count} in #{language}"
      hint: Choose one of the items below
      formats: { default: "%Y-%m-%d", short: "%b %d" }
      order: [day, month]
      text: '«é» ü'
      enabled: true
      size: #{index * 1.5}
    YAML
  end
  "#{language}:\n  #{part}:\n#{items.join}"
end

def write
  FileUtils.rm_rf(APP)
  files = LANGUAGES.product(PARTS).to_h do |language, part|
    ["config/locales/#{language}/#{part}.yml", locale(language, part)]
  end
  FILES.merge(files).each do |path, text|
    path = File.join(APP, path)
    FileUtils.mkdir_p(File.dirname(path))
    File.write(path, text)
  end
end

def median(values) = values.sort[values.length / 2]

# Returns the processor time of a command in seconds, and its output and status.
def timed(file, drop_ins)
  before = Process.times
  output, status = Open3.capture2e({ "DROP_INS" => drop_ins, "RAILS_ENV" => "production" }, RbConfig.ruby, "-I#{LIB}",
                                   File.join(APP, file))
  after = Process.times
  [after.cutime + after.cstime - before.cutime - before.cstime, [output, status.exitstatus]]
end

write
differs = %w[boot.rb translate.rb].map do |file|
  rounds = Array.new(ROUNDS) { [timed(file, ""), timed(file, "psych")] }
  without, with_it = rounds.transpose.map { |runs| median(runs.map(&:first)) }
  outputs = rounds.flatten(1).map(&:last).uniq
  puts format("%s: %.2f s, with regauge %.2f s, %.2fx; %s, status %d", file, without, with_it, without / with_it,
              outputs.one? ? "the same output" : "the output DIFFERS", outputs.first.last)
  outputs.length > 1
end
exit 1 if differs.any?
