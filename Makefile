# Targets for contributors. `make help` lists them with their comments.

CARGO ?= cargo
PYTHON ?= python3
REGAUGE := target/release/regauge
DEMO := build/demo
DEMO_REGAUGE := target/demo/regauge
# `make results RUBY_SUITE=forky`: MRI and its gems from that Debian suite
RUBY_SUITE ?=
# Seconds for the catalogue: enough to fill its nine published rows, with JRuby, on a slow machine.
DEMO_BUDGET ?= 150
# `make results BUDGET=20` for a quick look; by default each task has its own budget.
BUDGET ?=
# `make fuzz SECONDS=600 TARGET=json`
SECONDS ?= 60
# The suites of `make drop-ins-check` or `ruby-drop-ins-check`; by default all.
DROP_INS ?=
# YAML readers that `make test` requires; by default those that are installed.
READERS ?=
# What is linted and tested. CI enables the features of all programs, so that everything is built
# once.
FEATURES ?=
PACKAGES := --workspace --exclude regauge-bench --features regauge/serde $(if $(FEATURES),--features $(FEATURES))
# The profile of what `make dist-linux` and `make dist-windows` build, and the ordinary build that their checks
# compare with.
DIST_PROFILE ?= release
DIST_REGAUGE ?= $(REGAUGE)
# `make dist-linux ARCHITECTURES=x86_64`; by default all.
ARCHITECTURES ?=
VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
DIST_OPTIONS = $(addprefix --architecture ,$(ARCHITECTURES))
# Where gem and wheel are built, if they share a folder. CI names that of the command, whose dependencies
# are then built once.
BINDINGS ?=
# The Python of `wheel-check`, which has the peers; the usual one before that.
WHEEL_PYTHON = $(firstword $(wildcard build/python/venv-*/bin/python) $(PYTHON))
IN_BINDINGS = $(if $(BINDINGS),CARGO_TARGET_DIR=$(BINDINGS))
# Servers that `make test-servers` or `test-caches` requires, and of the latter the applications `rails` and `django`;
# others are skipped if they are not available.
REQUIRE ?=
REQUIRED_APPS = $(addprefix --require ,$(filter rails django,$(REQUIRE)))
# The rows that `make test-caches` moves while it kills the migration.
ROWS ?= 100000
# A CPython 3.11 that was built with musl: `make dist-wheels` tests the musllinux wheels with it.
MUSL_PYTHON ?=
# `make wheel SPARK=yes` tests the PySpark data source (450 MB); auto: if Java is installed.
SPARK ?= no

.DEFAULT_GOAL := check
.PHONY: check demo data results test grid test-servers test-caches test-gateway help build lint fmt bench figures fuzz fuzz-check sanitize docs site site-check memory clean \
  wheel wheel-check wheels languages-check drop-ins-check ruby-drop-ins-check python-test gem gem-source gem-check gem-test gem-test-jruby gem-test-newer \
  dist-linux dist-check dist-windows dist-windows-check dist-deb dist-deb-check dist-image dist-image-check dist-gem dist-wheels dist-crates dist-crates-check dist-sbom dist-sums \
  publish-crates publish-wheels publish-gem publish-image library-test \
  version-check deny checks check-envelopes check-marshal check-pickle check-reports check-rest check-xray-page check-yaml check-yaml-11

check: test                     ## Same as `test`

demo:                           ## Measure the catalogue comparison, and a file as your own would be (the main job)
	$(CARGO) build --profile demo -p regauge-cli
	$(DEMO_REGAUGE) measure --setup python ruby jruby --yes --dir build/contenders
	@mkdir -p $(DEMO)
	$(DEMO_REGAUGE) measure --task marc-catalog --budget $(DEMO_BUDGET) --dir build/contenders \
	  --out $(DEMO)/report --json $(DEMO)/marc-catalog.json --force
	$(PYTHON) tools/results.py --filled $(DEMO)/marc-catalog.json
	$(DEMO_REGAUGE) sample legislators $(DEMO)/legislators.json --force
	$(DEMO_REGAUGE) measure $(DEMO)/legislators.json --quick --dir build/contenders --out $(DEMO)/report-legislators --force
	@echo "The pages: $(DEMO)/report*/report.html; all of it in its time: $(DEMO_REGAUGE) measure --task marc-catalog"

