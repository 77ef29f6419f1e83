/*
 * test_watch.c: watchers on a machine by itself: what is counted of known accesses, that a trace is
 * bounded, that a checker finds what is wrong and lets the launch go on.
 */
#include "check/checker.h"
#include "simt/lanes.h"
#include "simt/simt.h"
#include "simt/tensormap.h"
#include "watch/counters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define ENTRY                                                                                      \
    ".visible .entry k(.param .u64 out)\n{\n"                                                      \
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>; .shared .align 4 .b8 s[8192];\n"        \
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"

static const void *initial; /* what the 1024 bytes at out hold first; NULL: anything */

/* Runs text on a watched machine with 1024 bytes at out; returns what the watcher wrote. */
typedef struct simt_watcher *open_watcher(struct simt_machine *machine, const char *path);
static char *watched_clusters(open_watcher *open, const char *text, uint32_t blocks,
                              uint32_t threads, uint32_t cluster)
{
    char path[] = "/tmp/lockstep.watch.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct simt_options options = {.threads = 2};
    struct simt_machine *machine = simt_create(gpu_find("h200"), &options);
    assert_non_null(machine);
    simt_watch_add(machine, open(machine, path));
    uint64_t out = simt_alloc(machine, 1024, SIMT_MEMORY_DEVICE);
    if (initial)
        memcpy(simt_host(machine, out, 1024), initial, 1024);
    char *message = NULL;
    struct simt_module *module =
        simt_module_load(machine, "test.ptx", text, strlen(text), &message);
    if (!module)
        fail_msg("%s", message);
    struct simt_launch launch = {.kernel = simt_module_kernel_at(module, 0),
                                 .grid = {blocks, 1, 1},
                                 .block = {threads, 1, 1},
                                 .cluster = {cluster, 1, 1},
                                 .params = &out};
    struct simt_fault fault;
    assert_int_equal(simt_run(machine, &launch, NULL, &fault), SIMT_OK);
    simt_module_unload(module);
    simt_destroy(machine);
    char *found = calloc(1, 1 << 20);
    assert_true(read(fd, found, (1 << 20) - 1) >= 0);
    close(fd);
    unlink(path);
    return found;
}

static char *watched(open_watcher *open, const char *text, uint32_t blocks, uint32_t threads)
{
    return watched_clusters(open, text, blocks, threads, 1);
}

static long counter(const char *text, const char *name)
{
    char key[64];
    snprintf(key, sizeof(key), "\"%s\":", name);
    const char *at = strstr(text, key);
    assert_non_null(at);
    return strtol(at + strlen(key), NULL, 10);
}

static void counters(void **state)
{
    char *found = watched(counters_open,
                          HEAD ENTRY "mul.wide.u32 %rd2, %r1, 4;\n"
                                     "add.u64 %rd2, %rd1, %rd2;\n"
                                     "st.global.u32 [%rd2], %r1;\n"
                                     "mul.lo.u32 %r2, %r1, 128;\n"
                                     "mov.u32 %r3, s;\n"
                                     "add.u32 %r3, %r3, %r2;\n"
                                     "st.shared.u32 [%r3], %r1;\n"
                                     "setp.lt.u32 %p1, %r1, 7;\n"
                                     "@%p1 bra OUT;\n"
                                     "ld.global.u32 %r4, [%rd1];\n"
                                     "OUT: ret;\n}\n",
                          3, 64);
    assert_int_equal(counter(found, "global_store_requests"), 6);
    assert_int_equal(counter(found, "global_store_sectors"), 24);
    assert_int_equal(counter(found, "global_load_requests"), 6);
    assert_int_equal(counter(found, "global_load_sectors"), 6);
    assert_int_equal(counter(found, "shared_store_wavefronts"), 6 * 32);
    assert_int_equal(counter(found, "shared_store_conflicts"), 6 * 31);
    assert_int_equal(counter(found, "busiest_requests"), 2);
    assert_int_equal(counter(found, "branches"), 6);
    assert_int_equal(counter(found, "divergent_branches"), 3);
    free(found);
}

