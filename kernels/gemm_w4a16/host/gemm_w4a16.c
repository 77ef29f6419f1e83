/*
 * gemm_w4a16.c: the family: y = x W^T with weights of 4 to 8 bits and x in 16: the product of a
 * language model that answers one user, or a few. Every weight is read once and used m times, so
 * the bytes of W are the floor; what must fit beside them is the decoding.
 */
#include "w4a16.h"

#include <math.h>
#include <stdio.h>

static const char *const layouts[] = {"q4_0", "q4_1",    "q8_0",     "q4_k",
                                      "q6_k", "tiles32", "tiles128", NULL};
static const char *const steps[] = {"multiply", "repack", NULL};
static const char *const types[] = {"bf16", "f16", NULL};

/* The problem -----------------------------------------------------------------------------------*/

int64_t w_block(int64_t layout)
{
    static const int64_t of[] = {32, 32, 32, 256, 256, 32, 128};
    return of[layout];
}

size_t w_weight_bytes(int64_t layout, int64_t n, int64_t k)
{
    static const int64_t of_block[] = {18, 20, 34, 144, 210};
    if (layout >= W_TILES32)
        return (size_t)((n + 15) / 16 * ((k + 63) / 64) * 512);
    return (size_t)(n * (k / w_block(layout)) * of_block[layout]);
}
size_t w_scale_count(int64_t layout, int64_t n, int64_t k)
{
    if (layout < W_TILES32)
        return 0;
    int64_t groups = layout == W_TILES32 ? (k + 63) / 64 * 2 : (k + 127) / 128;
    return (size_t)((n + 15) / 16 * groups * 16);
}
size_t w_source_bytes(int64_t layout, int64_t n, int64_t k)
{
    return layout == W_TILES32 ? w_weight_bytes(W_Q4_0, n, k) : (size_t)(n * (k / 2));
}

static enum zoo_type type_of(const struct zoo_problem *problem)
{
    return problem->value[W_TYPE] == 0 ? ZOO_BF16 : ZOO_F16;
}

/* multiply: x, w, (scales,) y; repack: w, (its f32 scales,) tiles, scales. */
static unsigned shape(const struct zoo_problem *problem, struct zoo_buffer *buffers)
{
    int64_t m = problem->value[W_M], n = problem->value[W_N], k = problem->value[W_K];
    int64_t layout = problem->value[W_LAYOUT];
    size_t weights = w_weight_bytes(layout, n, k), scales = w_scale_count(layout, n, k);
    unsigned count = 0;
    if (problem->value[W_STEP] == W_REPACK) {
        buffers[count++] = (struct zoo_buffer){"w", ZOO_IN, ZOO_U8, w_source_bytes(layout, n, k)};
        if (layout == W_TILES128)
            buffers[count++] =
                (struct zoo_buffer){"w_scales", ZOO_IN, ZOO_F32, (size_t)(n * (k / 128))};
        buffers[count++] = (struct zoo_buffer){"tiles", ZOO_OUT, ZOO_U8, weights};
        buffers[count++] = (struct zoo_buffer){"scales", ZOO_OUT, ZOO_F16, scales};
        return count;
    }
    buffers[count++] = (struct zoo_buffer){"x", ZOO_IN, type_of(problem), (size_t)(m * k)};
    buffers[count++] = (struct zoo_buffer){"w", ZOO_IN, ZOO_U8, weights};
    if (layout >= W_TILES32)
        buffers[count++] = (struct zoo_buffer){"scales", ZOO_IN, ZOO_F16, scales};
    buffers[count++] = (struct zoo_buffer){"y", ZOO_OUT, type_of(problem), (size_t)(m * n)};
    return count;
}