results: build                  ## Measure the six published comparisons at full budget, into docs/results and the README (idle machine)
	$(REGAUGE) measure --setup --yes --dir build/contenders
	$(if $(RUBY_SUITE),$(REGAUGE) measure --setup ruby=$(RUBY_SUITE) --yes --dir build/contenders)
	$(PYTHON) tools/results.py --regauge $(REGAUGE) $(if $(BUDGET),--budget $(BUDGET) --folder build/results)

test: lint                      ## Run lint, unit, conformance and command tests, other readers
	$(CARGO) test $(PACKAGES) --quiet
	$(MAKE) --no-print-directory -j 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target) checks

# Two at a time, because most of them use one core.
checks: check-reports check-yaml check-xray-page check-pickle check-yaml-11 check-marshal check-envelopes check-rest  ## Run only the checks of `make test` that use the command it has built
check-envelopes:
	if command -v ruby >/dev/null; then ruby tools/envelopes_ruby.rb check target/debug/regauge; else echo "skipped: no ruby"; fi
	$(PYTHON) tools/envelopes_python.py check target/debug/regauge
check-marshal:
	if command -v ruby >/dev/null; then ruby tools/ruby_marshal_check.rb target/debug/regauge; else echo "skipped: no ruby"; fi
check-pickle:
	$(PYTHON) tools/python_pickle_check.py --regauge target/debug/regauge
check-reports:
	$(PYTHON) tools/report_check.py --regauge target/debug/regauge
check-rest:
	$(PYTHON) tools/data_check.py
	$(PYTHON) tools/hostile_check.py --regauge target/debug/regauge
	$(PYTHON) tools/results_test.py
check-xray-page:
	$(PYTHON) tools/xray_page_check.py --regauge target/debug/regauge
check-yaml:
	$(PYTHON) tools/yaml_readers_check.py --regauge target/debug/regauge $(if $(READERS),--readers $(READERS))
check-yaml-11:
	$(PYTHON) tools/yaml_11_check.py --regauge target/debug/regauge

test-servers:                   ## Run the store's tests on every available server; REGAUGE_KILLS=3 for fewer kills, as in CI
	$(PYTHON) tools/servers.py test --cargo "$(CARGO)" $(if $(FEATURES),--select "$(PACKAGES)") $(addprefix --require ,$(REQUIRE))

test-caches:                    ## Run the tests of the sources on Redis, Memcached, SQL, MongoDB and Cassandra; kill migrations; move Rails and Django (after gem-check, wheel-check)
	$(CARGO) build --quiet $(if $(FEATURES),$(PACKAGES),-p regauge-cli --features servers)
	$(PYTHON) tools/cache_servers.py test --cargo "$(CARGO)" $(if $(FEATURES),--select "$(PACKAGES)") $(addprefix --require ,$(filter-out rails django,$(REQUIRE))) \
	  -- $(WHEEL_PYTHON) tools/migrate_sql_check.py target/debug/regauge --rows $(ROWS)
	$(PYTHON) tools/cache_servers.py run --only redis $(addprefix --require ,$(filter redis,$(REQUIRE))) -- $(PYTHON) tools/migrate_check.py target/debug/regauge
	$(PYTHON) tools/cache_servers.py run --only redis -- $(PYTHON) tools/cache_guides_check.py target/debug/regauge $(REQUIRED_APPS)
	$(PYTHON) tools/cache_servers.py run --only redis -- $(PYTHON) tools/move_check.py target/debug/regauge --values 10000 --kills 8 --seconds 0.5 $(REQUIRED_APPS)

build:                          ## Build the release binary, target/release/regauge
	$(CARGO) build --release -p regauge-cli --features servers,gateway,parquet

lint:                           ## Check formatting, versions, rooms of the crates, licences of the dependencies, published figures, clippy, documentation
	$(CARGO) fmt --all --check
	$(PYTHON) tools/version.py check
	$(PYTHON) tools/rooms.py
	$(PYTHON) tools/check_licences.py
	$(PYTHON) tools/figures_test.py --quiet
	$(PYTHON) tools/figures.py check
	$(PYTHON) tools/results.py --check
	$(CARGO) clippy --workspace --all-targets $(if $(FEATURES),--features $(FEATURES)) --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --features regauge/serde $(if $(FEATURES),--features $(FEATURES)) --no-deps --quiet

