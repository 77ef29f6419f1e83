/*
 * zoo.h: what a family of kernels is. kernels/FAMILY/FAMILY.c declares one; tests, benchmarks,
 * profiles, the course and the public calls all read the same declaration.
 *
 *   family   one problem: parameters, generator, reference, its floor in bytes and operations
 *   problem  one instance: values of the parameters, a distribution and a seed
 *   variant  one technique: a .cu beside the family's .c (or a C function, on the CPU)
 *
 * A new variant is its .cu and one row in the family's table.
 */
#ifndef LOCKSTEP_ZOO_ZOO_H
#define LOCKSTEP_ZOO_ZOO_H

#include "cuda/driver.h"
#include "zoo/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lk_buf;
struct zoo_call;
struct zoo_family;

/* Problems --------------------------------------------------------------------------------------*/

#define ZOO_PARAMETERS 18
#define ZOO_BUFFERS 13

struct zoo_parameter {
    const char *name, *help;
    int64_t least, most, normal;
    const char *const *words; /* an enumeration: its words, then NULL; the value is an index */
    bool scalar; /* a number that the kernels compute with, not a size; it may be a float */
};

/* A float as the value of a scalar parameter: 2^32 and its bits. */
#define ZOO_FLOAT ((int64_t)1 << 32)
static inline int64_t zoo_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return ZOO_FLOAT + bits;
}
static inline float zoo_as_float(int64_t value)
{
    uint32_t bits = (uint32_t)(value - ZOO_FLOAT);
    float number;
    memcpy(&number, &bits, sizeof number);
    return value < ZOO_FLOAT ? (float)value : number;
}

struct zoo_problem {
    const struct zoo_family *family;
    int64_t value[ZOO_PARAMETERS]; /* in the order of family->parameters */
    unsigned distribution;         /* index into family->distributions */
    uint64_t seed;
};

enum zoo_role { ZOO_IN, ZOO_OUT, ZOO_IN_OUT };

struct zoo_buffer {
    const char *name; /* as the kernels call it */
    enum zoo_role role;
    enum zoo_type type;
    size_t count;
};

/* What one output buffer must hold. The caller allocates value and bound, zeroed, one for each
 * element; a reference that finds fewer elements defined lowers count, and what follows them must
 * then not be written. */
struct zoo_expected {
    size_t count;
    double *value;
    double *bound; /* the largest absolute error allowed; 0 asks for the exact value,
                      INFINITY for any: it depends on the order */
};

/* Variants and peers ----------------------------------------------------------------------------*/

enum zoo_trait {
    ZOO_DETERMINISTIC = 1, /* the same bits in every run, whatever the schedule */
    ZOO_COOPERATIVE = 2,   /* needs all its blocks resident at once */
    ZOO_ALIGNED = 4,       /* takes buffers at multiples of 16 bytes alone, as TMA does */
    ZOO_FOR_SHOW = 8, /* wrong for some inputs, and kept to show it: public calls never use it */
};

struct zoo_tunable;

struct zoo_variant {
    const char *name;      /* kernels/FAMILY/NAME.cu */
    const char *technique; /* one line: what it does that the one before does not */
    /* Puts its kernels into call->stream. Sizes of zero are its business too. */
    CUresult (*launch)(struct zoo_call *call);
    size_t (*workspace)(const struct zoo_call *call);       /* NULL: none */
    bool (*takes)(const struct zoo_problem *problem);       /* NULL: every problem */
    bool (*fits)(const struct zoo_call *call);              /* on this GPU; NULL: on every one */
    void (*cpu)(const struct zoo_problem *, void **buffer); /* on the CPU, in place of launch */
    unsigned traits;                                        /* of enum zoo_trait */
    /* What only the launch depends on, until a NULL name: no other kernels are built for it. */
    const struct zoo_tunable *at_launch;
    const struct zoo_family *borrows; /* whose kernels it runs besides its own; NULL: nobody's */
};

/* Another library's solution of the same problem, for src/bench; kernels/host/peer.h says how it
 * is called. */
enum zoo_peer_kind {
    ZOO_PEER_NVCC,    /* kernels/FAMILY/host/peer_NAME.cu, built by nvcc where there is one: CUB */
    ZOO_PEER_LIBRARY, /* the functions below open a library at run time: cuBLAS, cuSPARSE */
    ZOO_PEER_PYTHON,  /* an expression of PyTorch */
};

