# Short names for what Meson and the scripts in tools/ do. `meson setup build` and
# `ninja -C build` need no make.
#
#   make             build into build/; installs nothing, needs a C compiler, Meson and Ninja
#   make check-core  the tests that need no more than that
#   make check       installs what is missing (Debian: says what, then apt-get), then all tests
#   make check-gpu   on a machine with an NVIDIA GPU and PyTorch for it: installs nothing, writes doc/measured/gpu.md
#   make demo        the same set-up, then a real training run under dwell and its reports
#   make pictures    makes the pictures of README anew (needs oneDNN and Chromium)
#   make site        a web site of the documents in build/site, with MkDocs from pip
#   make engines     fetches engines that others wrote, and compares their own timers with dwell's steps
#   make bench       installs what is missing (Debian), then measures what dwell costs on this machine
#   make fuzz        fuzzes the reader for FUZZ_SECONDS a target
#   make stress      threads, fork, kill, full disk, long
#   make install     into PREFIX, by default /usr/local (DESTDIR is put before it)
#   make uninstall   removes what the last make install from this folder installed
#   make wheel       the package for pip, for each CPython from 3.9 on and glibc 2.28, into build/wheel
#   tools/release/release_check  all that is checked before a release, in a fresh clone, as one table
#   make deb         Debian packages of the commit that is checked out, into build/deb
#   make dist        the archive of the sources, and the recorder in two files, dwell.h and dwell.c, into build/dist
#   make format      clang-format over what changed since the last commit; FORMAT_ALL=1: everything
#   make clean       removes the build folders

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
FUZZ_SECONDS ?= 60
MESON ?= meson
NINJA ?= ninja

.PHONY: all check-core check check-gpu demo pictures site engines bench fuzz stress install uninstall wheel deb dist format clean

all: $(BUILD)/build.ninja
	$(NINJA) -C $(BUILD) -j $(JOBS)

$(BUILD)/build.ninja:
	@command -v $(MESON) >/dev/null || { echo "make: Meson is not installed: apt-get install meson ninja-build, or pip install meson ninja" >&2; exit 1; }
	$(MESON) setup $(BUILD)

# Python 3 comes with Meson, but not with every program that reads its language.
check-core: $(BUILD)/build.ninja
	@if command -v python3 >/dev/null; then \
		tools/check --core --build $(BUILD) --jobs $(JOBS); \
	else \
		$(NINJA) -C $(BUILD) -j $(JOBS) && \
		$(MESON) test -C $(BUILD) --suite unit --print-errorlogs && \
		echo "skipped golden, cli: no python3"; \
	fi

check:
	tools/setup check
	tools/check --jobs $(JOBS)

check-gpu: all
	python3 tools/measure/gpu_check $(BUILD)/dwell

demo:
	tools/setup demo
	$(MAKE) $(BUILD)/build.ninja
	tools/make/demo $(BUILD) $(JOBS)

pictures: all
	tools/make/pictures $(BUILD)

site:
	tools/make/site $(BUILD)/site

engines: all
	DWELL_BUILD=$(abspath $(BUILD)) examples/engines/run

# An existing folder is configured again: the packages may have come after it.
bench:
	tools/setup bench || echo "bench: what could not be installed is skipped" >&2
	if test -f build-bench/build.ninja; then \
		$(MESON) configure build-bench --clearcache && \
		$(MESON) setup --reconfigure build-bench --buildtype release; \
	else \
		$(MESON) setup build-bench --buildtype release; \
	fi
	$(NINJA) -C build-bench -k 0 -j $(JOBS) all bench_programs || echo "bench: not everything was built; what needs it fails" >&2
	bench/run build-bench

fuzz:
	tools/setup fuzz
	tools/measure/fuzz $(FUZZ_SECONDS)

stress: all
	$(MESON) test -C $(BUILD) --suite stress --test-args=--long --timeout-multiplier 0 --verbose

# A prefix other than the configured one reaches the files that name it. Built before
# it is installed, so that a `sudo make install` after `make` leaves no files of root here.
install: $(BUILD)/build.ninja
	$(MESON) configure $(BUILD) -Dprefix=$(abspath $(PREFIX)) -Dlibdir=lib
	$(NINJA) -C $(BUILD) -j $(JOBS)
	DESTDIR=$(DESTDIR) $(MESON) install -C $(BUILD) --no-rebuild

uninstall:
	$(NINJA) -C $(BUILD) uninstall

wheel:
	tools/setup wheel
	tools/release/wheel $(BUILD)/wheel

deb:
	tools/setup deb
	tools/release/deb $(BUILD)/deb

dist:
	tools/make/amalgamate $(BUILD)/dist
	tools/release/source_archive $(BUILD)/dist

format:
	tools/format $(if $(FORMAT_ALL),--all)

clean:
	rm -rf $(BUILD) build-check build-bench build-fuzz