/* Eight turns of a loop that loads twice; STEP is how far it counts, STORE comes between loads. */
#define LOOP(STEP, STORE) HEAD ENTRY TURNS("", STEP, STORE)
#define TURNS(PRAGMA, STEP, STORE)                                                                 \
    "mov.u32 %r2, 8; mov.u32 %r7, -1; mov.u64 %rd3, %rd1;\n"                                       \
    "AGAIN: " PRAGMA "ld.global.u32 %r4, [%rd1];\n" STORE "ld.global.u32 %r5, [%rd1+4];\n"         \
    "add.u32 %r6, %r4, %r5;\nadd.u64 %rd1, %rd1, 8;\nadd.u64 %rd3, %rd3, 8;\n"                     \
    "add.s32 %r2, %r2, " STEP ";\nsetp.ne.s32 %p1, %r2, 0;\n@%p1 bra AGAIN;\nret;\n}\n"

static long phases(const char *text)
{
    char *found = watched(counters_open, text, 1, 32);
    long count = counter(found, "load_phases");
    free(found);
    return count;
}

/* The assembler unrolls loops that count by a constant: their loads are started together, unless a
 * store may change what they read. */
static void turns_of_a_loop(void **state)
{
    assert_int_equal(phases(LOOP("-1", "")), 2);
    assert_int_equal(phases(LOOP("%r7", "")), 8);
    assert_int_equal(phases(LOOP("-1", "st.global.u32 [%rd1], %r4;\n")), 2);
    /* Each load waits for the store before it: five waits in four turns. */
    assert_int_equal(phases(LOOP("-1", "st.global.u32 [%rd3], %r4;\n")), 10);
    /* It may be told not to, for a loop or for all of them. */
    assert_int_equal(phases(HEAD ENTRY TURNS(".pragma \"nounroll\";\n", "-1", "")), 8);
    assert_int_equal(phases(HEAD ".pragma \"nounroll\";\n" ENTRY TURNS("", "-1", "")), 8);
    assert_int_equal(phases(HEAD ENTRY TURNS(".pragma \"used_bytes_mask 0x1\";\n", "-1", "")), 2);
}

/* Four turns of a small counted loop become one: what only counts them is done once. Eight turns of
 * ten machine instructions, seven of which count. */
static void counting_of_turns(void **state)
{
    char *unrolled = watched(counters_open, LOOP("-1", ""), 1, 32);
    char *kept =
        watched(counters_open, HEAD ENTRY TURNS(".pragma \"nounroll\";\n", "-1", ""), 1, 32);
    assert_int_equal(counter(kept, "issue_slots") - counter(unrolled, "issue_slots"),
                     8 * 7 * 3 / 4);
    free(unrolled);
    free(kept);
}

/* A load, work that does not need it, and what does. */
static void loads_wait_where_they_are_needed(void **state)
{
#define WORK "mad.lo.u32 %r5, %r5, %r5, %r6;\n"
#define WORK_8 WORK WORK WORK WORK WORK WORK WORK WORK
    static const struct {
        const char *text;
        long hidden;
    } cases[] = {
        {HEAD ENTRY "ld.global.u32 %r4, [%rd1];\nadd.u32 %r4, %r4, 1;\n" WORK_8
                    "st.global.u32 [%rd1], %r4;\nret;\n}\n",
         0},
        {HEAD ENTRY "ld.global.u32 %r4, [%rd1];\n" WORK_8 "add.u32 %r4, %r4, 1;\n"
                    "st.global.u32 [%rd1], %r4;\nret;\n}\n",
         8},
        /* in another block, of the register that it is moved to */
        {HEAD ENTRY "setp.lt.u32 %p1, %r1, 64;\nld.global.u32 %r4, [%rd1];\nmov.u32 %r7, %r4;\n"
                    "@%p1 bra NEXT;\nbar.sync 0;\nNEXT:\n" WORK_8
                    "st.global.u32 [%rd1], %r7;\nret;\n}\n",
         8},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        char *found = watched(counters_open, cases[i].text, 1, 32);
        assert_true(counter(found, "load_cycles") >= 200); /* from DRAM, once */
        long hidden = counter(found, "hidden_cycles");
        if (hidden < cases[i].hidden || hidden > cases[i].hidden + 40 * (long)(i == 2))
            fail_msg("case %zu: %ld cycles are hidden", i, hidden);
        free(found);
    }
}

/* Blocks that turn as often as their number says, or once: only those differ. */
#define TURNING(TIMES)                                                                             \
    HEAD ENTRY "mov.u32 %r2, %ctaid.x;\nmul.lo.u32 %r2, %r2, " TIMES ";\n"                         \
               "AGAIN: mad.lo.u32 %r5, %r5, %r5, %r2;\nsub.u32 %r2, %r2, 1;\n"                     \
               "setp.gt.s32 %p1, %r2, 0;\n@%p1 bra AGAIN;\nret;\n}\n"
