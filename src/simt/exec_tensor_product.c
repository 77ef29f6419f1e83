/*
 * exec_tensor_product.c: one tile of a product of matrices, along all of k; see tensor_product.h.
 */
#include "simt/tensor.h"
#include "simt/tensor_tiles.h"

void SIMT_NAME(tensor_tile_along_k)(const struct gpu_info *gpu, enum ptx_type type,
                                    const struct tensor_tile_a *a, const struct tensor_tile_b *b,
                                    size_t steps, struct tensor_tile_d *d)
{
    const struct tensor_float_kind kind = {
        .rows = 16, .k = 16, .a_type = (uint8_t)type, .b_type = (uint8_t)type};
    struct tensor_fragments f;
    for (unsigned i = 0; i < 4; i++)
        f.c[i] = f.d[i] = d->registers[i];
    for (size_t step = 0; step < steps; step++) {
        for (unsigned i = 0; i < 4; i++)
            f.a[i] = a[step].registers[i];
        for (unsigned i = 0; i < 2; i++)
            f.b[i] = b[step].registers[i];
        SIMT_NAME(tensor_float_tile)(gpu, &kind, &f);
    }
}
