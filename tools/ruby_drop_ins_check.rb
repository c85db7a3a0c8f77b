#!/usr/bin/env ruby
# frozen_string_literal: true

# Runs the test suites of other libraries against the modules of `regauge/compat`.
#
#     ruby tools/ruby_drop_ins_check.rb [psych json msgpack oj bson …]
#
# psych's and json's suites are part of Ruby's source, which apt downloads at a pinned version, from the
# sources of this machine, and whose checksum is verified. Debian does not offer those of msgpack, Oj and bson:
# they run if MSGPACK_RUBY, OJ_SOURCE and BSON_RUBY name checkouts of their tags. The gem is that in bindings/ruby, after `rake compile`.
#
# Each suite runs twice: as it is, and with the classes that its tests define listed by
# `Regauge::Compat.permit`. Prints how many tests passed; exits with 1 if, in the second run, a test fails
# that is not in tools/ruby_drop_ins.json, with its reason, or if one of that list passes.

require "digest"
require "fileutils"
require "json"
require "open3"

ROOT = File.expand_path("..", __dir__)
BUILD = File.join(ROOT, "build", "drop-ins")
KNOWN = JSON.parse(File.read(File.join(__dir__, "ruby_drop_ins.json")))
GEM = File.join(ROOT, "bindings", "ruby", "lib")

def run(environment, *command, **options)
  output, status = Open3.capture2e(environment, *command, **options)
  abort "#{command.join(" ")}\n#{output}" unless status.success?
  output
end

