# Lockstep: one Makefile.
#   make                build everything into build/
#   make test           install what is missing, build, run every test; last line "N passed, N failed",
#                       and ", N skipped" where something that tests need is missing
#   make tour           install what is missing, build, show what Lockstep does
#   make learn          install what the course needs, and build; no NVIDIA software
#   make test-kernels   every edge problem of every variant: 'make test' takes a part (minutes)
#   make test-counters  every counter that ncu gave on an H200: 'make test' takes access patterns and Hopper's units
#   make test-export    every exported kernel, compiled by nvcc and run (minutes)
#   make test-course    every lesson with its wrong kernels; 'make test' takes a day of each week (minutes)
#   make test-studio    every page and picture in a browser; 'make test' takes a part (minutes)
#   make test-mutants   every mistake that the course's audit can make in its solutions (many minutes)
#   make test-python-course  every exercise and every notebook in Python (minutes; needs Triton, NumPy and CuPy)
#   make test-programs  programs that nvcc takes a quarter of a minute and more for: Thrust, CUB
#   make test-accusations  calls of CUB, Thrust, cooperative groups and libcu++ under check (minutes)
#   make test-clients   Triton, Numba, CuPy, cuda.core and PyTorch on the machine, with part of their own suites;
#                       fetches 4.2 GB from PyPI (docs/clients.md)
#   make gpu-test       compare the machine with a real GPU, test the kernels on it (needs one)
#   make gpu-counters   compare its counters and modelled times with ncu's (needs a GPU)
#   make gpu-bench      every kernel beside its peers into build/bench.json (needs a GPU)
#   make bench-machine  how fast the machine is
#   make bench-cub      public calls beside CUB's, warm, in a plain stream, on a GPU; needs nvcc
#   make bench-calls    what a public call costs the host beside the driver; CALLS='--gpu cuda:0': on a GPU
#   make quality        attention's error for keys and values in fewer bits, on a model from PyPI (93 MB; minutes)
#   make bench-verdicts how long a learner waits for a verdict, for every exercise
#   make fuzz           libFuzzer on the parsers and on the machine, FUZZ_SECONDS each (needs clang);
#                       make fuzz FUZZ=run FUZZ_SECONDS=3600: one of them, for an hour
#   make sanitize       with ASan and UBSan (build/asan), then with TSan (build/tsan): tests on each
#   make format         clang-format in place
#   make lint           install what is missing; is the format right, do clang-tidy and cppcheck find
#                       nothing? Also one by one: make format-check tidy cppcheck
#   make install PREFIX=/usr/local   the command, liblockstep with its header and pkg-config file
#   make docs           the pages and pictures in docs/ that are made from the code
#   make tables         the tables and plots in kernels/*/README.md, by profiling every variant
#   make help           this list
#   make clean
# A folder without sources is skipped, so that every commit builds.
ifeq ($(origin CC),default)
CC      := gcc
endif
BUILD   ?= build
PREFIX  ?= /usr/local
# Lines for backtraces; with -O2 most variables are gone anyway. To step through: make CFLAGS="-O0 -g"
CFLAGS  ?= -O2 -g1
CC_NAME := $(shell $(CC) --version 2>/dev/null | head -n 1)
IS_CLANG := $(findstring clang,$(CC_NAME))

# Warnings are errors. Every exception is here, with its reason:
#   unused-parameter           driver calls, callbacks and instruction bodies share a signature, and
#                              few need all of it
#   missing-field-initializers the tables of variants and peers name the fields that are not zero
#   psabi                      vectors of 32 bytes where there are no such registers (v2): they never
#                              cross a call between files
#   enum-float-conversion (clang)  enumerators here are named integers, also beside floats
#   pass-failed (clang)        says that a loop was not vectorised; a loop's lanes are independent
#                              whether or not the compiler makes use of it
#   unknown-pragmas (clang)    only where it has no OpenMP library: those loops then run on one core
WARN    := -Wall -Wextra -Wshadow -Wconversion -Werror -Wno-unused-parameter -Wno-missing-field-initializers \
           -Wno-psabi
OPENMP  := -fopenmp
ifneq ($(IS_CLANG),)
WARN    += -Wno-enum-float-conversion -Wno-pass-failed
OPENMP  := $(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c - -o /dev/null 2>/dev/null && \
               echo -fopenmp || echo -Wno-unknown-pragmas)
endif
STD     := -std=gnu11 -Isrc -Iinclude -D_GNU_SOURCE -fPIC -pthread -fno-strict-aliasing -ffp-contract=off
ALL     := $(STD) $(WARN) $(CFLAGS)
LIBS    := -Wl,--as-needed -lzstd -llz4 -lm -ldl -lpthread

.DEFAULT_GOAL := all
# Commands are shown as "CC file"; make V=1 shows them whole.
$(V).SILENT:
say = @mkdir -p $(@D); printf '%-5s %s\n' $(1) $(@:$(BUILD)/%=%)

