# frozen_string_literal: true

# RubyGems runs this before `make` and `make install`: it writes a Makefile that makes cargo build
# the extension for this Ruby. Cargo fetches third-party crates; PROFILE=fast builds faster.

require "rbconfig"

unless system("cargo", "--version", out: File::NULL, err: File::NULL)
  abort "regauge is compiled by cargo, which is not on the path: install Rust 1.90 or newer"
end

own = File.expand_path("target")
target = File.expand_path(ENV.fetch("CARGO_TARGET_DIR", own))
profile = ENV.fetch("PROFILE", "release")
folder = profile == "dev" ? "debug" : profile
built = File.join(target, folder, "libregauge_native.#{RbConfig::CONFIG["SOEXT"]}")
extension = "native.#{RbConfig::CONFIG["DLEXT"]}"

File.write("Makefile", <<~MAKEFILE)
  sitearchdir = #{RbConfig::CONFIG["sitearchdir"]}
  # Where RubyGems expects it.
  place = $(DESTDIR)$(sitearchdir)/regauge

  all:
  \tRUBY='#{RbConfig.ruby}' CARGO_TARGET_DIR='#{target}' cargo build --locked --profile '#{profile}' --manifest-path '#{__dir__}/Cargo.toml'

  install: all
  \tmkdir -p "$(place)"
  \tcp '#{built}' "$(place)/#{extension}"

  clean:
  \trm -rf '#{own}'

  .PHONY: all install clean
MAKEFILE