struct lk_peer_call;
struct zoo_peer {
    const char *name; /* "cub", "torch", "cusparse" */
    enum zoo_peer_kind kind;
    /* What it calls, for people. Of ZOO_PEER_PYTHON the expression itself: x is the list of the
     * buffers as tensors, each parameter is a variable, an enumeration's as its word, and
     * compiled(lambda) is what torch.compile makes of it; python/peer_torch.py has longer ones as
     * functions. */
    const char *call;
    bool (*takes)(const struct zoo_problem *problem); /* NULL: every problem */
    size_t (*workspace)(const struct lk_peer_call *call);
    int (*run)(const struct lk_peer_call *call); /* 0 is fine; -1: the library is not here */
    const char *(*version)(void);                /* NULL: the library is not here */
    /* It draws random numbers of its own, so that its results are others than the reference's: it
     * is timed, and not compared. */
    bool draws;
    /* It makes an intermediate result itself, rounded, that variants are given: so many times the
     * bounds are allowed. 0: once. */
    double leeway;
};

/* Families --------------------------------------------------------------------------------------*/

struct zoo_family {
    const char *name;
    const char *title;   /* a few words */
    const char *problem; /* what is computed, in a sentence or two */
    struct zoo_parameter parameters[ZOO_PARAMETERS + 1]; /* until a NULL name */
    const char *const *distributions;                    /* their names, then NULL */

    /* Problems as text, "n=1M op=max,min dist=nan": commas make one problem of each value.
     * All end with NULL. */
    const char *const *edges; /* for tests on the machine: every boundary, small */
    const char *const *bench; /* for benchmarks: large ones first */
    const char *profile;      /* one of a size that counters take a second for */

    /* Fills buffers[], returns how many. */
    unsigned (*shape)(const struct zoo_problem *problem, struct zoo_buffer *buffers);
    void (*generate)(const struct zoo_problem *problem, void **buffer);
    /* In plain C and higher precision; expected[i] belongs to buffer i, unused for inputs. */
    void (*reference)(const struct zoo_problem *problem, void *const *buffer,
                      struct zoo_expected *expected);
    double (*bytes)(const struct zoo_problem *problem); /* the least to and from memory */
    double (*flops)(const struct zoo_problem *problem);
    /* Whose peak these operations have: a name that report_peak knows, "tensor-bf16". NULL: "f32".
     */
    const char *(*unit)(const struct zoo_problem *problem);

    bool aligned; /* all its buffers lie at multiples of 16 bytes: public calls refuse others */
    const struct zoo_family *tuned_with; /* another for the same problem: one search for both */
    const struct zoo_variant *variants;  /* until a NULL name; from naive to the limit */
    const struct zoo_peer *peers;        /* until a NULL name */
};

/* A family's file defines these under their own names, and ends its zoo_family with this. */
#define ZOO_FAMILY_PARTS                                                                           \
    .edges = edges, .bench = bench, .shape = shape, .generate = generate, .reference = reference,  \
    .bytes = bytes, .flops = flops, .variants = variants, .peers = peers

/* Every family, until NULL. */
extern const struct zoo_family *const zoo_families[];

/* By name, "reduction" or "reduction/warp_shuffle"; variant is NULL if none is named. On failure
 * false and a malloc'd message that says what was meant. */
bool zoo_find(const char *name, const struct zoo_family **family,
              const struct zoo_variant **variant, char **message);
const struct zoo_variant *zoo_find_variant(const struct zoo_family *family, const char *name);
bool zoo_takes(const struct zoo_variant *variant, const struct zoo_problem *problem);

/* Problems as text ------------------------------------------------------------------------------*/

/* All problems that text stands for, malloc'd, *count of them; what text does not name has its
 * normal value. On failure NULL and a malloc'd message. */
struct zoo_problem *zoo_problems(const struct zoo_family *family, const char *text, size_t *count,
                                 char **message);
/* As zoo_problems, of a NULL-terminated list of texts. */
struct zoo_problem *zoo_problem_list(const struct zoo_family *family, const char *const *texts,
                                     size_t *count, char **message);
struct zoo_problem zoo_problem_normal(const struct zoo_family *family);
void zoo_problem_print(const struct zoo_problem *problem, struct lk_buf *text); /* "n=1M op=sum" */
bool zoo_parse_count(const char *text, size_t length, int64_t *value); /* 1000, 4K, 16M, 1G */
size_t zoo_buffer_bytes(const struct zoo_buffer *buffer);

/* The common distributions. A family that has no others points distributions here and calls
 * zoo_fill; "special" mixes in NaN, infinities and the largest and smallest numbers. */
extern const char *const zoo_distributions[];
enum { ZOO_UNIFORM, ZOO_CONSTANT, ZOO_ASCENDING, ZOO_ADVERSARIAL, ZOO_SPECIAL };
void zoo_fill(const struct zoo_problem *problem, unsigned stream, enum zoo_type type, void *data,
              size_t count);
