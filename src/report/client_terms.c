/*
 * client_terms.c: advice and findings in the words of the client whose kernel it is. Rules are
 * written in CUDA C's words; a kernel of Numba or Triton has its own for most of them. Not for
 * sentences that a client needs to be told otherwise: those are in the rules themselves.
 */
#include "report/client_terms.h"

#include "host/files.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *cuda, *numba, *triton; /* NULL: as in CUDA C */
} phrases[] = {
    {"threadIdx.x / 32", "cuda.threadIdx.x // 32", NULL},
    {"threadIdx.x", "cuda.threadIdx.x", NULL},
    {"a literal without f (2.0 for 2.0f) or a double function (sqrt for sqrtf) makes them so",
     "a Python float (2.0 for float32(2.0)) or an argument of type float64 makes them so",
     "an argument or tl.cast of type float64 makes them so"},
    {"__syncwarp()", "cuda.syncwarp()", "tl.debug_barrier()"},
    {"__syncwarp", "cuda.syncwarp", NULL},
    {"__syncthreads()", "cuda.syncthreads()", "tl.debug_barrier()"},
    {"do more between barriers (larger tiles, two buffers), or the last steps within a warp "
     "(__shfl_down_sync)",
     "do more between barriers (larger tiles, two buffers), or the last steps within a warp "
     "(cuda.shfl_down_sync)",
     "do more between barriers (a larger block size), or reduce along a dimension that one warp "
     "holds (a smaller num_warps)"},
    {"add up within the warp (__reduce_add_sync or __shfl_down_sync) and the block, then do one "
     "atomic a block",
     "add up within the warp (cuda.shfl_down_sync) and the block, then do one atomic a block",
     "add up within the program first (tl.sum), then do one tl.atomic_add of the sum"},
    {"gather in shared memory first, and add that to global memory once a block", NULL,
     "gather within the program first (tl.sum, tl.histogram), and add that to global memory once"},
    {"(__match_any_sync)", "(cuda.match_any_sync)", NULL},
    {", or move whole elements with one vector access (float4)", "", NULL},
    {"(float4, int4)", "(four neighbouring elements a thread)",
     "(a larger block size, fewer num_warps, tl.multiple_of for strides)"},
    {"(a uint4)", "(several neighbouring elements a thread)",
     "(a larger block size, fewer num_warps, tl.multiple_of for strides)"},
    {"(or __constant__ for a small table)", "(or cuda.const.array_like for a small table)",
     "(or load it once, before the loop)"},
    {"(#pragma unroll the loops over it)", "(loops of constant length over it)", NULL},
    {"__launch_bounds__, -maxrregcount", "max_registers= of @cuda.jit", NULL},
    {"__launch_bounds__", "max_registers= of @cuda.jit", NULL},
    {"pad the rows by one element, as in tile[32][33], or swizzle the index",
     "pad the rows by one element, as in cuda.shared.array((32, 33), float32), or swizzle the "
     "index",
     "the compiler converts between layouts here: another block size or num_warps, or a tl.trans "
     "less, may avoid it"},
    {"__ldg and __restrict__", NULL, "cache_modifier"},
};

bool terms_is_python(const char *file)
{
    size_t length = file ? strlen(file) : 0;
    return length > 3 && strcmp(file + length - 3, ".py") == 0;
}

int terms_line_tells(const char *line)
{
    const char *word = line + strspn(line, " \t");
    if (*word == '@' || strncmp(word, "def ", 4) == 0)
        return -1;
    return strstr(line, "__global__") || strstr(line, "__device__");
}

bool terms_is_python_line(const char *file, unsigned line)
{
    char *message = NULL, *text = terms_is_python(file) ? host_read_text(file, &message) : NULL;
    char *rest = text;
    int told = -1;
    for (unsigned at = 1; rest && at <= line; at++) {
        char *here = rest, *end = strchr(rest, '\n');
        rest = end ? end + 1 : NULL;
        if (end)
            *end = 0;
        int tells = terms_line_tells(here);
        told = tells ? tells : told;
    }
    free(text);
    free(message);
    return terms_is_python(file) && told < 0;
}

enum terms_client terms_client(bool is_python, const char *symbol)
{
    if (!is_python || !symbol)
        return TERMS_CUDA;
    return strncmp(symbol, "_Z", 2) == 0 ? TERMS_NUMBA : TERMS_TRITON; /* Numba mangles its names */
}

const char *terms_of(enum terms_client client, const char *text, struct lk_buf *changed)
{
    if (client == TERMS_CUDA)
        return text;
    changed->size = 0;
    lk_buf_add(changed, "", 0);
    while (*text) {
        const char *instead = NULL;
        size_t length = 0;
        for (size_t i = 0; i < sizeof phrases / sizeof phrases[0] && !instead; i++) {
            length = strlen(phrases[i].cuda);
            if (strncmp(text, phrases[i].cuda, length) == 0)
                instead = client == TERMS_NUMBA ? phrases[i].numba : phrases[i].triton;
        }
        if (instead)
            lk_buf_add(changed, instead, strlen(instead));
        else
            lk_buf_add(changed, text, length = 1);
        text += length;
    }
    return changed->data;
}

/* Findings ----------------------------------------------------------------------------------------
 */

static const char *race_remedy(enum terms_client client, bool one_block, bool one_warp)
{
    if (client == TERMS_TRITON)
        return one_block ? "tl.debug_barrier() between the store and what reads it"
                         : "several programs touch it: use tl.atomic_add and the like, or let each "
                           "program write a part of its own";
    if (!one_block)
        return "use cuda.atomic, let each block write a part of its own, or launch twice";
    return one_warp
               ? "cuda.syncwarp(), or cuda.syncthreads() where all threads of the block come by"
               : "cuda.syncthreads() between them";
}

const char *terms_remedy(enum terms_client client, enum finding_kind kind, bool one_block,
                         bool one_warp)
{
    bool triton = client == TERMS_TRITON;
    if (client == TERMS_CUDA)
        return NULL;
    switch (kind) {
    case FINDING_OUT_OF_BOUNDS:
        return triton ? "mask it (mask=offsets < n, and other= for loads), with n and strides in "
                        "elements of the tensor's own dtype"
                      : "compare the index with the array's shape first (if i < a.shape[0]:)";
    case FINDING_MISALIGNED:
        return triton ? "the pointer was cast to a wider type than its tensor has, or "
                        "tl.multiple_of promises too much"
                      : "the array has a smaller dtype than the kernel's signature names";
    case FINDING_UNINITIALIZED:
        return triton ? "torch.empty leaves memory as it is (torch.zeros fills it); or a kernel "
                        "before this one masked its stores more narrowly"
                      : "cuda.device_array and cuda.shared.array leave memory as it is: fill it "
                        "first, or copy zeros (cuda.to_device)";
    case FINDING_BARRIER:
        return triton ? NULL
                      : "all threads of the block must come to the same cuda.syncthreads(): move "
                        "it out of the branch";
    case FINDING_RACE:
        return race_remedy(client, one_block, one_warp);
    default:
        return NULL;
    }
}