static void blocks_that_differ(void **state)
{
    char *even = watched(counters_open, TURNING("0"), 300, 64);
    assert_int_equal(counter(even, "dealt_cycles"), 0);
    assert_int_equal(counter(even, "late_cycles"), 0);
    char *uneven = watched(counters_open, TURNING("20"), 300, 64);
    long last = 299 * 20 * 2; /* at least so many instructions, one after the other */
    assert_true(counter(uneven, "dealt_cycles") > last);
    assert_true(counter(uneven, "even_cycles") < counter(uneven, "dealt_cycles") * 3 / 4);
    assert_int_equal(counter(uneven, "late_cycles"), 0);
    free(even);
    free(uneven);
}

/* One warp of four turns, the others wait at a barrier. */
static void warps_that_wait(void **state)
{
    char *found = watched(counters_open,
                          HEAD ENTRY "setp.ge.u32 %p1, %r1, 32;\nmov.u32 %r2, 1000;\n"
                                     "@%p1 bra OUT;\n"
                                     "AGAIN: mad.lo.u32 %r5, %r5, %r5, %r2;\n"
                                     "sub.u32 %r2, %r2, 1;\nsetp.gt.s32 %p2, %r2, 0;\n"
                                     "@%p2 bra AGAIN;\nOUT: bar.sync 0;\nret;\n}\n",
                          1, 128);
    long late = counter(found, "late_cycles"), ran = counter(found, "warp_cycles");
    assert_true(late > ran * 5 / 2 && late <= 3 * ran);
    free(found);
}

/* Loads of a part that a branch skips begin with those before it, if the part is small and has no
 * branch of its own; what follows it goes on there. */
#define PARTS(PART)                                                                                \
    HEAD ENTRY "mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 99;\n"                                  \
               "ld.global.u32 %r4, [%rd1];\n@%p1 bra SKIP;\n" PART                                 \
               "SKIP: ld.global.u32 %r5, [%rd1+128];\nret;\n}\n"
#define PART "ld.global.u32 %r6, [%rd1+64];\nadd.u32 %r6, %r6, 1;\n"

static void parts_under_a_condition(void **state)
{
    assert_int_equal(phases(PARTS(PART)), 1);
    assert_int_equal(phases(PARTS("bar.sync 0;\n" PART)), 3);
    assert_int_equal(phases(PARTS("setp.ge.u32 %p1, %r1, 98;\n@%p1 bra SKIP;\n" PART)), 3);
    /* One whose address comes from the load before it waits all the same. */
    assert_int_equal(phases(PARTS("cvt.u64.u32 %rd3, %r4;\nadd.u64 %rd3, %rd3, %rd1;\n"
                                  "ld.global.u32 %r6, [%rd3];\n")),
                     2);
}

/* Each block reaches into the other of its cluster, and once into its own memory that way. */
static void clusters_are_counted(void **state)
{
    char *found = watched_clusters(counters_open,
                                   ".version 8.6\n.target sm_90\n.address_size 64\n" ENTRY
                                   "mov.u32 %r2, %cluster_ctarank;\nxor.b32 %r3, %r2, 1;\n"
                                   "mov.u32 %r4, s;\nmad.lo.u32 %r4, %r1, 8, %r4;\n"
                                   "mapa.shared::cluster.u32 %r5, %r4, %r3;\n"
                                   "mapa.shared::cluster.u32 %r6, %r4, %r2;\n"
                                   "st.shared::cluster.v2.u32 [%r5], {%r1, %r2};\n"
                                   "st.shared::cluster.u32 [%r6], %r1;\n"
                                   "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                                   "ld.shared::cluster.u32 %r7, [%r5];\n"
                                   "red.shared::cluster.add.u32 [%r5], 1;\n"
                                   "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
                                   "ret;\n}\n",
                                   4, 64, 2);
    (void)state;
    assert_int_equal(counter(found, "cluster_load_requests"), 8);
    assert_int_equal(counter(found, "cluster_store_requests"), 8);
    assert_int_equal(counter(found, "cluster_atom_requests"), 8);
    assert_int_equal(counter(found, "cluster_requests"), 3 * 8);
    assert_int_equal(counter(found, "cluster_bytes"), 8 * 3 * 256); /* of 32 lanes, 8 bytes apart */
    assert_int_equal(counter(found, "shared_store_conflicts"), 8);
    free(found);
}

