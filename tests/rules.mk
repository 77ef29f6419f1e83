# rules.mk: for the Makefile: the programs that test, and the targets that run them.

# A suite is a cmocka program, tests/FOLDER/test_NAME.c, or a script, tests/FOLDER/run.sh, that
# prints "ok NAME", "not ok NAME" or "skip NAME: WHY" lines. Suites run side by side, in the
# repository's root, with BUILD (absolute) and LOCKSTEP ($BUILD/lockstep) set.
# `make test SUITES='tests/ptx'` runs some.

# A unit test is linked with its own folder and those above it.

UNIT_SRC := $(sort $(wildcard tests/*/test_*.c))
# Programs that scripts among the suites run.
TOOL_BIN := $(addprefix $(BUILD)/tests/,docs/instructions ptx/runner ptx/random ptx_front/parse_files ptx_front/try_lines texture/texture_bits) \
    $(patsubst tests/fuzz/fuzz_%.c,$(BUILD)/tests/fuzz/rounds_%,$(wildcard tests/fuzz/fuzz_*.c))
UNIT_BIN := $(patsubst tests/%.c,$(BUILD)/tests/%,$(UNIT_SRC)) $(TOOL_BIN)
SUITES   ?=
# What the named suites need of it
SUITE_BIN = $(if $(SUITES),$(filter $(addprefix $(BUILD)/,$(addsuffix %,$(SUITES))),$(UNIT_BIN)),$(UNIT_BIN))

# Those of src/bench also need the families.
$(BUILD)/tests/bench/%: tests/bench/%.c $(BENCH_OBJ) $(TOOLCHAIN_OBJ) $(REPORT_OBJ) $(ZOO_OBJ) $(BASE_OBJ) $(GPU_OBJ)
	$(call say,LINK)
	$(link_unit)

link_unit = $(CC) $(ALL) -Itests -MMD -MP -o $@ $(filter %.c %.o,$^) $(OPENMP) -lcmocka -ljansson -lsqlite3 $(LIBS)

define unit_rule
ABOVE += $(call objects,$(1))
$$(BUILD)/tests/$(1)/%: tests/$(1)/%.c $$(ABOVE)
	$$(call say,LINK)
	$$(link_unit)
endef
$(foreach folder,base host toolchain gpu report ptx simt check watch,$(eval $(call unit_rule,$(folder))))

# Runs what it parses.
$(BUILD)/tests/ptx_front/try_lines: tests/ptx_front/try_lines.c $(MACHINE_OBJ)
	$(call say,LINK)
	$(link_unit)

$(BUILD)/tests/ptx_front/%: tests/ptx_front/%.c $(BASE_OBJ) $(call objects,ptx)
	$(call say,LINK)
	$(link_unit)

# Programs on a driver find ours by their RUNPATH; nothing of it is linked in but what reads files.
runpath = -Wl,-rpath,'$$ORIGIN/../..' -Wl,--enable-new-dtags
ON_DRIVER := $(BASE_OBJ) $(GPU_OBJ) $(CUDA_OBJ) | $(LIBCUDA)

$(BUILD)/tests/driver/%: tests/driver/%.c $(BUILD)/obj/driver/fatbin.o $(ON_DRIVER)
	$(call say,LINK)
	$(link_unit) $(runpath)

$(BUILD)/tests/ptx/runner: $(addprefix tests/ptx/,runner.c file.c compare.c coverage.c map.c) $(call objects,ptx) $(ON_DRIVER)
	$(call say,LINK)
	$(link_unit) $(runpath)

$(BUILD)/tests/texture/texture_bits: $(addprefix tests/texture/,texture_bits.c run.c cases.c) $(ON_DRIVER)
	$(call say,LINK)
	$(link_unit) $(runpath)

$(BUILD)/tests/ptx/random: tests/gen/random_ptx.c tests/gen/random_program.c $(ON_DRIVER)
	$(call say,LINK)
	$(link_unit) $(runpath)

# Instruction bodies by themselves, on a made-up warp.
$(BUILD)/tests/num/%: tests/num/%.c $(MACHINE_OBJ)
	$(call say,LINK)
	$(link_unit)

$(BUILD)/tests/tensor/%: tests/tensor/%.c $(filter %.o,$(foreach isa,$(ISAS),$(patsubst src/%.c,$(BUILD)/obj/%.$(isa).o,$(wildcard src/simt/exec_tensor*.c)))) $(BUILD)/obj/ptx/table.o
	$(call say,LINK)
	$(link_unit)

$(BUILD)/tests/cli/%: tests/cli/%.c $(filter-out %/main.o,$(CLI_OBJ)) $(STUDIO_OBJ) $(BENCH_OBJ) $(TUNE_OBJ) $(EXPORT_OBJ) $(LEARN_OBJ) $(PTX_OBJ) $(TOOLCHAIN_OBJ) $(REPORT_OBJ) $(ZOO_OBJ) $(BASE_OBJ) $(GPU_OBJ)
	$(call say,LINK)
	$(link_unit) $(STUDIO_LIBS)

$(BUILD)/tests/fuzz/rounds_%: tests/fuzz/fuzz_%.c $(addprefix tests/fuzz/,rounds.c mutate.c generate.c) $(MACHINE_OBJ) $(BUILD)/obj/driver/fatbin.o
	$(call say,LINK)
	$(link_unit)

# The registry is linked in; the public calls are called as a program calls them, from the library.
$(BUILD)/tests/zoo/%: tests/zoo/%.c $(ZOO_OBJ) $(BASE_OBJ) $(GPU_OBJ)
	$(call say,LINK)
	$(link_unit)

$(BUILD)/tests/export/%: tests/export/%.c $(PTX_OBJ) $(EXPORT_OBJ) $(TUNE_OBJ) $(TOOLCHAIN_OBJ) $(ZOO_OBJ) $(BASE_OBJ) $(GPU_OBJ)
	$(call say,LINK)
	$(link_unit)

$(BUILD)/tests/tune/%: tests/tune/%.c $(TUNE_OBJ) $(TOOLCHAIN_OBJ) $(ZOO_OBJ) $(BASE_OBJ) $(GPU_OBJ)
	$(call say,LINK)
	$(link_unit)

$(BUILD)/tests/learn/%: tests/learn/%.c $(LEARN_OBJ) $(PTX_OBJ) $(TOOLCHAIN_OBJ) $(REPORT_OBJ) $(ZOO_OBJ) $(BASE_OBJ) \
    $(GPU_OBJ) $(BUILD)/obj/bench/stats.o
	$(call say,LINK)
	$(link_unit)

$(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/zoo/test_api*.c)): \
$(BUILD)/tests/%: tests/%.c $(BUILD)/liblockstep.so $(ON_DRIVER)
	$(call say,LINK)
	$(link_unit) -L$(BUILD) $(runpath) -llockstep

$(patsubst %.c,$(BUILD)/%,$(wildcard tests/zoo/test_api_*.c)): $(BUILD)/obj/zoo/types.o
$(BUILD)/tests/zoo/test_api_known: | $(BUILD)/bench/calls/libcuda.so.1

$(BUILD)/tests/docs/instructions: tests/docs/instructions.c $(BUILD)/obj/ptx/table.o
	$(call say,LINK)
	$(CC) $(ALL) -o $@ $^

.PHONY: test test-only test-export unit setup setup-tests
without_nvcc = echo "setup: going on without nvcc: clang compiles the kernels; what needs nvcc is skipped" >&2
setup:
	@scripts/setup
	@scripts/get-nvcc --need || $(without_nvcc)

setup-tests:
	@scripts/setup tests
	@scripts/get-nvcc --need || $(without_nvcc)

# All suites, then those of the machine again with ASan and UBSan; the last line counts both.
test: setup-tests
	+@$(MAKE) --no-print-directory -j$(shell nproc) CLANG_SAMPLE=yes all unit kernels
	@rm -f $(BUILD)/counts $(BUILD)/counts.failed $(BUILD)/counts.skipped
	@BUILD=$(abspath $(BUILD)) PTX=$(abspath $(PTX)) COUNTS=$(abspath $(BUILD))/counts scripts/run-tests $(SUITES) || true
	+@COUNTS=$(abspath $(BUILD))/counts $(MAKE) --no-print-directory sanitize-only

test-only: all kernels $(SUITE_BIN)
	@BUILD=$(abspath $(BUILD)) PTX=$(abspath $(PTX)) scripts/run-tests $(SUITES)

# Suites that load the libraries and start no command
.PHONY: test-libraries
test-libraries: $(LIBCUDA) $(SUITE_BIN)
	@BUILD=$(abspath $(BUILD)) PTX=$(abspath $(PTX)) scripts/run-tests $(SUITES)

# `make test` takes a part of each variant's edge problems.
.PHONY: test-kernels
test-kernels: all kernels
	@BUILD=$(abspath $(BUILD)) PTX=$(abspath $(PTX)) KERNELS_ALL=1 scripts/run-tests tests/kernels tests/bench/run.sh

# `make test` leaves out the kernels of the library and programs.
.PHONY: test-counters
test-counters: all
	@BUILD=$(abspath $(BUILD)) COUNTERS_ALL=1 scripts/run-tests tests/counters

# `make test` compiles one variant of every twelfth family, and writes every third.
test-export: all $(BUILD)/tests/export/test_export
	@BUILD=$(abspath $(BUILD)) EXPORT_ALL=1 scripts/run-tests tests/export

# `make test` takes a day of each week, the solutions of week 2, every third cheat, one seed, and part of the pages.
.PHONY: test-course test-studio
test-course: all
	@LOCKSTEP_TEST_ALL=yes BUILD=$(abspath $(BUILD)) scripts/run-tests tests/learn/run.sh tests/learn/run_gaming
test-studio: all
	@LOCKSTEP_TEST_ALL=yes BUILD=$(abspath $(BUILD)) scripts/run-tests tests/studio

# `make test` does it for one day, with fewer mistakes.
.PHONY: test-mutants
test-mutants: all
	@$(BUILD)/lockstep learn check-course --mutate

# `make test` does it for a few days, and runs every sixth notebook.
.PHONY: test-python-course
test-python-course: all
	@LOCKSTEP_TEST_ALL=yes BUILD=$(abspath $(BUILD)) scripts/run-tests tests/learn/run_python tests/python

# `make test` leaves out those that say "takes: long".
.PHONY: test-programs
test-programs: all
	@BUILD=$(abspath $(BUILD)) PROGRAMS_ALL=1 scripts/run-tests tests/programs tests/check

# `make test` has a handful of programs with these libraries, in tests/programs.
test-accusations: all
	@BUILD=$(abspath $(BUILD)) tests/accusations/run_all

# `make test` has a small program with each client that is in the cache, and fetches the small ones.
.PHONY: test-clients
test-clients: all
	@BUILD=$(abspath $(BUILD)) tests/clients/run_suites

unit: $(UNIT_BIN)