fmt:                            ## Format the Rust code
	$(CARGO) fmt --all

data:                           ## Fetch the conformance suites and real files for tests and benchmarks into build/data
	$(PYTHON) tools/data.py

bench: build data               ## Measure the ratios to the peers, in memory and as whole processes
	$(CARGO) run --release -p regauge-bench --bin codecs
	$(CARGO) run --release -p regauge-bench --bin binary
	$(CARGO) run --release -p regauge-bench --bin store
	$(CARGO) run --release -p regauge-bench --bin serde
	$(PYTHON) benches/whole.py

grid: data                      ## Compare the Python package and the gem with the fastest libraries on some 50 documents (after python-test, gem)
	$(PYTHON) -m venv build/figures && build/figures/bin/pip install --quiet -r benches/requirements.txt
	$(PYTHON) benches/grid/documents.py build/grid
	PYTHONPATH=bindings/python/python build/figures/bin/python benches/grid/python.py build/grid $(GRID)
	ruby -Ibindings/ruby/lib benches/grid/ruby.rb $(GRID) build/grid

# `make figures ONLY="codecs store"`; `python3 tools/figures.py list` shows the names and the
# minutes.
figures: data                   ## Measure the published figures again (idle machine) and write them into docs/
	$(PYTHON) -m venv build/figures && build/figures/bin/pip install --quiet -r benches/requirements.txt
	build/figures/bin/python tools/figures.py run $(or $(ONLY),all); \
	  status=$$?; $(PYTHON) tools/figures.py write && exit $$status

gem:                            ## Build the Ruby gem, bindings/ruby/pkg/regauge.gem (needs ruby-dev, libclang-dev, rake)
	cd bindings/ruby && rake gem

gem-source:                     ## Build the source gem, which is compiled on installation
	cd bindings/ruby && rake source_gem

# `make gem-test PROFILE=fast` builds the extension faster.
gem-test:                       ## Lint the gem, run its tests, and again from both gems, each in an empty folder
	cd bindings/ruby/ext/regauge_native && $(CARGO) fmt --check
	cd bindings/ruby && rake lint compile test gem_test source_gem_test

gem-check:                      ## Build the gem quickly and run its tests, installed into an empty folder; run by CI
	cd bindings/ruby/ext/regauge_native && $(CARGO) fmt --check
	cd bindings/ruby && $(IN_BINDINGS) PROFILE=dev rake lint compile test_public gem_test source_gem

gem-test-jruby:                 ## Test the JRuby backend on JRuby (from Maven; needs Java); run by CI
	$(PYTHON) tools/jruby_check.py --regauge target/debug/regauge

gem-test-newer:                 ## Test the gem with the Ruby of a newer Debian (needs root, mmdebstrap); run by CI
	$(IN_BINDINGS) PROFILE=dev tools/newer_ruby.sh

test-gateway:                   ## Test the gateway with schemathesis (needs pip), and its page in Chromium; run by CI
	$(CARGO) build $(if $(FEATURES),$(PACKAGES) --bin regauge,-p regauge-cli --features gateway)
	$(PYTHON) tools/gateway_check.py --regauge target/debug/regauge
	$(PYTHON) tools/admin_page_check.py --regauge target/debug/regauge

fuzz:                           ## Fuzz every target for SECONDS each, or one TARGET (needs cargo-fuzz and nightly)
	$(PYTHON) tools/fuzz.py --seconds $(SECONDS) $(if $(TARGET),--target $(TARGET))

fuzz-check:                     ## Fuzz every target for SECONDS each on stable Rust, without AddressSanitizer; run by CI
	$(PYTHON) tools/fuzz.py --plain --seconds $(SECONDS)

sanitize:                       ## Run the library's tests under AddressSanitizer (needs nightly)
	RUSTFLAGS=-Zsanitizer=address $(CARGO) +nightly test -p regauge --lib --quiet \
	  --target $(shell rustc -vV | sed -n 's/^host: //p') --target-dir target/sanitize

