/*
 * bench.c: how fast the machine is. Runs the kernels of kernels.cu (as PTX) through src/simt with
 * one thread and with all, checks the results against plain.c, and prints warp instructions a
 * second and the ratio to the plain C; then the time from nothing to a first instruction for a
 * small module. Counters are off. Each figure is the best of several runs: CPU time with one
 * thread, so that a busy neighbour counts for little, wall time with all.
 *
 *   bench [--json] [--quick] [--only KERNEL] KERNELS.ptx
 */
#include "plain.h"
#include "simt/simt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    VECTOR = 1 << 22,
    BYTES = 1 << 22,
    SIDE = 512,
    MMA_A_GEMM = (SIDE / 16) * (SIDE / 8) * (SIDE / 16)
};

struct data {                  /* the problem on the host: what every case takes its input from */
    float *x, *y;              /* [VECTOR] */
    float *a, *b;              /* [SIDE][SIDE] */
    uint16_t *half_a, *half_b; /* [SIDE][SIDE] */
    unsigned char *bytes;      /* [BYTES] */
    float *out;                /* [VECTOR]: plain C's result, then compared */
    unsigned bins[256];
};

struct run { /* one case on one machine */
    struct simt_machine *machine;
    struct simt_kernel *kernel;
    uint64_t in[2], out;
    struct simt_launch launch;
    unsigned char params[64];
};

struct bench_case {
    const char *name, *kernel;
    size_t in_bytes[2], out_bytes;
    uint32_t grid[2], block[2];
    int n;
    uint64_t mmas; /* m16n8k16 in one launch */
    const void *(*input)(const struct data *data, int which);
    void (*plain)(struct data *data);
    int (*wrong)(const struct data *data, const void *out); /* after plain */
};

struct result {
    uint64_t instructions;
    double seconds, all_seconds, plain_seconds;
    int wrong;
};