# Writes the machine's apt sources of this release as sources of source packages; returns options for apt.
def apt_options
  folder = File.join(BUILD, "apt")
  FileUtils.mkdir_p(File.join(folder, "lists", "partial"))
  release = File.read("/etc/os-release")[/^VERSION_CODENAME=(\w+)/, 1]
  texts = Dir["/etc/apt/sources.list", "/etc/apt/sources.list.d/*.{list,sources}"].map { |file| File.read(file) }
  entries = texts.flat_map { |text| text.match?(/^Types:/) ? text.split(/\n\s*\n/) : text.lines(chomp: true) }
  entries = entries.grep(/\b#{release}\b/).grep(/^(Types:.*\bdeb\b|deb )/)
  stanzas, lines = entries.partition { |entry| entry.match?(/^Types:/) }
  stanzas.map! { |one| one.sub(/^Types:.*/, "Types: deb-src") }
  File.write(File.join(folder, "all.sources"), stanzas.join("\n\n"))
  File.write(File.join(folder, "all.list"), lines.map { |one| "#{one.sub(/^deb /, "deb-src ")}\n" }.join)
  { "Dir::Etc::sourcelist" => "/dev/null", "Dir::Etc::sourceparts" => folder, "Dir::State::lists" => "#{folder}/lists" }
    .flat_map { |name, value| ["-o", "#{name}=#{value}"] }
end

# Returns the path of a source package's archive.
def archive(source)
  path = File.join(BUILD, source["file"])
  unless File.file?(path)
    options = apt_options
    run({}, "apt-get", *options, "update", "-qq")
    package = source["package"]
    stanzas = run({}, "apt-cache", *options, "showsrc", package).split(/\n\s*\n/)
    stanza = stanzas.find { |one| one.include?(" #{source["file"]}\n") } or abort "apt has no #{source["file"]}"
    package += "=#{stanza[/^Version: (.*)/, 1]}"
    run({}, "apt-get", *options, "source", "-qq", "--tar-only", "--download-only", package, chdir: BUILD)
  end
  found = Digest::SHA256.file(path).hexdigest
  abort "#{path} has the checksum #{found}, expected #{source["sha256"]}" unless found == source["sha256"]
  path
end

# Returns the folder of a suite; nil if it is not there.
def folder_of(name, library)
  if library["environment"]
    variable, version = library.values_at("environment", "version")
    folder = ENV.fetch(variable, nil)
    return puts("#{name}: not run: #{variable} does not name a checkout of #{version}") unless folder

    found = File.read(File.join(folder, library["version_file"]))[/["']([\d.]+)["']/, 1]
    abort "#{folder} is #{found}, expected #{library["version"]}" unless found == library["version"]
    return folder unless library["parts"]

    # Without the library, which the machine has.
    copy = File.join(BUILD, "#{name}-#{version}")
    FileUtils.rm_rf(copy)
    FileUtils.mkdir_p(copy)
    library["parts"].each { |part| FileUtils.cp_r(File.join(folder, part), copy) }
    library.fetch("files_to_write", {}).each do |path, text|
      FileUtils.mkdir_p(File.dirname(File.join(copy, path)))
      File.write(File.join(copy, path), text)
    end
    return copy
  end
  folder = File.join(BUILD, "#{name}-#{library["version"]}")
  FileUtils.rm_rf(folder)
  FileUtils.mkdir_p(folder)
  wanted = library["parts"].map { |part| "*/#{part}" }
  run({}, "tar", "xf", archive(library["source"]), "-C", folder, "--strip-components=1", "--wildcards", *wanted)
  folder
end

# Returns the outcome of each test.
def results_of(name, library, folder, permit:)
  results = File.join(BUILD, "#{name}-results.txt")
  paths = [GEM, *library["load_path"].map { |path| File.join(folder, path) }]
  # The library that belongs to this Ruby, whatever gems there are.
  paths += [RbConfig::CONFIG["rubylibdir"], RbConfig::CONFIG["rubyarchdir"]] if library["source"]
  environment = { "RUBYLIB" => paths.join(":"), "DROP_IN" => name, "DROP_IN_RESULTS" => results,
                  "DROP_IN_PERMIT" => permit ? "1" : nil,
                  "RUBYOPT" => "-rregauge/compat/#{name} #{library["options"]}" }
  runner = File.join(__dir__, "ruby_drop_ins_run.rb")
  files = Dir[File.join(folder, library["files"])].sort
  # Some suites set options that stay.
  (library["apart"] ? files.each_slice(1) : [files]).each_with_object({}) do |part, outcomes|
    FileUtils.rm_f(results)
    output, = Open3.capture2e(environment, RbConfig.ruby, runner, *part, chdir: folder)
    abort "#{name}: the suite did not run\n#{output}" unless File.file?(results)
    outcomes.update(File.readlines(results, chomp: true).to_h { |line| line.split(" ", 2).reverse })
  end
end

# Prints how a suite went; returns whether it went as listed.
def judge(name, library, alone, results)
  failed = results.select { |_, outcome| outcome == "failed" }.keys
  total = failed.size + results.count { |_, outcome| outcome == "passed" }
  listed = library["differences"].flat_map { |difference| difference["tests"] }
  share = ->(count) { format("%d of %d (%.1f%%)", count, total, 100.0 * count / [total, 1].max) }
  alone = alone.count { |_, outcome| outcome == "passed" }
  puts "#{name} #{library["version"]}: #{share.call(total - failed.size)} passed, #{failed.size} differ, " \
       "#{results.size - total} skipped; #{share.call(alone)} without Regauge::Compat.permit"
  (failed - listed).each { |test| puts "  fails, and is not listed: #{test}" }
  (listed - failed).each { |test| puts "  is listed, and passes: #{test}" }
  puts "  found #{total} tests, expected at least #{library["at_least"]}" if total < library["at_least"]
  failed.sort == listed.sort && total >= library["at_least"]
end

names = ARGV.empty? ? KNOWN.keys : ARGV
unknown = names - KNOWN.keys
abort "found #{unknown.join(", ")}, expected one or more of #{KNOWN.keys.join(", ")}" unless unknown.empty?
FileUtils.mkdir_p(BUILD)
well = names.map do |name|
  library = KNOWN.fetch(name)
  folder = folder_of(name, library) or next true
  runs = [false, true].map { |permit| results_of(name, library, folder, permit: permit) }
  judge(name, library, *runs)
end
exit well.all?
