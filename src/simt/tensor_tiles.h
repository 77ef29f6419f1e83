/*
 * tensor_tiles.h: tiles of m16n8k16 as their registers hold them (tensor.h), and their sum along k.
 */
#ifndef LOCKSTEP_SIMT_TENSOR_TILES_H
#define LOCKSTEP_SIMT_TENSOR_TILES_H

#include "gpu/gpu.h"
#include "ptx/ptx.h"

#include <stddef.h>
#include <stdint.h>

struct tensor_tile_a {
    _Alignas(64) uint8_t registers[4][128]; /* rows 0-7 and 8-15 of k 0-7, then of k 8-15 */
};
struct tensor_tile_b {
    _Alignas(64) uint8_t registers[2][128]; /* k 0-7, k 8-15 */
};
struct tensor_tile_d {
    _Alignas(64) uint8_t registers[4][128];
};

/* d += a * b. a, b: [step] */
typedef void tensor_along_k(const struct gpu_info *gpu, enum ptx_type type,
                            const struct tensor_tile_a *a, const struct tensor_tile_b *b,
                            size_t steps, struct tensor_tile_d *d);

#endif
