/*
 * test_cluster.c: clusters on the machine by itself: the faults of wrong accesses and barriers with
 * their messages, deadlocks that name every waiting place, results that do not depend on workers or
 * on the schedule, and more clusters than are resident at once.
 */
#include "simt/simt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD                                                                                       \
    ".version 8.6\n.target sm_90\n.address_size 64\n"                                              \
    ".visible .entry k(.param .u64 out)\n{\n"                                                      \
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n"                                      \
    ".shared .align 8 .b64 bar;\n.shared .align 16 .b32 box[16];\n"                                \
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %cluster_ctarank;\nmov.u32 %r2, box;\n"               \
    "mov.u32 %r3, bar;\nmov.u32 %r4, %tid.x;\n"
#define MEET "barrier.cluster.arrive;\nbarrier.cluster.wait;\n"
#define END "ret;\n}\n"

struct shape {
    uint32_t blocks, cluster, threads;
};

static enum simt_fault_kind run(const struct simt_options *options, const char *text,
                                struct shape shape, uint32_t *out, size_t words,
                                struct simt_fault *fault)
{
    struct simt_machine *machine = simt_create(gpu_find("h200"), options);
    assert_non_null(machine);
    uint64_t memory = simt_alloc(machine, words * 4 + 512, SIMT_MEMORY_DEVICE);
    char *message = NULL;
    struct simt_module *module = simt_module_load(machine, "t.ptx", text, strlen(text), &message);
    if (!module)
        fail_msg("%s", message);
    struct simt_launch launch = {.kernel = simt_module_kernel_at(module, 0),
                                 .grid = {shape.blocks, 1, 1},
                                 .block = {shape.threads, 1, 1},
                                 .cluster = {shape.cluster, 1, 1},
                                 .params = &memory};
    enum simt_fault_kind kind = simt_run(machine, &launch, NULL, fault);
    if (out)
        memcpy(out, simt_host(machine, memory, words * 4), words * 4);
    simt_module_unload(module);
    simt_destroy(machine);
    return kind;
}

static void must_fault(const char *text, struct shape shape, enum simt_fault_kind kind,
                       const char *words)
{
    struct simt_options options = {.threads = 2};
    struct simt_fault fault = {0};
    assert_int_equal(run(&options, text, shape, NULL, 0, &fault), kind);
    if (!strstr(fault.text, words))
        fail_msg("\"%s\" is not in: %s", words, fault.text);
}

static void wrong_accesses_are_named(void **state)
{
    (void)state;
    struct shape two = {2, 2, 32};
    must_fault(HEAD
               "mapa.shared::cluster.u32 %r5, %r2, 3;\nld.shared::cluster.u32 %r6, [%r5];\n" END,
               two, SIMT_FAULT_ILLEGAL_INSTRUCTION, "block 3 of the cluster, which has 2 blocks");
    must_fault(HEAD
               "mapa.shared::cluster.u32 %r5, %r2, 1;\nld.shared::cluster.u32 %r6, [%r5+64];\n" END,
               two, SIMT_FAULT_ILLEGAL_INSTRUCTION, "shared memory of block 1 of the cluster");
    must_fault(HEAD
               "mapa.shared::cluster.u32 %r5, %r2, 1;\nld.shared::cluster.u32 %r6, [%r5+2];\n" END,
               two, SIMT_FAULT_MISALIGNED, "not a multiple");
    must_fault(HEAD "setp.eq.u32 %p1, %r1, 1;\n@%p1 exit;\n" /* block 0 goes on reading */
                    "mapa.shared::cluster.u32 %r5, %r2, 1;\nmov.u32 %r7, 0;\n"
                    "LOOP:\nld.shared::cluster.u32 %r6, [%r5];\nadd.u32 %r7, %r7, 1;\n"
                    "setp.lt.u32 %p2, %r7, 100000;\n@%p2 bra LOOP;\n" END,
               two, SIMT_FAULT_CLUSTER_EXIT, "which has exited");
    must_fault(HEAD
               "mapa.shared::cluster.u32 %r5, %r2, 1;\nmapa.shared::cluster.u32 %r6, %r3, 0;\n"
               "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r5], 1, [%r6];\n" END,
               two, SIMT_FAULT_ILLEGAL_INSTRUCTION, "both must be in the same block");
    must_fault(HEAD "mapa.shared::cluster.u32 %r5, %r2, 1;\nsetp.eq.u32 %p1, %r1, 0;\n"
                    "@%p1 ld.shared::cta.u32 %r6, [%r5];\n" MEET END,
               two, SIMT_FAULT_ILLEGAL_INSTRUCTION, "takes .shared::cluster");
}