# Instruction bodies are built once per instruction set; src/simt/isa.c picks one at run time.
MACHINE := $(shell uname -m)
ifeq ($(MACHINE),x86_64)
ISAS      ?= v2 v3 v4
ISA_v2    := -march=x86-64-v2
ISA_BASE  := $(ISA_v2)
ISA_v3    := -march=x86-64-v3
ISA_v4    := -march=x86-64-v4 -mprefer-vector-width=512
else
ISAS      := v1
ISA_v1    :=
endif

# What is built depends on the command that builds it: a stamp has it, and is written only when it
# changes. $(call stamp,TEXT) is the recipe of one.
.PHONY: always
stamp = @mkdir -p $(@D); text='$(subst ','\'',$(1))'; \
    [ "$$(cat $@ 2>/dev/null)" = "$$text" ] || printf '%s\n' "$$text" > $@

FLAGS := $(BUILD)/gen/flags
$(FLAGS): ALL := $(ALL) # not what the target that first needs it adds
$(FLAGS): always
	$(call stamp,$(CC) ($(CC_NAME)) $(ALL) $(OPENMP) $(BODY_O) $(foreach isa,$(ISAS),$(ISA_$(isa))) $(LIBS))

# Objects ----------------------------------------------------------------------------------------

sources  = $(sort $(wildcard src/$(1)/*.c))
objects  = $(patsubst src/%.c,$(BUILD)/obj/%.o,$(filter-out src/$(1)/exec_%.c,$(call sources,$(1)))) \
           $(foreach isa,$(ISAS),$(patsubst src/%.c,$(BUILD)/obj/%.$(isa).o,$(wildcard src/$(1)/exec_*.c)))

BASE_OBJ     := $(call objects,base) $(call objects,host)
GPU_OBJ      := $(call objects,gpu)
MACHINE_OBJ  := $(BASE_OBJ) $(GPU_OBJ) $(foreach room,ptx simt watch check,$(call objects,$(room)))
CUDA_OBJ     := $(call objects,cuda)
DRIVER_OBJ   := $(call objects,driver)
CUDART13_OBJ := $(call objects,cudart)
CUDART12_OBJ := $(patsubst src/%.c,$(BUILD)/obj/%.cuda12.o,$(call sources,cudart))
REPORT_OBJ   := $(call objects,report)
FAMILY_OBJ   := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard kernels/host/*.c kernels/*/host/*.c)))
ZOO_OBJ      := $(call objects,zoo) $(FAMILY_OBJ) $(CUDA_OBJ) $(BUILD)/obj/embedded.o $(BUILD)/obj/embedded_list.o
TOOLCHAIN_OBJ := $(call objects,toolchain)
BENCH_OBJ    := $(call objects,bench)
TUNE_OBJ     := $(call objects,tune)
PTX_OBJ      := $(call objects,ptx)
EXPORT_OBJ   := $(call objects,export)
LEARN_OBJ    := $(call objects,learn)
STUDIO_OBJ   := $(call objects,studio)
STUDIO_LIBS  := -lmicrohttpd -lmd4c-html -lmd4c
CLI_OBJ      := $(call objects,cli)

$(foreach room,simt watch check,$(BUILD)/obj/$(room)/%.o): ALL += $(ISA_BASE)

$(BUILD)/obj/%.o: src/%.c $(FLAGS)
	$(call say,CC)
	$(CC) $(ALL) -MMD -MP -c $< -o $@

$(BUILD)/obj/cudart/%.o: src/cudart/%.c $(FLAGS)
	$(call say,CC)
	$(CC) $(ALL) -DCUDART_VERSION_MAJOR=13 -MMD -MP -c $< -o $@

$(BUILD)/obj/cudart/%.cuda12.o: src/cudart/%.c $(FLAGS)
	$(call say,CC)
	$(CC) $(ALL) -DCUDART_VERSION_MAJOR=12 -MMD -MP -c $< -o $@

# Lines are enough to find a place in them: to follow variables as well costs gcc a fifth of its time.
BODY_O ?= -O3 -g1
# Processors without AVX2 are old, and -O3 costs them twice the time to compile; in one file a minute.
$(BUILD)/obj/%.v2.o: BODY_O = -O2 -g1
$(BUILD)/obj/simt/exec_tensor_sum.v2.o: BODY_O := -O1 -g1
define exec_rule
$(BUILD)/obj/%.$(1).o: src/%.c $(FLAGS)
	$$(call say,CC)
	$(CC) $(ALL) $$(BODY_O) $(ISA_$(1)) -fno-math-errno -fno-trapping-math -DSIMT_ISA=$(1) -MMD -MP -c $$< -o $$@
endef
$(foreach isa,$(ISAS),$(eval $(call exec_rule,$(isa))))

# Kernels ------------------------------------------------------------------------------------------
# Every kernels/FAMILY/VARIANT.cu becomes PTX for the architecture that its "// arch:" line names:
# by nvcc where there is one, else by clang. Either set can be asked for; tests run both. What
# launches them is host code, in kernels/FAMILY/host/; peers there (peer_NAME.cu) are built by
# 'lockstep bench' where it needs them.

# PTX does not depend on CC or CFLAGS: a second build may name the first one's.
PTX         ?= $(BUILD)/ptx
KERNEL_CU   := $(sort $(wildcard kernels/*/*.cu))
ifeq ($(origin NVCC),undefined)
NVCC        := $(shell scripts/get-nvcc --find 2>/dev/null)
endif
ifeq ($(origin CLANG),undefined)
CLANG       := $(shell scripts/find-clang 2>/dev/null)
endif
HAS_NVCC    := $(if $(NVCC),$(shell command -v '$(NVCC)' 2>/dev/null))
KERNEL_CC   ?= $(if $(HAS_NVCC),nvcc,clang)
arch_of      = $(or $(shell sed -n 's|^// arch: sm_||p' $(1) | head -n 1),80)
# Line information names kernels/FAMILY/FILE, wherever this was built.
relative_files = sed -i 's|"$(CURDIR)/|"|' $@
ptx_of       = $(patsubst kernels/%.cu,$(PTX)/$(1)/%.ptx,$(KERNEL_CU))
ptx_with     = $(1) -MMD -MP -MF $(@:.ptx=.d) -MT $@ -o $@ $< && $(relative_files)
# The words of the compiler's command line, as src/toolchain/ptx.c has them too.
PTX_COMMAND := src/toolchain/ptx_command.def
ptx_words    = $(subst {include},kernels/include,$(shell sed -n 's/^$(1)("\(.*\)")$$/\1/p' $(PTX_COMMAND)))
NVCC_WORDS  := $(call ptx_words,NVCC)
CLANG_WORDS := $(call ptx_words,CLANG)
for_arch     = $(subst {arch},$(call arch_of,$<),$(1))
NVCC_NAME   := $(if $(HAS_NVCC),$(shell '$(NVCC)' --version | sed -n 's/^Cuda compilation tools/nvcc/p'))
CLANG_NAME  := $(if $(CLANG),$(shell $(CLANG) --version | head -n 1))

