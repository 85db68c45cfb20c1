# The front door. Every target installs what is missing (tools/setup), configures and builds by itself.
#
#     make          build/stride0
#     make test     all tests; those that need ../shared are skipped by name where it is absent (SHARED=path)
#     make demo     the memory map of a network: MODEL=file DEVICE=preset-or-file
#     make bench    how long plan takes and how much memory it needs
#     make format   clang-format over all sources
#     make clean
override SHARED := $(abspath $(or $(SHARED),$(wildcard ../shared)))
MODEL  ?= examples/separable.tflite
DEVICE ?= mcu-cm
WERROR ?= OFF

configure = cmake --preset release --log-level=WARNING -DS0_SHARED="$(SHARED)" -DS0_WERROR=$(WERROR)
compile   = cmake --build build

.PHONY: build test demo bench format clean

build:
	@tools/setup build
	@$(configure) -DBUILD_TESTING=OFF
	@$(compile) --target stride0_cli

test:
	@tools/setup test
	@$(configure) -DBUILD_TESTING=ON
	@$(compile)
	@tools/run_tests build

demo: build
	build/stride0 plan "$(MODEL)" -d "$(DEVICE)"

bench:
	@tools/setup test
	@$(configure) -DBUILD_TESTING=ON
	@$(compile) --target bench

format:
	@tools/setup ci
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	rm -rf build