static void the_barrier_is_used_in_turn(void **state)
{
    (void)state;
    struct shape two = {2, 2, 32};
    must_fault(HEAD "barrier.cluster.arrive;\nbarrier.cluster.arrive;\n" END, two,
               SIMT_FAULT_BARRIER, "twice");
    must_fault(HEAD "barrier.cluster.wait;\n" END, two, SIMT_FAULT_BARRIER, "without");
}

static void deadlocks_name_every_place(void **state)
{
    (void)state;
    struct shape two = {2, 2, 64};
    static const char text[] = HEAD
        "setp.eq.u32 %p1, %r4, 0;\n@%p1 mbarrier.init.shared::cta.b64 [%r3], 3;\nbar.sync 0;\n"
        "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 48;\n"
        "setp.eq.u32 %p2, %r1, 0;\n@%p2 bra FIRST;\n" MEET "ret;\n"
        "FIRST:\nsetp.ge.u32 %p3, %r4, 32;\n@%p3 bra SECOND;\n"
        "WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 %p1, [%r3], 0;\n@!%p1 bra WAIT;\nret;\n"
        "SECOND:\nbar.sync 1, 64;\n" END;
    must_fault(text, two, SIMT_FAULT_DEADLOCK, "2 of 3 arrivals missing, 48 bytes missing");
    must_fault(text, two, SIMT_FAULT_DEADLOCK, "32 threads of block (0,0,0) wait for barrier 1");
    must_fault(text, two, SIMT_FAULT_DEADLOCK, "64 threads of block (1,0,0) wait for the cluster");
}

/* Each block adds its number to a word of the next in its cluster, twice round the ring. */
static const char ring[] = HEAD
    "mov.u32 %r10, %ctaid.x;\nmov.u32 %r11, %cluster_nctarank;\n"
    "setp.eq.u32 %p1, %r4, 0;\n@%p1 st.shared.u32 [%r2], 0;\n" MEET
    "add.u32 %r5, %r1, 1;\nrem.u32 %r5, %r5, %r11;\nmapa.shared::cluster.u32 %r6, %r2, %r5;\n"
    "red.relaxed.cluster.shared::cluster.add.u32 [%r6], %r10;\n" MEET
    "ld.shared.u32 %r7, [%r2];\nred.relaxed.cluster.shared::cluster.add.u32 [%r6+4], %r7;\n" MEET
    "ld.shared.u32 %r8, [%r2];\nmad.wide.u32 %rd2, %r10, 4, %rd1;\n"
    "@%p1 st.global.u32 [%rd2], %r8;\n" MEET END;

static void results_do_not_depend_on_the_schedule(void **state)
{
    (void)state;
    enum { BLOCKS = 4096, SIZE = 8, THREADS = 64 };
    static uint32_t out[BLOCKS];
    static const struct simt_options options[] = {
        {.threads = 1}, {.threads = 4}, {.threads = 2, .random_schedule = true, .seed = 7}};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        struct simt_fault fault = {0};
        struct shape shape = {i == 2 ? BLOCKS / 16 : BLOCKS, SIZE, THREADS};
        enum simt_fault_kind kind = run(&options[i], ring, shape, out, shape.blocks, &fault);
        if (kind != SIMT_OK)
            fail_msg("%s", fault.text);
        for (uint32_t block = 0; block < shape.blocks; block++) {
            uint32_t before = block - block % SIZE + (block + SIZE - 1) % SIZE;
            assert_int_equal(out[block], before * THREADS);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_accesses_are_named),
                                       cmocka_unit_test(the_barrier_is_used_in_turn),
                                       cmocka_unit_test(deadlocks_name_every_place),
                                       cmocka_unit_test(results_do_not_depend_on_the_schedule)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