# Only libraries: the pages of the program `regauge` would replace those of the library of that name.
docs:                           ## Build the libraries' documentation, in target/doc
	$(CARGO) doc --lib --workspace --exclude regauge-bench --features regauge/serde --no-deps

site:                           ## Build and check the documentation site, in build/site (needs cargo and ruby for their API)
	$(PYTHON) -m venv build/site-tools && build/site-tools/bin/pip install --quiet -r tools/site/requirements.txt
	if command -v $(firstword $(CARGO)) >/dev/null; then $(MAKE) docs; fi
	build/site-tools/bin/python tools/site_build.py
	$(PYTHON) tools/site_check.py

site-check:                     ## Look at the site in Chromium, in two widths and both themes (after `site`)
	$(PYTHON) tools/site_page_check.py

memory: build                   ## Measure the peak memory of converting 1 GB files
	$(PYTHON) tools/memory_check.py --regauge $(REGAUGE)

wheel: build                    ## Lint and build the Python wheel and test it in a clean environment
	$(PYTHON) tools/python_wheel.py --peers --spark $(SPARK)

wheel-check:                    ## The same with a quick build, and the command that `make test` has built; run by CI
	$(CARGO) build $(if $(FEATURES),$(PACKAGES) --bin regauge,-p regauge-cli)
	$(IN_BINDINGS) $(PYTHON) tools/python_wheel.py --profile dev --command target/debug/regauge --peers --spark $(SPARK)

languages-check:                ## Check one store from four languages, after `gem-check` and `wheel-check`; run by CI
	$(PYTHON) tools/store_languages_check.py --regauge target/debug/regauge --need python,ruby \
	  --python $(filter-out $(PYTHON),$(WHEEL_PYTHON))

wheels: build                   ## Build a wheel for every installed CPython, and the stable-ABI one
	$(PYTHON) tools/python_wheel.py --peers --all --abi3

drop-ins-check:                 ## Run the suites of msgpack, PyYAML, cbor2, bson, diskcache, orjson and json against regauge.compat (after wheel-check)
	$(PYTHON) tools/drop_ins_check.py $(if $(DROP_INS),--only $(DROP_INS))

ruby-drop-ins-check:            ## Run the suites of psych and json, and of msgpack, Oj and bson (MSGPACK_RUBY, OJ_SOURCE, BSON_RUBY), against regauge/compat (after gem)
	ruby tools/ruby_drop_ins_check.rb $(DROP_INS)

python-test:                    ## Build the Python package in place and run its tests, for development
	cd bindings/python && $(CARGO) build --profile fast
	cp bindings/python/target/fast/lib_regauge.so bindings/python/python/regauge/_regauge.so
	cd bindings/python && PYTHONPATH=python $(PYTHON) -m pytest -q tests
	cd bindings/python && PYTHONPATH=python REGAUGE_PUBLIC_API=1 $(PYTHON) -m pytest -q \
	  $(addprefix tests/test_,changed_while_written.py formats.py keys.py map.py marc.py shapes.py)

library-test:                   ## Test the library, and what the others need of the system: what macOS and Windows run
	$(CARGO) test --locked -p regauge --features serde
	$(CARGO) test --locked -p regauge-os

dist-linux:                     ## Build static binaries for x86_64 and aarch64 Linux, packed with man pages and completions, in dist/
	$(PYTHON) tools/dist_linux.py --profile $(DIST_PROFILE) --cargo "$(CARGO)" $(DIST_OPTIONS)

dist-check:                     ## Check them in empty roots against the ordinary build (after `build`; needs root, QEMU)
	$(PYTHON) tools/dist_check.py --regauge $(DIST_REGAUGE) $(DIST_OPTIONS)

dist-windows:                   ## Build the command for Windows, packed with its licences, in dist/ (needs gcc-mingw-w64-x86-64)
	$(PYTHON) tools/dist_windows.py --profile $(DIST_PROFILE) --cargo "$(CARGO)"

dist-windows-check:             ## Check it in wine against the ordinary build (after `build`; needs wine, wine64)
	$(PYTHON) tools/dist_windows_check.py --regauge $(DIST_REGAUGE)