$(PTX)/nvcc/flags: always
	$(call stamp,$(NVCC) ($(NVCC_NAME)) $(NVCC_WORDS))
$(PTX)/clang/flags: always
	$(call stamp,$(CLANG) ($(CLANG_NAME)) $(CLANG_WORDS))

$(PTX)/nvcc/%.ptx: kernels/%.cu $(PTX)/nvcc/flags
	$(call say,NVCC)
	$(call ptx_with,$(NVCC) $(call for_arch,$(NVCC_WORDS)))

$(PTX)/clang/%.ptx: kernels/%.cu kernels/include/clang_ptx.sh $(PTX)/clang/flags
	$(if $(CLANG),,$(error kernels need nvcc, or clang 16 or newer: scripts/setup installs clang))
	$(call say,CLANG)
	$(call ptx_with,sh kernels/include/clang_ptx.sh $(CLANG) $(call for_arch,$(CLANG_WORDS)) -Wno-pass-failed)

# The library holds PTX compressed: a tenth of its size.
$(PTX)/compress: scripts/compress.c
	$(call say,LINK)
	$(CC) $(STD) $(WARN) -O2 -o $@ $< -lzstd

$(PTX)/%.ptx.zst: $(PTX)/%.ptx | $(PTX)/compress
	$(PTX)/compress $< $@