/* A box of 4 rows of 32 bytes, of which 3 rows and 24 bytes of each are in the tensor; it is loaded
 * and stored, by each of two blocks. The kernel sets the tensor's address. */
static void tensor_copies(void **state)
{
    uint8_t bytes[1024] = {0};
    struct tensormap map = {.magic = TENSORMAP_MAGIC,
                            .type = TENSORMAP_U16,
                            .rank = 2,
                            .strides = {32},
                            .dims = {12 - 1, 8 - 1},
                            .box = {16, 4},
                            .steps = {1, 1}};
    memcpy(bytes, &map, sizeof(map));
    initial = bytes;
    char *found =
        watched(counters_open,
                ".version 8.6\n.target sm_90a\n.address_size 64\n"
                ".visible .entry k(.param .u64 out)\n{\n"
                ".reg .b32 %r<8>; .reg .b64 %rd<4>; .shared .align 128 .b8 s[256];\n"
                ".shared .align 8 .b64 bar;\n"
                "ld.param.u64 %rd1, [out];\nadd.u64 %rd2, %rd1, 512;\n"
                "mov.u32 %r1, s;\nmov.u32 %r2, bar;\nmbarrier.init.shared.b64 [%r2], 1;\n"
                "tensormap.replace.tile.global_address.global.b1024.b64 [%rd1], %rd2;\n"
                "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes "
                "[%r1], [%rd1, {0, 5}], [%r2];\n"
                "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {0, 5}], [%r1];\n"
                "ret;\n}\n",
                2, 1);
    initial = NULL;
    /* Loads clip by element, stores by 16 bytes. */
    assert_int_equal(counter(found, "bulk_bytes"), 2 * (3 * 24 + 3 * 32));
    assert_int_equal(counter(found, "bulk_load_instructions"), 2);
    assert_int_equal(counter(found, "bulk_store_instructions"), 2);
    assert_int_equal(counter(found, "bulk_requests"), 4);
    /* A row that crosses the edge has a sector inside and one outside. */
    assert_int_equal(counter(found, "bulk_load_bytes"), 2 * (3 * 2 + 1) * 32);
    assert_int_equal(counter(found, "bulk_load_self_bytes"), 2 * (3 * 2 + 1) * 32);
    assert_int_equal(counter(found, "bulk_store_bytes"), 2 * 3 * 32);
    free(found);
}

/* What ptxas makes of products for sm_90: two of f8 and of 4 bits, of wmma; one of the others. */
static void tensor_instructions(void **state)
{
    char *found = watched(
        counters_open,
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
        ".reg .b32 %r<24>; .reg .f64 %d<8>;\n"
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r0, %r1, %r2, %r3}, "
        "{%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};\n"
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%r0, %r1, %r2, %r3}, "
        "{%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};\n"
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r0, %r1, %r2, %r3}, "
        "{%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};\n"
        "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r0, %r1, %r2, %r3}, "
        "{%r4, %r5, %r6, %r7}, {%r8, %r9}, {%r0, %r1, %r2, %r3};\n"
        "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d0, %d1}, {%d2}, {%d3}, {%d0, %d1};\n"
        "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, "
        "{%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, "
        "{%r8, %r9, %r10, %r11, %r12, %r13, %r14, %r15}, "
        "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7};\n"
        "ret;\n}\n",
        2, 64);
    (void)state;
    assert_int_equal(counter(found, "tensor_warps"), 4 * 6);
    assert_int_equal(counter(found, "tensor_instructions"), 4 * 9);
    assert_int_equal(counter(found, "tensor_half_instructions"), 4 * 5);
    assert_int_equal(counter(found, "tensor_integer_instructions"), 4 * 3);
    assert_int_equal(counter(found, "tensor_double_instructions"), 4);
    assert_int_equal(counter(found, "tensor_wide_instructions"), 0);
    free(found);
}

/* Extra passes of wmma's loads of f16 and stores of f32 in shared memory, by pitch in elements: as
 * ncu counts them on an H200. */
