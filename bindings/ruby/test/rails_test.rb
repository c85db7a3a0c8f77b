# frozen_string_literal: true

require "helper"
require "open3"

# I18n's translations and Rails' configuration files are the same with `require "regauge/compat/psych"` in an
# initializer. The libraries are Debian's ruby-i18n, ruby-activesupport and ruby-railties.
class RailsTest < Minitest::Test
  FILES = {
    "locales/en.yml" => <<~YAML,
      en:
        hello: "Hello, %{name}!"
        date:
          formats: { default: "%Y-%m-%d", short: "%b %d" }
          order: [day, month]
          abbr_day_names: [Sun, Mon, Tue]
        count:
          one: 1 item
          other: "%{count} items"
        multi: |
          two
          lines
        "yes": answer
        "no": ~
    YAML
    "locales/de.yml" => <<~YAML,
      de:
        hello: Grüß dich, %{name}!
        number:
          format:
            delimiter: "."
            precision: 3
            round_mode: default
            significant: false
        order:
        - :day
        - :month
    YAML
    "locales/fr.yml" => <<~YAML,
      fr:
        defaults: &defaults
          a: 1
        other:
          <<: *defaults
          b: 2
    YAML
    "config/payment.yml" => <<~YAML,
      shared:
        currency: EUR
        limits: { low: 1_000, high: 1.5e+4 }
      production:
        key: <%= "k" * 3 %>
        hosts:
        <% 2.times do |index| %>
        - host<%= index %>.example
        <% end %>
        limits:
          high: 10
        on: true
      development:
        key: none
    YAML
    "config/database.yml" => <<~YAML
      default: &default
        adapter: sqlite3
        pool: <%= ENV.fetch("POOL", 5) %>
      production:
        <<: *default
        database: db/production.sqlite3
    YAML
  }.freeze

  def setup
    @folder = Dir.mktmpdir
    FILES.each do |name, text|
      FileUtils.mkdir_p(File.join(@folder, File.dirname(name)))
      File.write(File.join(@folder, name), text)
    end
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  # Skips the test without a library; with CI=true it fails.
  def needs(*libraries)
    libraries.each { |library| Gem::Specification.find_by_name(library) }
  rescue Gem::MissingSpecError => error
    message = "apt-get install ruby-i18n ruby-activesupport ruby-railties: #{error.message}"
    ENV["CI"] == "true" ? flunk(message) : skip(message)
  end

  # Returns what a new Ruby prints, in the folder.
  def printed(code, *flags)
    paths = $LOAD_PATH.map { |path| "-I#{path}" }
    # In UTF-8, even where no locale is set.
    flags += ["-W0", "-EUTF-8"]
    out, err, status = Open3.capture3(RbConfig.ruby, *paths, *flags, "-e", code, chdir: @folder)
    assert status.success?, err
    out.force_encoding(Encoding::UTF_8)
  end

  # Counts the documents that regauge reads by itself, and prints that last.
  COUNTED = <<~RUBY
    count = 0
    trace = TracePoint.new(:return) do |point|
      not_plain = point.self.const_get(:NOT) if point.method_id == :read && point.path.end_with?("psych/plain.rb")
      count += 1 unless not_plain.nil? || point.return_value.equal?(not_plain)
    end
    at_exit { puts count }
    trace.enable
  RUBY

  # Returns what the code prints with Psych, and asserts that it is the same with the drop-in, which
  # reads at least this many documents by itself.
  def assert_same(code, by_regauge:)
    expected = printed(code)
    found, count = printed(COUNTED + code, "-rregauge/compat/psych").scan(/\A(.*?)(\d+)\n\z/m).first
    assert_equal expected, found
    assert_operator count.to_i, :>=, by_regauge
    expected
  end

  def test_translations
    needs "i18n"
    found = assert_same(<<~RUBY, by_regauge: 2)
      require "i18n"
      I18n.load_path = Dir["locales/*.yml"].sort
      I18n.backend.load_translations
      p I18n.backend.translations, I18n.t(:hello, name: "Ada", locale: :de), I18n.t(:count, count: 2)
    RUBY
    assert_includes found, "Grüß dich, Ada!"
    assert_includes found, "[:day, :month]"
  end

  def test_configuration_files
    needs "activesupport"
    found = assert_same(<<~RUBY, by_regauge: 1)
      require "active_support"
      require "active_support/configuration_file"
      %w[payment database].each { |name| p ActiveSupport::ConfigurationFile.parse("config/\#{name}.yml") }
    RUBY
    assert_includes found, "host1.example"
    assert_includes found, "db/production.sqlite3"
  end

  def test_config_for
    needs "railties"
    found = assert_same(<<~RUBY, by_regauge: 1)
      require "rails"
      class Shop < Rails::Application
        config.root = Dir.pwd
        config.eager_load = false
      end
      p Shop.instance.config_for(:payment, env: "production"), Shop.instance.config.database_configuration
    RUBY
    assert_includes found, "kkk"
  end
end