$(BUILD)/gen/embedded.S $(BUILD)/gen/embedded_list.c &: $(addsuffix .zst,$(call ptx_of,$(KERNEL_CC))) $(KERNEL_CU) \
    $(PTX)/$(KERNEL_CC)/flags scripts/embed-kernels \
    $(wildcard kernels/*/*.h kernels/include/*.sh kernels/*/tuned.json kernels/host/*.inc kernels/*/host/*.inc)
	@mkdir -p $(BUILD)/gen
	scripts/embed-kernels $(PTX)/$(KERNEL_CC) '$(if $(filter nvcc,$(KERNEL_CC)),$(NVCC_NAME),$(CLANG_NAME))' \
	    $(BUILD)/gen/embedded.S $(BUILD)/gen/embedded_list.c

$(BUILD)/obj/embedded.o: $(BUILD)/gen/embedded.S $(FLAGS)
	$(call say,AS)
	$(CC) -c $< -o $@

$(BUILD)/obj/embedded_list.o: $(BUILD)/gen/embedded_list.c $(FLAGS)
	$(call say,CC)
	$(CC) $(ALL) -MMD -MP -c $< -o $@

$(BUILD)/obj/kernels/%.o: kernels/%.c $(FLAGS)
	$(call say,CC)
	$(CC) $(ALL) -Ikernels/host $(OPENMP) -MMD -MP -c $< -o $@

$(BUILD)/obj/zoo/%.o: ALL += $(OPENMP)

# Which commit a measurement belongs to.
$(BUILD)/gen/bench/commit.h: always
	$(call stamp,#define LOCKSTEP_COMMIT "$(shell git describe --always --dirty 2>/dev/null || echo unknown)")

$(BUILD)/obj/bench/%.o: ALL += -I$(BUILD)/gen
$(BUILD)/obj/bench/table.o: $(BUILD)/gen/bench/commit.h
$(BUILD)/obj/bench/torch.o: python/peer_torch.py

-include $(wildcard $(PTX)/*/*/*.d)

# With CLANG_SAMPLE, clang compiles every sixth family, as in `make test`.
CLANG_SAMPLE ?=
clang_sample  = $(shell ls -d kernels/*/ | awk -F/ 'NR % 6 == 0 { print $$2 }')
CLANG_PTX     = $(filter $(if $(CLANG_SAMPLE),$(clang_sample:%=$(PTX)/clang/%/%),%),$(call ptx_of,clang))
.PHONY: kernels
kernels: $(if $(HAS_NVCC),$(call ptx_of,nvcc)) $(if $(CLANG),$(CLANG_PTX))

# What is built ------------------------------------------------------------------------------------

LIBCUDA   := $(if $(DRIVER_OBJ),$(BUILD)/libcuda.so.1)
LIBCUDART := $(if $(CUDART13_OBJ),$(BUILD)/libcudart.so.13 $(BUILD)/libcudart.so.12)
LIBLOCKSTEP := $(BUILD)/liblockstep.so
CLIENT_LIBS := $(addprefix $(BUILD)/,liblockstep_audit.so $(foreach major,12 13,libnvrtc.so.$(major) libnvJitLink.so.$(major) libcublas.so.$(major) libcublasLt.so.$(major)) libcurand.so.10 libcufft.so.11 libcufft.so.12 libcusolver.so.11 libcusolver.so.12 libcusparse.so.12 libnvidia-ml.so.1 libcupti.so.12 libcupti.so.13)
# What programs that ask for no version get; the file names come from CLIENT_LIBS.
CLIENT_LINKS := $(addprefix $(BUILD)/,libcublas.so libcublasLt.so libcufft.so libcurand.so libcusolver.so libcusparse.so libnvidia-ml.so libcupti.so)
CLIENTS   := $(CLIENT_LIBS) $(CLIENT_LINKS) $(BUILD)/clients/ptxas
LOCKSTEP  := $(if $(CLI_OBJ),$(BUILD)/lockstep)

# A version script says which symbols a library shows; without one it shows all.
version_script = $(addprefix -Wl$(comma)--version-script=,$(wildcard $(1)))
comma := ,

.PHONY: all
all: $(LOCKSTEP) $(LIBLOCKSTEP) $(LIBCUDA) $(LIBCUDART) $(if $(LIBCUDA),$(BUILD)/stubs/libcuda.so) $(CLIENTS)

# Commands need no machine of their own: what they start loads the libraries.
$(BUILD)/lockstep: $(CLI_OBJ) $(STUDIO_OBJ) $(BENCH_OBJ) $(TUNE_OBJ) $(EXPORT_OBJ) $(LEARN_OBJ) $(PTX_OBJ) $(TOOLCHAIN_OBJ) $(REPORT_OBJ) $(ZOO_OBJ) $(BASE_OBJ) $(GPU_OBJ)
	$(call say,LINK)
	$(CC) $(ALL) -o $@ $^ $(OPENMP) -ljansson -lsqlite3 $(STUDIO_LIBS) $(LIBS)

# It shows what the headers declare, and nothing else.
HEADERS := include/lockstep.h include/lockstep_network.h include/lockstep_numbers.h
$(BUILD)/gen/liblockstep.map: $(HEADERS)
	@mkdir -p $(@D)
	{ echo 'LOCKSTEP_0 { global:'; sed -n 's/^[a-z].*[ *]\(lk_[a-z0-9_]*\)(.*$$/    \1;/p' $^; echo 'local: *; };'; } > $@

$(BUILD)/liblockstep.so: $(ZOO_OBJ) $(BASE_OBJ) $(GPU_OBJ) $(BUILD)/gen/liblockstep.map
	$(call say,LINK)
	$(CC) $(ALL) -shared -o $@ $(filter %.o,$^) -Wl,-soname,liblockstep.so.0 -Wl,-z,defs \
	    -Wl,--version-script=$(BUILD)/gen/liblockstep.map $(OPENMP) -ljansson $(LIBS)
	ln -sf liblockstep.so $(BUILD)/liblockstep.so.0