static double read_clock(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

/* The cases -------------------------------------------------------------------------------------
 */

static const void *input_vectors(const struct data *data, int which)
{
    return which ? data->y : data->x;
}

static const void *input_matrices(const struct data *data, int which)
{
    return which ? data->b : data->a;
}

static const void *input_halves(const struct data *data, int which)
{
    return which ? data->half_b : data->half_a;
}

static const void *input_bytes(const struct data *data, int which)
{
    (void)which;
    return data->bytes;
}

static void run_vector_add(struct data *data)
{
    plain_vector_add(data->x, data->y, data->out, VECTOR);
}

static void run_naive(struct data *data)
{
    plain_matmul_naive(data->a, data->b, data->out, SIDE);
}

static void run_tiled(struct data *data)
{
    plain_matmul_tiled(data->a, data->b, data->out, SIDE);
}

static void run_reduction(struct data *data)
{
    data->out[0] = plain_reduction(data->x, VECTOR);
}

static void run_histogram(struct data *data)
{
    plain_histogram(data->bytes, data->bins, BYTES);
}

static void run_gemm(struct data *data)
{
    plain_gemm_half(data->half_a, data->half_b, data->out, SIDE);
}

static int same_bits(const float *a, const void *b, size_t count)
{
    const unsigned char *expected = (const unsigned char *)a;
    return memcmp(expected, b, count * sizeof *a) == 0;
}

static int wrong_vector(const struct data *data, const void *out)
{
    return !same_bits(data->out, out, VECTOR);
}

static int wrong_matrix(const struct data *data, const void *out) /* small integers: exact */
{
    return !same_bits(data->out, out, (size_t)SIDE * SIDE);
}

static int wrong_sum(const struct data *data, const void *out)
{
    const float *partial = out;
    double sum = 0, exact = 0;
    for (int i = 0; i < 256; i++)
        sum += partial[i];
    for (int i = 0; i < VECTOR; i++)
        exact += data->x[i];
    return fabs(sum - exact) > 1e-4 * fabs(exact);
}

static int wrong_bins(const struct data *data, const void *out)
{
    return memcmp(data->bins, out, sizeof data->bins) != 0;
}

#define MATRIX (sizeof(float) * SIDE * SIDE)
static const struct bench_case cases[] = {
    {"vector add",
     "vector_add",
     {4 * VECTOR, 4 * VECTOR},
     4 * VECTOR,
     {VECTOR / 256, 1},
     {256, 1},
     VECTOR,
     0,
     input_vectors,
     run_vector_add,
     wrong_vector},
    {"naive matmul 512",
     "matmul_naive",
     {MATRIX, MATRIX},
     MATRIX,
     {SIDE / 16, SIDE / 16},
     {16, 16},
     SIDE,
     0,
     input_matrices,
     run_naive,
     wrong_matrix},
    {"naive matmul, 32x8",
     "matmul_naive",
     {MATRIX, MATRIX},
     MATRIX,
     {SIDE / 32, SIDE / 8},
     {32, 8},
     SIDE,
     0,
     input_matrices,
     run_naive,
     wrong_matrix},
    {"tiled matmul 512",
     "matmul_tiled",
     {MATRIX, MATRIX},
     MATRIX,
     {SIDE / 16, SIDE / 16},
     {16, 16},
     SIDE,
     0,
     input_matrices,
     run_tiled,
     wrong_matrix},
    {"reduction",
     "reduction",
     {4 * VECTOR, 0},
     4 * 256,
     {256, 1},
     {256, 1},
     VECTOR,
     0,
     input_vectors,
     run_reduction,
     wrong_sum},
    {"histogram, atomics",
     "histogram",
     {BYTES, 0},
     4 * 256,
     {128, 1},
     {256, 1},
     BYTES,
     0,
     input_bytes,
     run_histogram,
     wrong_bins},
    {"mma.sync GEMM 512",
     "gemm_mma",
     {MATRIX / 2, MATRIX / 2},
     MATRIX,
     {SIDE / 64, SIDE / 64},
     {128, 1},
     SIDE,
     MMA_A_GEMM,
     input_halves,
     run_gemm,
     wrong_matrix},
};
enum { CASES = sizeof cases / sizeof *cases };

static void fill(struct data *data)
{
    data->x = malloc(4 * VECTOR);
    data->y = malloc(4 * VECTOR);
    data->out = malloc(4 * VECTOR);
    data->a = malloc(MATRIX);
    data->b = malloc(MATRIX);
    data->half_a = malloc(MATRIX / 2);
    data->half_b = malloc(MATRIX / 2);
    data->bytes = malloc(BYTES);
    unsigned state = 1;
    for (int i = 0; i < VECTOR; i++) {
        state = state * 1664525u + 1013904223u;
        data->x[i] = (float)(state >> 20) / 64.0f;
        data->y[i] = (float)(i % 1000);
        data->bytes[i % BYTES] = (unsigned char)(state >> 24);
    }
    for (int i = 0; i < SIDE * SIDE; i++) {
        int u = i * 13 % 11 - 5, v = i * 7 % 9 - 4;
        data->a[i] = (float)u;
        data->b[i] = (float)v;
        data->half_a[i] = plain_half_from_small_integer(u);
        data->half_b[i] = plain_half_from_small_integer(v);
    }
}

/* Running -----------------------------------------------------------------------------------------
 */

static struct simt_machine *machine_with(unsigned threads)
{
    struct simt_options options = {.threads = threads, .instruction_limit = 0};
    struct simt_machine *machine = simt_create(gpu_find("h200"), &options);
    if (!machine) {
        fprintf(stderr, "bench: the machine does not start\n");
        exit(1);
    }
    return machine;
}

static struct simt_module *load(struct simt_machine *machine, const char *text)
{
    char *message = NULL;
    struct simt_module *module =
        simt_module_load(machine, "kernels.ptx", text, strlen(text), &message);
    if (!module) {
        fprintf(stderr, "bench: %s\n", message ? message : "the module does not load");
        exit(1);
    }
    return module;
}

/* The parameters of every kernel: its pointers in order, then n. */
static void pack(struct run *run, const struct bench_case *what)
{
    uint64_t values[4];
    unsigned count = 0;
    for (int i = 0; i < 2; i++) {
        if (run->in[i])
            values[count++] = run->in[i];
    }
    values[count++] = run->out;
    values[count++] = (uint64_t)what->n;
    for (unsigned i = 0; i < count; i++) {
        size_t offset, size;
        simt_kernel_param(run->kernel, i, &offset, &size);
        memcpy(run->params + offset, &values[i], size);
    }
}

static void prepare(struct run *run, struct simt_machine *machine, struct simt_module *module,
                    const struct bench_case *what, const struct data *data)
{
    *run = (struct run){.machine = machine, .kernel = simt_module_kernel(module, what->kernel)};
    if (!run->kernel) {
        fprintf(stderr, "bench: no kernel %s\n", what->kernel);
        exit(1);
    }
    for (int i = 0; i < 2; i++) {
        if (!what->in_bytes[i])
            continue;
        run->in[i] = simt_alloc(machine, what->in_bytes[i], SIMT_MEMORY_DEVICE);
        memcpy(simt_host(machine, run->in[i], what->in_bytes[i]), what->input(data, i),
               what->in_bytes[i]);
    }
    run->out = simt_alloc(machine, what->out_bytes, SIMT_MEMORY_DEVICE);
    pack(run, what);
    run->launch = (struct simt_launch){
        .kernel = run->kernel,
        .grid = {what->grid[0], what->grid[1], 1},
        .block = {what->block[0], what->block[1], 1},
        .params = run->params,
    };
}

/* The best of several launches. */
static double measure(struct run *run, const struct bench_case *what, clockid_t clock,
                      double budget, uint64_t *instructions)
{
    double best = 1e30, begin = now();
    for (int i = 0; i < 3 || now() - begin < budget; i++) {
        struct simt_stats stats;
        struct simt_fault fault;
        memset(simt_host(run->machine, run->out, what->out_bytes), 0, what->out_bytes);
        double start = read_clock(clock);
        if (simt_run(run->machine, &run->launch, &stats, &fault) != SIMT_OK) {
            fprintf(stderr, "bench: %s: %s\n", what->name, fault.text);
            exit(1);
        }
        double seconds = read_clock(clock) - start;
        best = seconds < best ? seconds : best;
        *instructions = stats.warp_instructions;
    }
    return best;
}

static double measure_plain(const struct bench_case *what, struct data *data, double budget)
{
    double best = 1e30, begin = now();
    for (int i = 0; i < 2 || now() - begin < budget; i++) {
        double start = read_clock(CLOCK_PROCESS_CPUTIME_ID);
        what->plain(data);
        double seconds = read_clock(CLOCK_PROCESS_CPUTIME_ID) - start;
        best = seconds < best ? seconds : best;
    }
    return best;
}

static const char *small_module = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                  ".visible .entry store(.param .u64 p)\n{\n"
                                  "    .reg .b32 %r<2>;\n    .reg .b64 %rd<3>;\n"
                                  "    ld.param.u64 %rd1, [p];\n    mov.u32 %r1, 7;\n"
                                  "    st.global.u32 [%rd1], %r1;\n    ret;\n}\n";

/* From nothing to the end of one small kernel. */
static double start_up(const char *text, const char *kernel)
{
    double best = 1e30;
    for (int i = 0; i < 5; i++) {
        double start = now();
        struct simt_machine *machine = machine_with(0);
        struct simt_module *module = load(machine, text);
        uint64_t word = simt_alloc(machine, 4, SIMT_MEMORY_DEVICE);
        struct simt_launch launch = {.kernel = simt_module_kernel(module, kernel),
                                     .grid = {1, 1, 1},
                                     .block = {1, 1, 1},
                                     .params = &word};
        struct simt_fault fault;
        if (simt_run(machine, &launch, NULL, &fault) != SIMT_OK) {
            fprintf(stderr, "bench: %s\n", fault.text);
            exit(1);
        }
        double seconds = now() - start;
        best = seconds < best ? seconds : best;
        simt_destroy(machine);
    }
    return best;
}

/* Reports -----------------------------------------------------------------------------------------
 */

static void print_table(const struct result *results, long cores, double small, double whole)
{
    printf("one thread, counters off, CPU time\n");
    printf("%-20s %14s %9s %10s %8s %10s %8s\n", "kernel", "warp instr.", "seconds", "M instr/s",
           "M mma/s", "plain C s", "ratio");
    for (int i = 0; i < CASES; i++) {
        const struct result *r = &results[i];
        char mma[32] = "";
        if (!r->instructions)
            continue;
        if (cases[i].mmas)
            snprintf(mma, sizeof mma, "%.2f", (double)cases[i].mmas / r->seconds / 1e6);
        printf("%-20s %14llu %9.4f %10.1f %8s %10.4f %8.2f%s\n", cases[i].name,
               (unsigned long long)r->instructions, r->seconds,
               (double)r->instructions / r->seconds / 1e6, mma, r->plain_seconds,
               r->seconds / r->plain_seconds, r->wrong ? "  WRONG RESULT" : "");
    }
    printf("\nall %ld cores, wall time\n%-20s %9s %10s %8s %8s\n", cores, "kernel", "seconds",
           "M instr/s", "M mma/s", "speed-up");
    for (int i = 0; i < CASES; i++) {
        const struct result *r = &results[i];
        char mma[32] = "";
        if (!r->instructions)
            continue;
        if (cases[i].mmas)
            snprintf(mma, sizeof mma, "%.2f", (double)cases[i].mmas / r->all_seconds / 1e6);
        printf("%-20s %9.4f %10.1f %8s %8.2f\n", cases[i].name, r->all_seconds,
               (double)r->instructions / r->all_seconds / 1e6, mma, r->seconds / r->all_seconds);
    }
    printf(
        "\nstart-up to the end of the first kernel: %.2f ms (small module), %.2f ms (this one)\n",
        small * 1e3, whole * 1e3);
}

static void print_json(const struct result *results, long cores, double small, double whole)
{
    int any = 0;
    printf("{\"cores\": %ld, \"start_up_seconds\": %.6f, \"start_up_seconds_kernels\": %.6f, "
           "\"kernels\": [",
           cores, small, whole);
    for (int i = 0; i < CASES; i++) {
        const struct result *r = &results[i];
        if (!r->instructions)
            continue;
        printf("%s\n  {\"name\": \"%s\", \"warp_instructions\": %llu, \"seconds\": %.6f, "
               "\"seconds_all_cores\": "
               "%.6f, \"plain_c_seconds\": %.6f, \"warp_instructions_per_second\": %.0f, "
               "\"mma_per_second\": %.0f, "
               "\"right\": %s}",
               any++ ? "," : "", cases[i].name, (unsigned long long)r->instructions, r->seconds,
               r->all_seconds, r->plain_seconds, (double)r->instructions / r->seconds,
               (double)cases[i].mmas / r->seconds, r->wrong ? "false" : "true");
    }
    printf("\n]}\n");
}

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    if (fread(text, 1, (size_t)size, file) != (size_t)size) {
        perror(path);
        exit(2);
    }
    text[size] = 0;
    fclose(file);
    return text;
}