/* Every code; scales between 1/128 and 1/64. */
static uint16_t some_scale(uint64_t random)
{
    return (uint16_t)(0x2000 + random % 0x400);
}
static void fill_blocks(const struct zoo_problem *problem, int64_t layout, uint8_t *w, size_t bytes)
{
    static const int at[][2] = {{0, 0}, {0, 2}, {0, 0}, {0, 2}, {208, 208}};
    size_t block = w_weight_bytes(layout, 1, w_block(layout));
#pragma omp parallel for schedule(static) if (bytes > 100000)
    for (size_t b = 0; b < bytes / block; b++)
        for (int i = 0; i < 2; i++) {
            uint16_t scale = some_scale(zoo_random(problem->seed, 7 + (unsigned)i, b));
            memcpy(w + b * block + at[layout][i], &scale, sizeof scale);
        }
}
static void generate(const struct zoo_problem *problem, void **buffer)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    int64_t layout = problem->value[W_LAYOUT];
    for (unsigned i = 0; i < count; i++) {
        if (buffers[i].role != ZOO_IN)
            continue;
        if (buffers[i].type == ZOO_F16 && buffers[i].name[0] == 's') {
            for (size_t k = 0; k < buffers[i].count; k++)
                ((uint16_t *)buffer[i])[k] = some_scale(zoo_random(problem->seed, i, k));
        } else if (buffers[i].type != ZOO_U8) {
            zoo_fill(problem, i, buffers[i].type, buffer[i], buffers[i].count);
        } else {
            uint8_t *w = buffer[i];
#pragma omp parallel for schedule(static) if (buffers[i].count > 100000)
            for (size_t k = 0; k < buffers[i].count; k++)
                w[k] = (uint8_t)(zoo_random(problem->seed, i, k) >> 9);
            if (layout < W_TILES32)
                fill_blocks(problem, layout, w, buffers[i].count);
            else if (problem->value[W_STEP] == W_REPACK && layout == W_TILES32)
                fill_blocks(problem, W_Q4_0, w, buffers[i].count);
        }
    }
}

static double bytes(const struct zoo_problem *problem)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = shape(problem, buffers);
    double sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += (double)zoo_buffer_bytes(&buffers[i]);
    return sum;
}

static double flops(const struct zoo_problem *problem)
{
    if (problem->value[W_STEP] == W_REPACK)
        return 0;
    return 2.0 * (double)problem->value[W_M] * (double)problem->value[W_N] *
           (double)problem->value[W_K];
}

static const char *unit(const struct zoo_problem *problem)
{
    return problem->value[W_TYPE] == 0 ? "tensor-bf16" : "tensor-f16";
}

/* Launches --------------------------------------------------------------------------------------*/

static bool is_whole(const struct zoo_problem *problem)
{
    return problem->value[W_K] % w_block(problem->value[W_LAYOUT]) == 0;
}
static bool takes_any(const struct zoo_problem *problem)
{
    bool repacks = problem->value[W_STEP] == W_REPACK;
    return is_whole(problem) && (!repacks || problem->value[W_LAYOUT] >= W_TILES32) &&
           problem->value[W_M] * problem->value[W_N] < (int64_t)1 << 37;
}
static bool takes_gguf(const struct zoo_problem *problem)
{
    return is_whole(problem) && problem->value[W_STEP] == W_MULTIPLY &&
           problem->value[W_LAYOUT] < W_TILES32 && problem->value[W_M] <= 65535;
}
static bool takes_tiles(const struct zoo_problem *problem)
{
    return is_whole(problem) && problem->value[W_STEP] == W_MULTIPLY &&
           problem->value[W_LAYOUT] >= W_TILES32 && problem->value[W_M] <= 65535;
}

static CUresult repack(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    int n = (int)problem->value[W_N], k = (int)problem->value[W_K];
    int64_t words = (int64_t)w_weight_bytes(problem->value[W_LAYOUT], n, k) / 4;
    struct zoo_grid grid = {.x = zoo_ceil_div(words, zoo_tunable(call, "BLOCK")),
                            .threads = (unsigned)zoo_tunable(call, "BLOCK")};
    if (words == 0)
        return CUDA_SUCCESS;
    if (problem->value[W_LAYOUT] == W_TILES32)
        return ZOO_LAUNCH(call, "repack_q4_0", grid, &call->buffer[0], &call->buffer[1],
                          &call->buffer[2], &n, &k);
    return ZOO_LAUNCH(call, "repack_int4", grid, &call->buffer[0], &call->buffer[1],
                      &call->buffer[2], &call->buffer[3], &n, &k);
}

static CUresult multiply(struct zoo_call *call, struct zoo_grid grid)
{
    const struct zoo_problem *problem = call->problem;
    int m = (int)problem->value[W_M], n = (int)problem->value[W_N], k = (int)problem->value[W_K];
    int64_t layout = problem->value[W_LAYOUT];
    char kernel[32];
    if (m == 0 || n == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "%s_%s", layouts[layout], types[problem->value[W_TYPE]]);
    if (layout < W_TILES32)
        return ZOO_LAUNCH(call, kernel, grid, &call->buffer[0], &call->buffer[1], &call->buffer[2],
                          &m, &n, &k);
    return ZOO_LAUNCH(call, kernel, grid, &call->buffer[0], &call->buffer[1], &call->buffer[2],
                      &call->buffer[3], &m, &n, &k);
}

static CUresult launch_naive(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    if (problem->value[W_STEP] == W_REPACK)
        return repack(call);
    return multiply(
        call, (struct zoo_grid){.x = zoo_ceil_div(problem->value[W_M] * problem->value[W_N], block),
                                .threads = block});
}