$(BUILD)/libcuda.so.1: $(MACHINE_OBJ) $(DRIVER_OBJ) $(TOOLCHAIN_OBJ) $(wildcard src/driver/libcuda.map)
	$(call say,LINK)
	$(CC) $(ALL) -shared -o $@ $(filter %.o,$^) -Wl,-soname,$(@F) \
	    $(call version_script,src/driver/libcuda.map) $(LIBS)

# What -lcuda finds where no toolkit has its own: see src/cli/start.c.
$(BUILD)/stubs/libcuda.so: $(BUILD)/libcuda.so.1
	@mkdir -p $(@D)
	ln -sf ../libcuda.so.1 $@

cudart_link = $(CC) $(ALL) -shared -o $@ $(filter %.o,$^) -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' \
    -Wl,--enable-new-dtags $(call version_script,$(1)) $(BUILD)/libcuda.so.1 $(LIBS)

$(BUILD)/libcudart.so.13: $(CUDART13_OBJ) $(BASE_OBJ) $(LIBCUDA) $(wildcard src/cudart/libcudart13.map)
	$(call say,LINK)
	$(call cudart_link,src/cudart/libcudart13.map)

$(BUILD)/libcudart.so.12: $(CUDART12_OBJ) $(BASE_OBJ) $(LIBCUDA) $(wildcard src/cudart/libcudart12.map)
	$(call say,LINK)
	$(call cudart_link,src/cudart/libcudart12.map)

# What programs load or start that bring kernels while they run, as Python packages do: see
# docs/clients.md. The audit library stands alone: the loader gives it a C library of its own.
$(BUILD)/liblockstep_audit.so: src/clients/audit.c src/clients/static_runtime.c src/clients/machine_code.c src/clients/static_runtime.h src/clients/standins.def $(FLAGS)
	$(call say,LINK)
	$(CC) $(STD) $(WARN) -Isrc -O2 -fvisibility=hidden -fPIC -shared -o $@ $(filter %.c,$^) -Wl,-soname,$(@F) -ldl

$(BUILD)/libnvrtc.so.%: src/clients/nvrtc.c src/clients/vendor.c src/clients/nvrtc.def src/clients/libnvrtc%.map $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -DNVRTC_MAJOR=$* -shared -o $@ $(filter %.c,$^) -Wl,-soname,$(@F) \
	    -Wl,--version-script=src/clients/libnvrtc$*.map -Wl,-z,defs -ldl -lpthread

$(BUILD)/libnvJitLink.so.%: src/clients/nvjitlink.c src/clients/lto.c src/clients/vendor.c src/driver/linker.h src/clients/libnvjitlink%.map $(BASE_OBJ) $(LIBCUDA) $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -DNVJITLINK_MAJOR=$* -shared -o $@ $(filter %.c,$^) $(BASE_OBJ) -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' \
	    -Wl,--enable-new-dtags -Wl,--version-script=src/clients/libnvjitlink$*.map $(BUILD)/libcuda.so.1 $(LIBS)

