# rules.mk: for the Makefile: what measures public calls.

# A driver that does nothing, also for tests of what the public calls ask the driver; see bench/calls.
STANDIN := $(BUILD)/bench/calls/libcuda.so.1
$(STANDIN): bench/calls/standin.c $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -MMD -MP -shared -o $@ $< -Wl,-soname,$(@F)

$(BUILD)/bench/calls/bench: bench/calls/bench.c $(ZOO_OBJ) $(BASE_OBJ) $(GPU_OBJ) $(FLAGS)
	$(call say,LINK)
	$(CC) $(ALL) -MMD -MP -o $@ $(filter %.c %.o,$^) $(OPENMP) -ljansson $(LIBS)

# Public calls beside CUB's on a GPU; needs nvcc.
$(BUILD)/bench/calls/beside_cub: bench/calls/beside_cub.cu $(BUILD)/liblockstep.so
	$(call say,NVCC)
	$(NVCC) -O2 -std=c++17 -arch=sm_90 -Iinclude $< -o $@ -L$(BUILD) -llockstep

.PHONY: bench-cub
bench-cub: $(BUILD)/bench/calls/beside_cub
	@LD_PRELOAD=$(abspath $(BUILD))/liblockstep.so.0 $< # its folder has a libcuda of our own

CALLS ?=
.PHONY: bench-calls
bench-calls: $(BUILD)/bench/calls/bench $(STANDIN)
	@$< $(CALLS) $(abspath $(STANDIN))
