# SPDX-License-Identifier: Apache-2.0
# The commands a person types. The build itself is CMake's: see CMakePresets.json.

.PHONY: all guidelines demo deb release docs studio test test-all test-slow \
	bench fuzz fmt tidy install wireshark clean
.DEFAULT_GOAL := all

# build/release/rocesim
all: build/release/build.ninja
	@cmake --build build/release

build/release/build.ninja: CMakePresets.json
	@tools/setup --check build
	@cmake --preset release

# Simulates a data centre fabric with congestion control off and on, and shows what changed.
demo:
	@tools/setup demo
	@cmake --preset release >/dev/null
	@cmake --build build/release --target rocesim_program
	@scenarios/demo/run.sh

# All pages as a site with a search field, in build/docs/site; refuses dead links and unlisted pages.
docs:
	@tools/setup docs
	@tools/docs

# The studio: its libraries, its server, its page; then serves it until Ctrl-C. STUDIO="--data DIR".
studio:
	@tools/setup studio
	@cmake --preset release -DROCESIM_STUDIO=ON >/dev/null
	@cmake --build build/release --target rocesim_program rocesim_studio_program
	@[ ! -x tools/studio-page ] || tools/studio-page build/release/studio-page
	@exec build/release/rocesim studio $(STUDIO)

# A published figure: make paper-hpcc-incast (scenarios/papers/run lists them).
paper-%: all
	@scenarios/papers/run $*

# The table of docs/models/rnic.md: measured rates of real NICs and ours, into out/guidelines.csv.
guidelines: all
	@tools/guidelines

# The release build and all tests of behaviour: the command for people. README.md says how long it takes.
test:
	@tools/setup test
	@tools/test

# Everything else that must hold before a change goes in; .ci/run runs both.
test-all:
	@tools/setup test
	@tools/test rest

# Long forms of tests (whole studies, long traces, every seed), and every test in every build. Hours.
test-slow:
	@tools/setup test
	@tools/test slow

# Packet-hops per second, instructions and bytes, next to ns-3; with BASE=COMMIT beside that commit.
bench:
	@tools/setup bench
	@cmake --preset release
	@cmake --build build/release --target bench
	@bench/beside build/release $(BASE)

# libFuzzer over every target, FUZZ_SECONDS each; new inputs stay in build/fuzz/corpus.
fuzz:
	@tools/setup test
	@tools/fuzz $(or $(FUZZ_SECONDS),60)

fmt:
	@tools/format

tidy:
	@tools/tidy

# Debian packages into build/deb: program, library, headers, studio, Python, pages.
deb:
	@tools/setup deb
	@tools/deb

# All files of a release, reproducibly, into build/dist; RELEASE="--key KEY" signs them.
release:
	@tools/setup deb
	@tools/release $(RELEASE)

install: all
	@cmake --install build/release

# Wireshark's profile rocesim for this user: colours, filter buttons, columns, a post-dissector.
wireshark:
	@tools/wireshark-profile

clean:
	@rm -rf build