/* Numbers that depend on (seed, stream, index) alone, so that any part can be made by itself. */
uint64_t zoo_random(uint64_t seed, unsigned stream, uint64_t index);
double zoo_random_unit(uint64_t seed, unsigned stream, uint64_t index); /* in [0, 1) */

/* Sources that are embedded in the library -----------------------------------------------------*/

#define ZOO_TUNABLES 6
struct zoo_tunable {
    char name[24];
    int normal, choices[12];
    unsigned choice_count;
};
/* A row of a variant's at_launch. */
#define ZOO_AT_LAUNCH(name, normal, ...)                                                           \
    {                                                                                              \
        name, normal, {__VA_ARGS__}, sizeof(int[]){__VA_ARGS__} / sizeof(int)                      \
    }

struct zoo_source {
    const char *text; /* the .cu */
    size_t text_size;
    const char *ptx, *ptx_end; /* what the build made of it, as zoo_ptx reads it */
    char arch[8];              /* "80", "90a": from the line "// arch: sm_80" */
    unsigned lines;            /* of code, without comments and blank ones */
    /* "#define BLOCK 256 // tune: 128 256 512", and after those the variant's at_launch. */
    unsigned tunable_count, written_count;
    struct zoo_tunable tunables[ZOO_TUNABLES];
};

/* NULL for a variant of the CPU. Parsed once. */
const struct zoo_source *zoo_source(const struct zoo_family *family,
                                    const struct zoo_variant *variant);
/* The text of its PTX, malloc'd, with a zero byte after it; NULL and a malloc'd message if there is
 * no memory for it. */
char *zoo_ptx(const struct zoo_source *source, size_t *size, char **message);
/* Of the source and its headers: a table of tuned kernels says with it what it was made from. */
uint64_t zoo_source_hash(const struct zoo_family *family, const struct zoo_variant *variant);
extern const char zoo_compiler[]; /* which compiler made the embedded PTX, and its version */

/* Devices and launches --------------------------------------------------------------------------*/

struct zoo_device {
    const struct lk_driver *cuda;
    CUdevice device;
    CUcontext context;
    char name[128];
    int arch; /* 90 for compute capability 9.0 */
    int sm_count, threads_per_sm, shared_per_block, l2_bytes;
    size_t memory_bytes;
};

/* A variant's kernels on a device, and the values of its tunables. */
struct zoo_kernels;

struct zoo_call {
    const struct zoo_problem *problem;
    const struct zoo_device *device;
    const struct zoo_kernels *kernels;
    CUstream stream;
    CUdeviceptr buffer[ZOO_BUFFERS];
    CUdeviceptr workspace; /* aligned to 256; its content is undefined */
    const char *error;     /* what went wrong, if a call of ours failed */
};

/* The value of a parameter, of a tunable. A name that is not declared ends the program. */
int64_t zoo_value(const struct zoo_problem *problem, const char *name);
int zoo_tunable(const struct zoo_call *call, const char *name);

struct zoo_grid {
    unsigned x, y, z;         /* blocks; 0 counts as 1 */
    unsigned threads, ty, tz; /* of a block; 0 counts as 1 */
    unsigned shared;          /* dynamic bytes */
    unsigned cluster;         /* blocks along x that form a cluster; 0: none */
    bool cooperative;
    /* Begins before its predecessor ends: the kernel calls cudaGridDependencySynchronize. Not
     * cooperative. */
    bool overlaps;
};
/* arguments: pointers to the kernel's arguments, as for cuLaunchKernel. */
CUresult zoo_launch(struct zoo_call *call, const char *kernel, struct zoo_grid grid,
                    void **arguments);
#define ZOO_LAUNCH(call, kernel, grid, ...) zoo_launch(call, kernel, grid, (void *[]){__VA_ARGS__})
/* The kernels of a variant of the family that call's variant borrows from, loaded if they are not
 * yet: for a copy of the call that launches them. NULL, *status and call->error after an error. */
const struct zoo_kernels *zoo_borrow(struct zoo_call *call, const char *variant, CUresult *status);
/* Blocks of a kernel that fit on one SM at a time; 0 after an error. */
unsigned zoo_resident(struct zoo_call *call, const char *kernel, unsigned threads, unsigned shared);
CUresult zoo_clear(struct zoo_call *call, CUdeviceptr at, size_t bytes); /* to zero, in order */

static inline unsigned zoo_ceil_div(int64_t a, int64_t b)
{
    return (unsigned)((a + b - 1) / b);
}

#endif