static CUresult launch_warps(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    unsigned block = (unsigned)zoo_tunable(call, "BLOCK");
    return multiply(
        call, (struct zoo_grid){.x = zoo_ceil_div(problem->value[W_N], block / 32),
                                .y = zoo_ceil_div(problem->value[W_M], zoo_tunable(call, "MOST")),
                                .threads = block});
}

/* Blocks of a cluster, which share k: as many as run at the same time, two on an SM, if each has at
 * least 512 columns. */
static unsigned parts_of(const struct zoo_call *call, unsigned blocks)
{
    unsigned parts = (unsigned)zoo_tunable(call, "PARTS");
    if (parts > 0)
        return parts;
    for (parts = 1; parts < 8 && call->problem->value[W_K] / (2 * parts) >= 512 &&
                    2 * parts * blocks <= 2 * (unsigned)call->device->sm_count;)
        parts *= 2;
    return parts;
}

/* shared: dynamic shared memory. */
static CUresult multiply_tiles(struct zoo_call *call, unsigned shared)
{
    const struct zoo_problem *problem = call->problem;
    int m = (int)problem->value[W_M], n = (int)problem->value[W_N], k = (int)problem->value[W_K];
    unsigned wide_blocks = zoo_ceil_div(n, 256);
    int choice = zoo_tunable(call, "TILES"), rows = m > 8 ? 16 : 8;
    bool wide = choice ? choice == 2 : 4 * wide_blocks >= (unsigned)call->device->sm_count;
    unsigned parts = parts_of(call, wide ? wide_blocks : zoo_ceil_div(n, 128));
    char kernel[48];
    if (m == 0 || n == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "%s_%s_%d_rows%s", layouts[problem->value[W_LAYOUT]],
             types[problem->value[W_TYPE]], rows, wide ? "_wide" : "");
    return ZOO_LAUNCH(call, kernel,
                      ((struct zoo_grid){.x = zoo_ceil_div(n, wide ? 256 : 128) * parts,
                                         .y = zoo_ceil_div(m, rows),
                                         .threads = 256,
                                         .shared = shared,
                                         .cluster = parts > 1 ? parts : 0}),
                      &call->buffer[0], &call->buffer[1], &call->buffer[2], &call->buffer[3], &m,
                      &n, &k, &parts);
}

/* x, and STAGES slots for each of 8 warps. */
static CUresult launch_tiles(struct zoo_call *call)
{
    unsigned slot = call->problem->value[W_LAYOUT] == W_TILES32 ? 768 : 640;
    return multiply_tiles(call, 32768 + 8 * (unsigned)zoo_tunable(call, "STAGES") * slot);
}

static CUresult launch_in_registers(struct zoo_call *call)
{
    return multiply_tiles(call, 0);
}

/* What a block of bulk needs of shared memory if `parts` share k: rings, sums, saved sums, x. */
static int64_t bulk_shared(const struct zoo_call *call, int rows, unsigned parts)
{
    enum { TEAM = 16, SAVED = 8 }; /* as in the kernel */
    const int64_t *value = call->problem->value;
    int64_t slot = 2048 + (value[W_LAYOUT] == W_TILES32 ? 256 : 64), wide = rows / 8;
    int64_t ring = zoo_tunable(call, "STAGES") - (wide - 1), kept = value[W_M] + 1;
    int64_t chunks = 2 * (int64_t)zoo_ceil_div((value[W_K] + 63) / 64, 2 * (int64_t)parts);
    kept = kept < rows ? kept : rows;
    return TEAM * (ring * slot + wide * 1152) + (parts > 1 ? SAVED * wide * 1024 : 0) +
           kept * (chunks * 128 + 16);
}

static unsigned bulk_parts(const struct zoo_call *call)
{
    enum { OWN = 1024 }; /* barriers, and what the system takes */
    unsigned parts = (unsigned)zoo_tunable(call, "PARTS");
    int rows = call->problem->value[W_M] > 8 ? 16 : 8;
    if (parts > 0)
        return parts;
    for (parts = 1; parts < 16; parts *= 2)
        if (bulk_shared(call, rows, parts) + OWN <= call->device->shared_per_block)
            break;
    return parts;
}
static bool fits_bulk(const struct zoo_call *call)
{
    int rows = call->problem->value[W_M] > 8 ? 16 : 8;
    unsigned parts = bulk_parts(call);
    return parts <= 8 && bulk_shared(call, rows, parts) + 1024 <= call->device->shared_per_block;
}

