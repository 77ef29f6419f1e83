/*
 * whatif.c: the table of what-ifs of the occupancy calculator; see whatif.h.
 */
#include "gpu/whatif.h"

const char *const gpu_whatif_names[GPU_WHATIF_KINDS] = {"block", "registers", "shared"};

static const size_t steps[GPU_WHATIF_KINDS][14] = {
    [GPU_WHATIF_BLOCK] = {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024},
    [GPU_WHATIF_REGISTERS] = {16, 24, 32, 40, 48, 64, 80, 96, 128, 168, 255},
    [GPU_WHATIF_SHARED] = {1, 4096, 8192, 16384, 24576, 32768, 49152, 65536, 101376, 166912,
                           232448},
};

static struct gpu_whatif row(const struct gpu_info *gpu, enum gpu_whatif_kind kind,
                             const size_t now[GPU_WHATIF_KINDS], size_t value)
{
    size_t inputs[GPU_WHATIF_KINDS] = {now[0], now[1], now[2]};
    inputs[kind] = value;
    return (struct gpu_whatif){.kind = kind,
                               .value = value,
                               .is_now = value == now[kind],
                               .occupancy = gpu_occupancy(gpu, (unsigned)inputs[GPU_WHATIF_BLOCK],
                                                          (unsigned)inputs[GPU_WHATIF_REGISTERS],
                                                          inputs[GPU_WHATIF_SHARED])};
}

unsigned gpu_whatifs(const struct gpu_info *gpu, unsigned threads, unsigned registers,
                     size_t shared, struct gpu_whatif rows[GPU_WHATIFS])
{
    const size_t now[GPU_WHATIF_KINDS] = {threads, registers, shared};
    unsigned count = 0;
    for (int i = 0; i < GPU_WHATIF_KINDS; i++) {
        enum gpu_whatif_kind kind = (enum gpu_whatif_kind)i;
        size_t most = kind == GPU_WHATIF_SHARED ? gpu->shared_per_block_optin : SIZE_MAX;
        bool shown = false;
        for (unsigned k = 0; k < 14 && steps[kind][k]; k++) {
            size_t value = kind == GPU_WHATIF_SHARED && k == 0 ? 0 : steps[kind][k];
            if (value > most)
                break;
            if (!shown && now[kind] <= value) {
                shown = true;
                rows[count++] = row(gpu, kind, now, now[kind]);
                if (now[kind] == value)
                    continue;
            }
            rows[count++] = row(gpu, kind, now, value);
        }
        if (!shown)
            rows[count++] = row(gpu, kind, now, now[kind]);
    }
    return count;
}