# cuBLAS on OpenBLAS, which is opened when it is needed. Programs find cuBLASLt's calls through it, too.
BLAS_SRC := $(filter-out %/lt.c %/solver.c %/sparse_solver.c %/eigen.c %/jacobi.c %/solver64.c %/symmetric.c,$(wildcard src/clients/blas/*.c))
$(BUILD)/libcublas.so.%: $(BLAS_SRC) $(wildcard src/clients/blas/*.h src/clients/blas/*.def) src/driver/library_call.h src/clients/blas/libcublas%.map $(BUILD)/libcublasLt.so.% $(LIBCUDA) $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -DCUBLAS_MAJOR=$* -shared -o $@ $(BLAS_SRC) -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -Wl,-z,defs \
	    -Wl,--enable-new-dtags -Wl,--version-script=src/clients/blas/libcublas$*.map -Wl,--no-as-needed $(BUILD)/libcublasLt.so.$* $(BUILD)/libcuda.so.1 $(LIBS)

LT_SRC := $(addprefix src/clients/blas/,lt.c product.c types.c)
$(BUILD)/libcublasLt.so.%: $(LT_SRC) $(wildcard src/clients/blas/*.h src/clients/blas/*.def) src/driver/library_call.h src/clients/blas/libcublasLt%.map $(LIBCUDA) $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -DCUBLAS_MAJOR=$* -shared -o $@ $(LT_SRC) -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -Wl,-z,defs \
	    -Wl,--enable-new-dtags -Wl,--version-script=src/clients/blas/libcublasLt$*.map $(BUILD)/libcuda.so.1 $(LIBS)

# cuSOLVER 11 belongs to CUDA 12, and 12 to CUDA 13.
SOLVER_SRC := $(addprefix src/clients/blas/,solver.c solver64.c sparse_solver.c eigen.c jacobi.c symmetric.c types.c)
$(BUILD)/libcusolver.so.%: $(SOLVER_SRC) $(wildcard src/clients/blas/*.h src/clients/blas/*.def) src/driver/library_call.h src/clients/blas/libcusolver%.map $(LIBCUDA) $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -DCUSOLVER_MAJOR=$* -shared -o $@ $(SOLVER_SRC) -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -Wl,-z,defs \
	    -Wl,--enable-new-dtags -Wl,--version-script=src/clients/blas/libcusolver$*.map $(BUILD)/libcuda.so.1 $(LIBS)

# The same number for CUDA 12 and 13.
SPARSE_SRC := $(wildcard src/clients/sparse/*.c)
$(BUILD)/libcusparse.so.%: $(SPARSE_SRC) $(wildcard src/clients/sparse/*.h src/clients/sparse/*.def) src/driver/library_call.h src/clients/sparse/libcusparse%.map $(BASE_OBJ) $(LIBCUDA) $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -shared -o $@ $(SPARSE_SRC) $(BASE_OBJ) -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -Wl,-z,defs \
	    -Wl,--enable-new-dtags -Wl,--version-script=src/clients/sparse/libcusparse$*.map $(BUILD)/libcuda.so.1 $(LIBS)

# Without a version of its own: symbols of NVML have none.
$(BUILD)/libnvidia-ml.so.1: src/clients/nvml.c src/clients/nvml_unsupported.def src/clients/libnvidia-ml1.map $(LIBCUDA) $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -shared -o $@ $< -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -Wl,-z,defs \
	    -Wl,--enable-new-dtags -Wl,--version-script=src/clients/libnvidia-ml1.map $(BUILD)/libcuda.so.1 $(LIBS)

$(BUILD)/libcupti.so.%: src/clients/cupti.c src/clients/cupti_numbers.c src/clients/cupti.h src/clients/cupti_unsupported.def src/driver/activity.h src/clients/libcupti%.map $(LIBCUDA) $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -shared -o $@ $(filter %.c,$^) -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -Wl,-z,defs \
	    -Wl,--enable-new-dtags -Wl,--version-script=src/clients/libcupti$*.map $(BUILD)/libcuda.so.1 $(LIBS)

$(CLIENT_LINKS): $(BUILD)/%.so: $(CLIENT_LIBS)
	ln -sf $(notdir $(lastword $(filter $@.%,$(CLIENT_LIBS)))) $@

$(BUILD)/libcurand.so.%: src/clients/curand.c src/clients/vendor.c src/driver/library_call.h src/clients/libcurand%.map $(LIBCUDA) $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -shared -o $@ $(filter %.c,$^) -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -Wl,-z,defs \
	    -Wl,--enable-new-dtags -Wl,--version-script=src/clients/libcurand$*.map $(BUILD)/libcuda.so.1 $(LIBS)

# cuFFT 11 belongs to CUDA 12, and 12 to CUDA 13.
$(BUILD)/libcufft.so.%: src/clients/fft.c src/driver/library_call.h src/clients/libcufft%.map $(LIBCUDA) $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -DCUFFT_MAJOR=$* -shared -o $@ $(filter %.c,$^) -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN' -Wl,-z,defs \
	    -Wl,--enable-new-dtags -Wl,--version-script=src/clients/libcufft$*.map $(BUILD)/libcuda.so.1 $(LIBS)

$(BUILD)/clients/ptxas: src/clients/ptxas.c src/driver/image.h $(PTX_OBJ) $(BASE_OBJ) $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -o $@ $(filter %.c %.o,$^) $(LIBS)

include tests/rules.mk

.PHONY: docs
docs: $(BUILD)/tests/docs/instructions all
	$< > docs/instructions.md
	scripts/draw-rooms > docs/images/rooms.svg
	BUILD=$(BUILD) scripts/draw-profile > docs/images/profile.svg

# docs/measured/h200.json, where it is, has what `make gpu-bench` wrote on an H200.
.PHONY: tables
tables: all
	@BUILD=$(abspath $(BUILD)) scripts/family-tables

.PHONY: help
help:
	@awk '!/^#/ { exit } sub(/^#   /, "")' Makefile

# Other targets --------------------------------------------------------------------------------------

# Without nvcc, clang compiles the kernels; the course needs nothing else.
.PHONY: learn
learn:
	@scripts/setup
	+@$(MAKE) --no-print-directory -j$(shell nproc) all
	@scripts/put-on-path $(BUILD)/lockstep
	@echo "The course is ready. Begin with one of"
	@echo "  lockstep learn init ~/gpu-course && lockstep learn"
	@echo "  lockstep studio"

.PHONY: tour gpu-test gpu-bench bench-machine bench-verdicts
tour: setup
	+@$(MAKE) --no-print-directory -j$(shell nproc) all
	@BUILD=$(abspath $(BUILD)) scripts/tour

# These live in scripts/ and need everything built.
gpu-test: unit kernels
gpu-test gpu-bench bench-machine bench-verdicts: all
	@if [ -x scripts/$@ ]; then BUILD=$(abspath $(BUILD)) scripts/$@; \
	else echo "make $@: there is no scripts/$@ yet" >&2; exit 1; fi

# tests/counters/h200.tsv is such a recording; the end of docs/fidelity.md and docs/accuracy.md come from it.
.PHONY: gpu-counters
gpu-counters: all
	@scripts/gpu-counters record $(BUILD)/gpu-counters.tsv
	@LOCKSTEP=$(abspath $(BUILD))/lockstep scripts/gpu-counters report $(BUILD)/gpu-counters.tsv

include bench/calls/rules.mk
include bench/quality/rules.mk

# Conversions are judged in the ordinary build: with the sanitizers' code in it, gcc knows fewer ranges.
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
# One build of the instruction bodies: they take longest to compile. make sanitize SANITIZE_ISA=2 has
# the oldest, without vector instructions of our own.
SANITIZE_ISA ?= $(shell grep -qw avx2 /proc/cpuinfo 2>/dev/null && echo 3 || echo 2)
# What reads foreign bytes, and every instruction. `make sanitize` has all unit tests; scripts that start the
# command again and again (tests/toolchain/run_*, tests/cli) run in the ordinary build alone.
SANITIZE_SUITES ?= tests/base tests/driver tests/ptx/ tests/ptx_front tests/fuzz
SANITIZE_MORE   := tests/host tests/toolchain/test_ tests/gpu tests/report tests/simt tests/num tests/tensor tests/zoo/test_ tests/tune
# It waits and polls, which takes a sanitised machine long: only `make sanitize` has it.
SANITIZE_WITHOUT ?= tests/driver/test_overlap
.PHONY: sanitize sanitize-only sanitize-threads
sanitize: setup
	+@$(MAKE) --no-print-directory SANITIZE_SUITES='$(SANITIZE_SUITES) $(SANITIZE_MORE)' SANITIZE_WITHOUT= sanitize-only
	+@$(MAKE) --no-print-directory sanitize-threads
sanitize-only:
	+@LOCKSTEP_SANITIZED=1 WITHOUT='$(SANITIZE_WITHOUT)' $(MAKE) --no-print-directory -j$(shell nproc) BUILD=$(BUILD)/asan PTX=$(PTX) \
	    ISAS=v$(SANITIZE_ISA) BODY_O='-O0 -g1' CFLAGS='-O0 -g1 $(SANITIZE) -Wno-format-truncation -Wno-conversion -Wno-sign-conversion -DSIMT_ONLY=$(SANITIZE_ISA)' \
	    SUITES='$(SANITIZE_SUITES)' test-libraries

# Races between our own threads: workers, executors, the host's calls. The kernels of these suites have none.
THREAD_SUITES ?= tests/simt tests/driver tests/watch tests/zoo/test_api
sanitize-threads:
	+@LOCKSTEP_SANITIZED=1 $(MAKE) --no-print-directory -j$(shell nproc) BUILD=$(BUILD)/tsan PTX=$(PTX) \
	    ISAS=v$(SANITIZE_ISA) BODY_O='-O1 -g1' CFLAGS='-O1 -g -fsanitize=thread -fno-omit-frame-pointer -Wno-tsan -Wno-format-truncation -Wno-maybe-uninitialized -Wno-conversion -Wno-sign-conversion -DSIMT_ONLY=$(SANITIZE_ISA)' \
	    SUITES='$(THREAD_SUITES)' test-libraries

# tests/fuzz/fuzz_NAME.c has LLVMFuzzerTestOneInput; tests/fuzz/corpus/NAME/ has its seeds. What a
# run finds is kept in build/fuzz.
# The first clang that has libFuzzer's and the sanitizers' libraries.
FUZZ_CC      ?= $(shell for c in clang-19 clang-21 clang-20 clang-18 clang-17 clang-16 clang; do \
    echo 'int LLVMFuzzerTestOneInput(const char *d, unsigned long n) { return 0; }' | \
    $$c -x c -fsanitize=fuzzer,address,undefined - -o /dev/null 2>/dev/null && echo $$c && break; done)
FUZZ_SECONDS ?= 60
FUZZ_SRC     := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_BIN     := $(patsubst tests/fuzz/%.c,$(BUILD)/%,$(FUZZ_SRC))
# Only these, by name (ptx, fatbin, run); all if empty.
FUZZ         ?=

.PHONY: fuzz fuzz-only
fuzz: setup
	+@$(MAKE) --no-print-directory -j$(shell nproc) BUILD=$(BUILD)/fuzz CC='$(FUZZ_CC)' \
	    ISAS=v$(SANITIZE_ISA) BODY_O='-O1 -g1' CFLAGS='-O1 -g $(SANITIZE) -fsanitize=fuzzer-no-link -DSIMT_ONLY=$(SANITIZE_ISA)' fuzz-only

# Two of them read foreign bytes, fuzz_run executes them.
ifeq ($(notdir $(BUILD)),fuzz)
$(BUILD)/fuzz_run: $(addprefix tests/fuzz/,fuzz_run.c mutate.c generate.c) $(MACHINE_OBJ)
	$(call say,LINK)
	$(CC) $(ALL) -fsanitize=fuzzer -MMD -MP -o $@ $(filter %.c %.o,$^) $(LIBS)

$(BUILD)/fuzz_%: tests/fuzz/fuzz_%.c $(BASE_OBJ) $(call objects,ptx) $(BUILD)/obj/driver/fatbin.o
	$(call say,LINK)
	$(CC) $(ALL) -fsanitize=fuzzer -MMD -MP -o $@ $(filter %.c %.o,$^) $(LIBS)
endif

fuzz-only: $(FUZZ_BIN)
	@BUILD=$(abspath $(BUILD)) FUZZ_SECONDS=$(FUZZ_SECONDS) scripts/run-fuzzers $(FUZZ)

.PHONY: format format-check tidy cppcheck lint
format:
	scripts/lint --format

# TIDY=quick skips the analyzer's checks, as CI does: they take 13 minutes of a core.
TIDY ?= tidy
lint_with = BUILD=$(abspath $(BUILD)) scripts/lint
format-check:
	@$(lint_with) format
tidy: $(BUILD)/gen/bench/commit.h
	@$(lint_with) $(TIDY)
cppcheck:
	@$(lint_with) cppcheck
lint: $(BUILD)/gen/bench/commit.h
	@scripts/setup lint || true
	@$(lint_with) format $(TIDY) cppcheck

# Programs find the library by pkg-config; it finds our own drivers in lib/lockstep, where no other
# program looks. DESTDIR stands before the paths that are written into lockstep.pc.
TO       = $(DESTDIR)$(PREFIX)
VERSION := $(shell sed -n 's/^\#define LK_VERSION "\(.*\)"/\1/p' include/lockstep.h)

$(BUILD)/gen/lockstep.pc: include/lockstep.h always
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$${prefix}/lib' 'includedir=$${prefix}/include' '' \
	    'Name: lockstep' 'Description: GPU kernels behind plain C calls, with a GPU or without one' \
	    'Version: $(VERSION)' 'Libs: -L$${libdir} -llockstep' 'Requires.private: jansson' \
	    'Cflags: -I$${includedir}' > $@

.PHONY: install install-only clean
install: all
	+@$(MAKE) --no-print-directory install-only

# What is built already; tests use it, beside which nothing may be linked again.
install-only: $(BUILD)/gen/lockstep.pc
	install -d $(TO)/bin $(TO)/include $(TO)/lib/lockstep/stubs $(TO)/lib/pkgconfig \
	    $(TO)/share/doc/lockstep/examples
	install -m 755 $(BUILD)/lockstep $(TO)/bin/
	install -m 644 $(HEADERS) $(TO)/include/
	install -m 644 $(BUILD)/liblockstep.so $(TO)/lib/liblockstep.so.0
	ln -sf liblockstep.so.0 $(TO)/lib/liblockstep.so
	install -m 644 $(LIBCUDA) $(LIBCUDART) $(CLIENT_LIBS) $(TO)/lib/lockstep/
	cp -Pf $(CLIENT_LINKS) $(TO)/lib/lockstep/
	install -D -m 755 -t $(TO)/lib/lockstep/clients $(BUILD)/clients/ptxas
	ln -sf ../libcuda.so.1 $(TO)/lib/lockstep/stubs/libcuda.so
	install -m 644 $(BUILD)/gen/lockstep.pc $(TO)/lib/pkgconfig/
	install -m 644 docs/api.md $(TO)/share/doc/lockstep/
	install -m 644 examples/*.c $(TO)/share/doc/lockstep/examples/
	cd course && find . -type f -exec install -D -m 644 {} $(abspath $(TO))/share/lockstep/course/{} \;
	cd kernels && for file in */README.md */journey.svg; do \
	    install -D -m 644 $$file $(abspath $(TO))/share/lockstep/kernels/$$file || exit 1; done
	cd src/studio/web && find . -type f -exec install -D -m 644 {} $(abspath $(TO))/share/lockstep/web/{} \;
	install -D -m 644 -t $(TO)/share/lockstep/python/lockstep python/lockstep/*.py
	install -D -m 644 -t $(TO)/share/lockstep/python/clients python/clients/*.py
	install -m 644 python/pyproject.toml $(TO)/share/lockstep/python/

clean:
	rm -rf $(BUILD)

# For scripts: `make print-FUZZ_CC` prints a variable.
print-%:
	@echo '$($*)'

-include $(shell find $(BUILD)/obj $(BUILD)/tests $(BUILD)/bench -name '*.d' 2>/dev/null)