int main(int argc, char **argv)
{
    bool json = false;
    double budget = 1.0;
    const char *path = NULL, *only = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--json"))
            json = true;
        else if (!strcmp(argv[i], "--quick"))
            budget = 0.1;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            only = argv[++i];
        else
            path = argv[i];
    }
    if (!path) {
        fprintf(stderr, "usage: bench [--json] [--quick] [--only KERNEL] KERNELS.ptx\n");
        return 2;
    }
    char *text = read_text(path);
    struct data data = {0};
    struct result results[CASES] = {0};
    fill(&data);
    int wrong = 0;
    for (int all = 0; all < 2; all++) {
        struct simt_machine *machine = machine_with(all ? 0 : 1);
        struct simt_module *module = load(machine, text);
        for (int i = 0; i < CASES; i++) {
            if (only && strcmp(only, cases[i].kernel) != 0)
                continue;
            struct run run;
            uint64_t instructions;
            prepare(&run, machine, module, &cases[i], &data);
            clockid_t clock = all ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
            double seconds = measure(&run, &cases[i], clock, budget, &instructions);
            if (all) {
                results[i].all_seconds = seconds;
                continue;
            }
            results[i].seconds = seconds;
            results[i].instructions = instructions;
            results[i].plain_seconds = measure_plain(&cases[i], &data, budget);
            results[i].wrong =
                cases[i].wrong(&data, simt_host(machine, run.out, cases[i].out_bytes));
            wrong += results[i].wrong;
        }
        simt_destroy(machine);
    }
    double small = start_up(small_module, "store"), whole = start_up(text, "nothing");
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    (json ? print_json : print_table)(results, cores, small, whole);
    free(text);
    return wrong ? 1 : 0;
}