/* A block for each SM. */
static CUresult launch_bulk(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    int m = (int)problem->value[W_M], n = (int)problem->value[W_N], k = (int)problem->value[W_K];
    unsigned parts = bulk_parts(call), sms = (unsigned)call->device->sm_count;
    /* GPCs do not all have the same number of SMs: clusters of 4 and 8 leave some idle. */
    unsigned idle = parts > 2 && sms > 8 * parts ? (unsigned)zoo_tunable(call, "IDLE") : 0;
    unsigned most = (sms - idle) / parts;
    unsigned pairs = zoo_ceil_div(n, 32), clusters = pairs < most ? pairs : most ? most : 1;
    int rows = m > 8 ? 16 : 8;
    char kernel[48];
    if (m == 0 || n == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "%s_%s_%d_rows", layouts[problem->value[W_LAYOUT]],
             types[problem->value[W_TYPE]], rows);
    return ZOO_LAUNCH(call, kernel,
                      ((struct zoo_grid){.x = clusters * parts,
                                         .y = zoo_ceil_div(m, rows),
                                         .threads = 512,
                                         .shared = (unsigned)bulk_shared(call, rows, parts),
                                         .cluster = parts > 1 ? parts : 0}),
                      &call->buffer[0], &call->buffer[1], &call->buffer[2], &call->buffer[3], &m,
                      &n, &k, &parts);
}

/* How many bands x_in_registers fetches ahead. Blocks that have few bands are faster with three on
 * an H200, by the times in the README. */
static int x_in_registers_stages(const struct zoo_call *call)
{
    const int64_t *value = call->problem->value;
    int64_t blocks = call->device->sm_count, tiles = (value[W_N] + 15) / 16;
    int64_t bands = (tiles + blocks - 1) / blocks * ((value[W_K] + 4095) / 4096);
    int stages = zoo_tunable(call, "STAGES");
    return stages > 0 ? stages : bands <= (value[W_M] > 8 ? 16 : 8) ? 3 : 4;
}
/* What a block of it needs of shared memory: for each of 16 warps sums of tiles, saved ones and a
 * place for x; barriers; bands of 64 chunks with their barriers. */
static unsigned x_in_registers_shared(const struct zoo_call *call)
{
    const int64_t *value = call->problem->value;
    unsigned band = 64 * (512 + (value[W_LAYOUT] == W_TILES32 ? 64 : 16)) + 128;
    unsigned wide = value[W_M] > 8 ? 2 : 1;
    return (unsigned)x_in_registers_stages(call) * band + 16 * (2048 + wide * 512 + 1024) + 128;
}
static bool fits_x_in_registers(const struct zoo_call *call)
{
    return (int)x_in_registers_shared(call) + 1024 <= call->device->shared_per_block;
}

/* A block for each SM. */
static CUresult launch_x_in_registers(struct zoo_call *call)
{
    const struct zoo_problem *problem = call->problem;
    int m = (int)problem->value[W_M], n = (int)problem->value[W_N], k = (int)problem->value[W_K];
    unsigned tiles = zoo_ceil_div(n, 16), sms = (unsigned)call->device->sm_count;
    int rows = m > 8 ? 16 : m == 1 && problem->value[W_LAYOUT] == W_TILES32 ? 1 : 8;
    int stages = x_in_registers_stages(call);
    char kernel[48];
    if (m == 0 || n == 0)
        return CUDA_SUCCESS;
    snprintf(kernel, sizeof kernel, "%s_%s_%d_rows", layouts[problem->value[W_LAYOUT]],
             types[problem->value[W_TYPE]], rows);
    return ZOO_LAUNCH(call, kernel,
                      ((struct zoo_grid){.x = tiles < sms ? tiles : sms,
                                         .y = zoo_ceil_div(m, rows),
                                         .threads = 512,
                                         .shared = x_in_registers_shared(call),
                                         .overlaps = true}),
                      &call->buffer[0], &call->buffer[1], &call->buffer[2], &call->buffer[3], &m,
                      &n, &k, &stages);
}

static const struct zoo_tunable x_in_registers_at_launch[] = {
    ZOO_AT_LAUNCH("STAGES", 0, 0, 2, 3, 4), {{0}}};
static const struct zoo_tunable bulk_at_launch[] = {
    ZOO_AT_LAUNCH("PARTS", 0, 0, 1, 2, 4, 8), ZOO_AT_LAUNCH("IDLE", 12, 8, 12, 16), {{0}}};
static const struct zoo_tunable tiles_at_launch[] = {
    ZOO_AT_LAUNCH("PARTS", 0, 0, 1, 2, 4, 8), ZOO_AT_LAUNCH("TILES", 0, 0, 1, 2), {{0}}};