dist-deb:                       ## Pack the static binaries as Debian packages, in dist/ (after dist-linux)
	$(PYTHON) tools/dist_deb.py $(DIST_OPTIONS)

dist-deb-check:                 ## Install, run, remove and purge the package in fresh Debians 12 and 13 (needs root, mmdebstrap, lintian)
	SUITE=bookworm tools/deb_check.sh
	SUITE=trixie tools/deb_check.sh

dist-image:                     ## Pack the static binaries as a container image of the gateway, in dist/ (after dist-linux)
	$(PYTHON) tools/dist_image.py $(DIST_OPTIONS)

dist-image-check:               ## Run a container of the image (needs root, runc, skopeo, umoci)
	$(PYTHON) tools/dist_image_check.py

dist-wheels:                    ## Build wheels for each CPython here and Linux with glibc or musl, and the sdist, in dist/ (after dist-linux)
	mkdir -p build/dist
	tar -xzf dist/regauge-$(VERSION)-x86_64-linux.tar.gz -C build/dist --strip-components=1 --wildcards '*/regauge'
	$(PYTHON) tools/python_wheel.py --all --abi3 --peers --portable --profile $(DIST_PROFILE) --command build/dist/regauge
	cp build/python/wheels/*.whl dist/
	$(PYTHON) tools/dist_wheels.py --profile $(DIST_PROFILE) $(if $(MUSL_PYTHON),--musl-python $(MUSL_PYTHON))

dist-gem:                       ## Build the source gem and test it installed, in dist/
	cd bindings/ruby && PROFILE=$(DIST_PROFILE) rake source_gem_test
	mkdir -p dist && cp bindings/ruby/pkg/regauge-source.gem dist/regauge-$(VERSION).gem

dist-crates:                    ## Pack the crates as they are published, in dist/
	$(PYTHON) tools/dist_crates.py --cargo "$(CARGO)"

dist-crates-check:              ## Run their examples and the command with nothing else of the repository (after dist-crates)
	$(PYTHON) tools/dist_crates_check.py --cargo "$(CARGO)"

dist-sbom:                      ## Write what the command consists of (CycloneDX), in dist/
	$(PYTHON) tools/dist_sbom.py

dist-sums:                      ## Write the checksums of everything in dist/
	cd dist && rm -f SHA256SUMS && sums=$$(sha256sum *) && echo "$$sums" | tee SHA256SUMS

publish-crates:                 ## Publish the crates on crates.io (needs CARGO_REGISTRY_TOKEN or `cargo login`)
	$(CARGO) publish --locked --workspace

publish-wheels:                 ## Publish dist/*.whl and the sdist on PyPI (needs uv; UV_PUBLISH_TOKEN, or a workflow that PyPI trusts)
	uv publish dist/*.whl dist/regauge-$(VERSION).tar.gz

publish-gem:                    ## Publish the gem of dist/ on RubyGems (needs `gem signin`, or a workflow that RubyGems trusts)
	gem push dist/regauge-$(VERSION).gem

publish-image:                  ## Publish the image of dist/ as IMAGE (registry, owner and name) with the version as its tag (needs skopeo)
	skopeo copy --all $(if $(TOKEN),--dest-creds "$$USER_NAME:$$TOKEN") \
	  "oci-archive:dist/regauge-$(VERSION)-image.tar:regauge:$(VERSION)" "docker://$(IMAGE):$(VERSION)"

version-check:                  ## Check every copy of the version, and that TAG=v1.2.3 is its tag
	$(PYTHON) tools/version.py check $(TAG)

deny:                           ## Look the dependencies up among known vulnerabilities (needs cargo-deny, network)
	$(CARGO) deny check advisories bans sources
	$(CARGO) deny --manifest-path bindings/python/Cargo.toml check --config deny.toml advisories sources
	$(CARGO) deny --manifest-path bindings/ruby/ext/regauge_native/Cargo.toml check --config deny.toml advisories sources

clean:                          ## Remove what was built
	$(CARGO) clean
	rm -rf build dist

help:                           ## Show this list
	@awk -F ' *## ' '/^[a-z-]+:.*## / { split($$1, t, ":"); printf "  make %-16s %s\n", t[1], $$2 }' $(MAKEFILE_LIST)