static void conflicts_of_tiles(void **state)
{
    static const unsigned expected[][3] = {/* pitch, loads', stores' */
                                           {16, 4, 8}, {20, 0, 8},  {24, 0, 0}, {32, 12, 24},
                                           {40, 0, 0}, {64, 28, 0}, {72, 0, 0}, {128, 28, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        unsigned pitch = expected[i][0];
        bool stores = pitch <= 32; /* those were measured */
        char *text = lk_format(
            "%swmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%%r2, %%r3, %%r4, %%r5, %%r6, "
            "%%r7, %%r8, %%r9}, [s], %u;\n%s%s%u;\nret;\n}\n",
            HEAD ENTRY, pitch == 20 ? 24 : pitch,
            stores ? "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [s], {%r2, %r3, %r4, "
                     "%r5, %r6, %r7, %r8, %r9}, "
                   : "",
            stores ? "" : "mov.u32 %r2, ", pitch);
        char *found = watched(counters_open, text, 1, 32);
        assert_int_equal(counter(found, "shared_load_conflicts"), expected[i][1]);
        assert_int_equal(counter(found, "shared_store_conflicts"), stores ? expected[i][2] : 0);
        free(found);
        free(text);
    }
}

static void a_trace_is_bounded(void **state)
{
    setenv("LOCKSTEP_TRACE", "blocks:1-1,warps:0-0,records:3", 1);
    char *found = watched(counters_open,
                          HEAD ENTRY "mov.u32 %r2, 0;\n"
                                     "AGAIN: ld.global.u32 %r4, [%rd1+8];\n"
                                     "add.u32 %r2, %r2, 1;\n"
                                     "setp.lt.u32 %p1, %r2, 10;\n"
                                     "@%p1 bra AGAIN;\n"
                                     "ret;\n}\n",
                          3, 32);
    unsetenv("LOCKSTEP_TRACE");
    const char *trace = strstr(found, "{\"trace\":[[1,0,");
    assert_non_null(trace);
    assert_int_equal(counter(trace, "dropped"), 10 + 10 - 3);
    free(found);
}

static void a_checker_refuses(void **state)
{
    char *found = watched(checker_open,
                          HEAD ENTRY "mul.wide.u32 %rd2, %r1, 4;\n"
                                     "add.u64 %rd2, %rd1, %rd2;\n"
                                     "st.global.u32 [%rd2+960], %r1;\n"
                                     "ret;\n}\n",
                          1, 32);
    assert_non_null(strstr(found, "out_of_bounds"));
    free(found);
}

/* Rules of lanes.h that tests/counters finds on a GPU, in short. */
static void lanes(void **state)
{
    uint64_t a[32];
    struct lanes_line lines[LANES_LINES];
    unsigned turns;
    for (unsigned i = 0; i < 32; i++)
        a[i] = 4 + i * 4;
    assert_int_equal(lanes_lines(a, ~0u, 4, lines), 2);
    assert_int_equal(lanes_line_sectors(&lines[0]), 15);
    assert_int_equal(lanes_line_bytes(&lines[0]), 124);
    for (unsigned i = 0; i < 32; i++)
        a[i] = i % 16 * 4;
    assert_int_equal(lanes_atomic_sectors(a, ~0u, &turns), 4);
    assert_int_equal(turns, 2);
    assert_int_equal(lanes_shared(LANES_ATOMIC, a, ~0u, 4).wavefronts, 2);
    assert_int_equal(lanes_shared(LANES_LOAD, a, ~0u, 4).wavefronts, 1);
    for (unsigned i = 0; i < 32; i++)
        a[i] = 64;
    assert_int_equal(lanes_shared(LANES_LOAD, a, ~0u, 16).wavefronts, 2);
    assert_int_equal(lanes_shared(LANES_STORE, a, ~0u, 16).wavefronts, 4);
    assert_int_equal(lanes_shared(LANES_LOAD, a, 0, 4).wavefronts, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counters),
        cmocka_unit_test(turns_of_a_loop),
        cmocka_unit_test(counting_of_turns),
        cmocka_unit_test(loads_wait_where_they_are_needed),
        cmocka_unit_test(blocks_that_differ),
        cmocka_unit_test(warps_that_wait),
        cmocka_unit_test(parts_under_a_condition),
        cmocka_unit_test(clusters_are_counted),
        cmocka_unit_test(tensor_copies),
        cmocka_unit_test(tensor_instructions),
        cmocka_unit_test(conflicts_of_tiles),
        cmocka_unit_test(a_trace_is_bounded),
        cmocka_unit_test(a_checker_refuses),
        cmocka_unit_test(lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