static const struct zoo_variant variants[] = {
    {"naive", "a thread for each result decodes a whole row", launch_naive, .takes = takes_any,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"warp_per_row", "GGUF's blocks as they are, a row for each warp, decoded once for 8 rows of x",
     launch_warps, .takes = takes_gguf, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED},
    {"tiles", "weights in the order of the tensor cores' operands; a cluster shares k",
     launch_tiles, .takes = takes_tiles, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED,
     .at_launch = tiles_at_launch},
    {"tiles_in_registers", "codes straight into registers, rows of x by ldmatrix",
     launch_in_registers, .takes = takes_tiles, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED,
     .at_launch = tiles_at_launch},
    {"bulk", "a block for each SM, whose warps share k; weights by bulk copies", launch_bulk,
     .takes = takes_tiles, .fits = fits_bulk, .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED,
     .at_launch = bulk_at_launch},
    {"x_in_registers", "x waits in registers as operands, weights come by bulk copies",
     launch_x_in_registers, .takes = takes_tiles, .fits = fits_x_in_registers,
     .traits = ZOO_DETERMINISTIC | ZOO_ALIGNED, .at_launch = x_in_registers_at_launch},
    {0}};

/* Dequantise, then multiply: what one writes without a kernel of one's own. */
#define TORCH_Q4_0                                                                                 \
    "(lambda b: (x[0].view(m, k).float() @ ((torch.cat((b[..., 2:] & 15, b[..., 2:] >> 4), -1)"    \
    ".float() - 8) * b[..., :2].contiguous().view(torch.float16).float()).view(n, k).T)"           \
    ".to(x[0].dtype))(x[1].view(n, k // 32, 18))"

static bool peer_takes(const struct zoo_problem *problem)
{
    return problem->value[W_STEP] == W_MULTIPLY && problem->value[W_LAYOUT] == W_Q4_0;
}

static const struct zoo_peer peers[] = {
    {"torch", ZOO_PEER_PYTHON, .call = TORCH_Q4_0, .takes = peer_takes}, {0}};

static const char *const edges[] = {"m=1,3 n=1,17,40 k=32,96 layout=q4_0,q4_1,q8_0",
                                    "m=2,9 n=5,33 k=256,512 layout=q4_k,q6_k type=bf16,f16",
                                    "m=1,8,9,16,17 n=16,100 k=32,64,160 layout=tiles32",
                                    "m=1,5,16 n=33,256 k=128,640 layout=tiles128 type=bf16,f16",
                                    "m=2,12 n=48 k=4096,4224 layout=tiles32,tiles128",
                                    "m=5,9 n=40 k=8320 layout=tiles32,tiles128",
                                    "m=0,1 n=0,3 k=0,256 layout=q4_0,tiles32,tiles128",
                                    "m=1 n=7,32,50 k=32,224 layout=tiles32 step=repack",
                                    "m=1 n=5,64 k=128,384 layout=tiles128 step=repack",
                                    NULL};

static const char *const bench[] = {"m=1,8,16 n=28672 k=8K layout=tiles32,tiles128",
                                    "m=1,16 n=4K k=4K layout=tiles128",
                                    "m=1 n=28672 k=8K layout=q4_0,q4_1,q8_0,q4_k,q6_k", NULL};

const struct zoo_family zoo_gemm_w4a16 = {
    .name = "gemm_w4a16",
    .title = "products with quantised weights",
    .problem = "y = x W^T: x is [m][k], W is [n][k] in blocks of GGUF (Q4_0, Q4_1, Q8_0, Q4_K, "
               "Q6_K) or in "
               "tiles of 4 bits with f16 scales for 32 or 128 numbers; y is [m][n]. step=repack "
               "brings Q4_0 "
               "into tiles for 32, and INT4 with f32 scales for 128 into tiles for 128.",
    .parameters = {{"m", "rows of x", 0, 1 << 20, 1, NULL},
                   {"n", "rows of W", 0, 1 << 20, 4096, NULL},
                   {"k", "columns", 0, 1 << 20, 4096, NULL},
                   {"layout", "of the weights", 0, W_TILES128, W_TILES128, layouts},
                   {"step", "multiply, or repack", 0, 1, 0, steps},
                   {"type", "of x and y: bf16 or f16", 0, 1, 0, types},
                   {0}},
    .distributions = zoo_distributions,
    .profile = "m=1 n=1K k=2K",
    .unit = unit,
    .aligned = true,
    .edges = edges,
    .bench = bench,
    .shape = shape,
    .generate = generate,
    .reference = w_reference,
    .bytes = bytes,
    .flops = flops,
    .variants = variants,
    .peers = peers,
};
