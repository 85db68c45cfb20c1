# The front door. Every target installs what is missing (tools/setup), configures and builds by itself.
#
#     make          build/stride0
#     make test     all tests; those on third-party models need a folder of them, SHARED=path (../shared is found by
#                   itself), and are skipped by name where it is absent
#     make demo     the memory map of a network: MODEL=file DEVICE=preset-or-file. That it does not fit is an answer too
#     make install  the command, its library and header, under PREFIX (/usr/local), all of it inside DESTDIR if that is set
#     make bench    how fast things are; writes docs/performance.md. BENCH_JSON=F: the kernels alone, as rows of JSON in F
#     make format   clang-format over all sources
#     make clean
SHELL := bash
.SHELLFLAGS := -o pipefail -c
override SHARED := $(abspath $(or $(SHARED),$(wildcard ../shared)))
MODEL  ?= examples/separable.tflite
DEVICE ?= mcu-cm
WERROR ?= OFF
PREFIX ?= /usr/local

# What a step has to say is heard where it fails; compilers are always heard.
configure = said=$$(cmake --preset release -DS0_SHARED="$(SHARED)" -DS0_WERROR=$(WERROR) $(1) 2>&1) || \
            { printf '%s\n' "$$said" >&2; exit 1; }
compile   = cmake --build build $(1) -- --quiet | sed '/^ninja: no work to do/d'

.PHONY: build test demo install bench format clean

build:
	@tools/setup build
	@$(call configure,-DBUILD_TESTING=OFF)
	@$(call compile,--target stride0_cli stride0_lib)
	@echo "built build/stride0"

test:
	@tools/setup test
	@$(call configure,-DBUILD_TESTING=ON)
	@$(call compile)
	@tools/run_tests build

demo: build
	@echo 'build/stride0 plan "$(MODEL)" -d "$(DEVICE)"'
	@build/stride0 plan "$(MODEL)" -d "$(DEVICE)" || [ $$? -eq 2 ]

install: build
	@DESTDIR="$(abspath $(DESTDIR))" cmake --install build --prefix "$(abspath $(PREFIX))"

bench:
	@tools/setup bench
	@$(call configure,-DBUILD_TESTING=ON)
ifdef BENCH_JSON
	@$(call compile,--target bench_kern)
	@build/bench/bench_kern --json "$(BENCH_JSON)"
else
	@$(call compile,--target bench)
endif

format:
	@tools/setup ci
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf build
