/*
 * tensor_product.c: cuts matrices into tiles of m16n8k16, which exec_tensor_product.c adds up; see
 * tensor_product.h. What lies outside the matrices is 0 and changes no sum.
 */
#include "simt/tensor_product.h"

#include "simt/isa.h"
#include "simt/tensor_tiles.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(isa) tensor_along_k tensor_tile_along_k_##isa;
#define ROW(isa) tensor_tile_along_k_##isa,
SIMT_ISAS(DECLARE)

struct packed {
    const struct tensor_product *product;
    const struct gpu_info *gpu;
    struct tensor_tile_a *a; /* [tile of rows][step] */
    struct tensor_tile_b *b; /* [tile of columns][step] */
    size_t steps, row_tiles, column_tiles;
    _Atomic size_t next; /* tile of rows */
};

/* Eight lines (rows of A, columns of B) of eight numbers from first_k on. */
static void pack(uint8_t *to, const uint16_t *from, size_t line_step, size_t k_step, size_t first,
                 size_t lines, size_t first_k, size_t k)
{
    uint16_t image[8][8] = {{0}};
    for (size_t line = first; line < first + 8 && line < lines; line++)
        for (size_t i = first_k; i < first_k + 8 && i < k; i++)
            image[line - first][i - first_k] = from[line * line_step + i * k_step];
    memcpy(to, image, sizeof image);
}

static void pack_rows(struct packed *packed, size_t tile)
{
    const struct tensor_product *p = packed->product;
    for (size_t step = 0; step < packed->steps; step++)
        for (size_t r = 0; r < 4; r++)
            pack(packed->a[tile * packed->steps + step].registers[r], p->a, p->a_row, p->a_k,
                 16 * tile + 8 * (r % 2), p->m, 16 * step + 8 * (r / 2), p->k);
}

static void pack_columns(struct packed *packed)
{
    const struct tensor_product *p = packed->product;
    for (size_t tile = 0; tile < packed->column_tiles; tile++)
        for (size_t step = 0; step < packed->steps; step++)
            for (size_t r = 0; r < 2; r++)
                pack(packed->b[tile * packed->steps + step].registers[r], p->b, p->b_column, p->b_k,
                     8 * tile, p->n, 16 * step + 8 * r, p->k);
}

static void store(const struct tensor_product *p, const struct tensor_tile_d *d, size_t row,
                  size_t column)
{
    for (size_t r = 0; r < 4; r++)
        for (size_t lane = 0; lane < 32; lane++) {
            size_t i = row + 8 * (r / 2) + lane / 4, j = column + 2 * (lane % 4) + r % 2;
            if (i < p->m && j < p->n)
                memcpy(&p->sums[j * p->m + i], d->registers[r] + 4 * lane, 4);
        }
}

static void add_rows(void *context, unsigned index)
{
    static tensor_along_k *const along_k[] = {SIMT_ISAS(ROW)};
    struct packed *packed = context;
    const struct tensor_product *p = packed->product;
    for (size_t row; (row = atomic_fetch_add(&packed->next, 1)) < packed->row_tiles;) {
        pack_rows(packed, row);
        for (size_t column = 0; column < packed->column_tiles; column++) {
            struct tensor_tile_d d = {{{0}}};
            along_k[simt_isa()](packed->gpu, p->is_bf16 ? PTX_BF16 : PTX_F16,
                                packed->a + row * packed->steps, packed->b + column * packed->steps,
                                packed->steps, &d);
            store(p, &d, 16 * row, 8 * column);
        }
    }
}

bool simt_tensor_product(const struct gpu_info *gpu, const struct tensor_product *product,
                         struct lk_pool *pool, unsigned count)
{
    struct packed packed = {.product = product,
                            .gpu = gpu,
                            .steps = (product->k + 15) / 16,
                            .row_tiles = (product->m + 15) / 16,
                            .column_tiles = (product->n + 7) / 8};
    packed.a = aligned_alloc(64, (packed.row_tiles * packed.steps + 1) * sizeof *packed.a);
    packed.b = aligned_alloc(64, (packed.column_tiles * packed.steps + 1) * sizeof *packed.b);
    bool enough = packed.a && packed.b;
    if (enough) {
        pack_columns(&packed);
        lk_pool_run(pool, count, add_rows, &packed);
    }
    free(packed.a);
    free(packed.b);
    return enough;
}
