/*
 * test_stall.c: launches that can never end are reported, and name the lines that wait; launches
 * that only wait a long time come to their end.
 */
#include "simt/simt.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define KERNEL(directives)                                                                         \
    ".version 8.0\n.target sm_90a\n.address_size 64\n"                                             \
    ".visible .entry k(.param .u64 out) " directives " {\n"                                        \
    ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\n"                                       \
    ".shared .align 8 .b64 bar; .shared .align 4 .b32 flag;\n"                                     \
    "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, bar; mov.u32 %r3, 0;\n"           \
    "setp.ne.u32 %p1, %r1, 0; @%p1 bra MADE;\n"                                                    \
    "mbarrier.init.shared.b64 [%r2], 1; st.volatile.shared.u32 [flag], 0;\n"                       \
    "MADE: bar.sync 0;\n"
#define IF_FROM(thread, label) "setp.ge.u32 %p1, %r1, " thread "; @%p1 bra " label ";\n"
#define TRY(label)                                                                                 \
    label ": mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra " label ";\n"
#define POLL(label, space, at)                                                                     \
    label ": ld.volatile." space ".u32 %r4, [" at "]; setp.eq.u32 %p2, %r4, 0; @%p2 bra " label    \
          ";\n"
#define MORE "setmaxnreg.inc.sync.aligned.u32 208;\n"
#define LESS "setmaxnreg.dec.sync.aligned.u32 24;\n"
#define TWO ".maxntid 256 .minnctapersm 2"
#define END "ret;\n}\n"

struct stuck {
    const char *text;
    uint32_t blocks, threads, cluster;
    enum simt_fault_kind kind;
    const char *words[3]; /* that the message has */
};

static const struct stuck kernels[] = {
    {KERNEL(TWO) IF_FROM("128", "B") MORE "bar.sync 1, 256; ret;\nB: bar.sync 1, 256;\n" LESS END,
     1,
     256,
     1,
     SIMT_FAULT_DEADLOCK,
     {"128 threads of block (0,0,0) wait for registers (setmaxnreg.inc.sync.aligned.u32 208)",
      "128 threads of block (0,0,0) wait for barrier 1"}},
    {KERNEL(TWO) IF_FROM("128", "B") MORE "mbarrier.arrive.shared.b64 _, [%r2]; ret;\n" TRY("B")
         LESS END,
     2,
     256,
     1,
     SIMT_FAULT_DEADLOCK,
     {"wait for registers", "phase 0 of the mbarrier at 0x0: 1 of 1 arrival missing"}},
    {KERNEL(TWO) IF_FROM("128", "B") MORE
     "st.volatile.global.u32 [%rd1], 1; ret;\n" POLL("B", "global", "%rd1") LESS END,
     1,
     256,
     1,
     SIMT_FAULT_LIVELOCK,
     {"wait for registers", "128 threads of block (0,0,0) wait for a change of what ld.volatile"}},
    {KERNEL("") IF_FROM("64", "B") "bar.sync 2, 128; ret;\nB: bar.sync 3, 128;\n" END,
     3,
     128,
     1,
     SIMT_FAULT_DEADLOCK,
     {"64 threads of block (0,0,0) wait for barrier 2", "wait for barrier 3"}},
    {KERNEL("") TRY("A") END, 200, 64, 1, SIMT_FAULT_DEADLOCK, {"1 of 1 arrival missing"}},
    /* A wait that sleeps between its tries: the sleep is part of it. */
    {KERNEL("") "A: mbarrier.test_wait.parity.shared.b64 %p2, [%r2], 0; @%p2 bra B;\n"
                "nanosleep.u32 100; bra A;\nB:\n" END,
     1,
     64,
     1,
     SIMT_FAULT_DEADLOCK,
     {"1 of 1 arrival missing"}},
    /* One block of a cluster has ended, the other waits for its arrival. */
    {KERNEL("") "mov.u32 %r5, %cluster_ctarank; setp.eq.u32 %p3, %r5, 1; @%p3 ret;\n" TRY("A") END,
     4,
     32,
     2,
     SIMT_FAULT_DEADLOCK,
     {"every thread of the cluster", "1 of 1 arrival missing"}},
    {KERNEL("") "mov.u32 %r5, %cluster_ctarank; setp.eq.u32 %p3, %r5, 1; @%p3 bra B;\n"
                "barrier.cluster.arrive; barrier.cluster.wait; ret;\n" POLL(
                    "B", "shared", "flag") "barrier.cluster.arrive; barrier.cluster.wait;\n" END,
     2,
     32,
     2,
     SIMT_FAULT_LIVELOCK,
     {"the cluster's barrier: 32 threads missing", "change of what ld.volatile.shared"}},
    {KERNEL("")
         IF_FROM("32", "B") "bar.sync 0; ret;\n" POLL("B", "shared", "flag") "bar.sync 0;\n" END,
     2,
     64,
     1,
     SIMT_FAULT_LIVELOCK,
     {"32 threads", "wait for a change of what ld.volatile.shared", "wait for barrier 0"}},
    {KERNEL(
         "") "A: atom.global.cas.b32 %r4, [%rd1], 1, 0; setp.ne.u32 %p2, %r4, 1; @%p2 bra A;\n" END,
     40,
     64,
     1,
     SIMT_FAULT_LIVELOCK,
     {"wait for a change of what atom.global.cas"}},
};

/* patience: seconds */
static enum simt_fault_kind run(const struct stuck *kernel, unsigned threads, bool random,
                                unsigned patience, void (*meanwhile)(uint32_t *flag),
                                struct simt_fault *fault)
{
    struct simt_options options = {
        .threads = threads, .random_schedule = random, .seed = 3, .patience = patience};
    struct simt_machine *machine = simt_create(gpu_find("h200"), &options);
    assert_non_null(machine);
    uint64_t out = simt_alloc(machine, 4096, SIMT_MEMORY_DEVICE);
    uint32_t *flag = simt_host(machine, out, 4096);
    char *message = NULL;
    struct simt_module *module =
        simt_module_load(machine, "test.ptx", kernel->text, strlen(kernel->text), &message);
    if (!module)
        fail_msg("%s", message);
    memset(flag, 0, 4096);
    struct simt_launch launch = {.kernel = simt_module_kernel_at(module, 0),
                                 .grid = {kernel->blocks, 1, 1},
                                 .block = {kernel->threads, 1, 1},
                                 .cluster = {kernel->cluster, 1, 1},
                                 .params = &out};
    pthread_t host;
    if (meanwhile)
        assert_int_equal(
            pthread_create(&host, NULL, (void *(*)(void *))(void (*)(void))meanwhile, flag), 0);
    enum simt_fault_kind kind = simt_run(machine, &launch, NULL, fault);
    if (meanwhile)
        pthread_join(host, NULL);
    simt_module_unload(module);
    simt_destroy(machine);
    return kind;
}

static void stuck_launches_are_reported(void **state)
{
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++)
        for (int random = 0; random < 2; random++) {
            if (kernels[i].kind == SIMT_FAULT_LIVELOCK && random != (int)(i % 2))
                continue; /* it takes its time */
            struct simt_fault fault;
            enum simt_fault_kind kind = run(&kernels[i], 1 + i % 2, random, 1, NULL, &fault);
            /* A block that is alone may be found stuck either way, by which comes first. */
            bool either = kernels[i].kind == SIMT_FAULT_DEADLOCK && kind == SIMT_FAULT_LIVELOCK;
            if (kind != kernels[i].kind && !either)
                fail_msg("kernel %u: fault %d: %s", i, kind, fault.text);
            for (int k = 0; k < 3 && kernels[i].words[k]; k++)
                if (!strstr(fault.text, kernels[i].words[k]))
                    fail_msg("kernel %u: no '%s' in: %s", i, kernels[i].words[k], fault.text);
        }
}

/* It gives up after 20,000 tries. */
static const struct stuck patient[] = {
    {KERNEL("") "A: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; add.u32 %r3, %r3, 1;\n"
                "setp.lt.u32 %p3, %r3, 20000; @%p3 bra A;\n" END,
     2,
     64,
     1,
     SIMT_OK,
     {0}},
    {KERNEL("") "A: ld.volatile.global.u32 %r4, [%rd1]; add.u32 %r3, %r3, 1;\n"
                "setp.lt.u32 %p3, %r3, 4000000; @%p3 bra A;\n" END,
     2,
     32,
     1,
     SIMT_OK,
     {0}},
    /* One warp polls for what another sets after a long time without a poll. */
    {KERNEL("") IF_FROM("32", "B")
         POLL("A", "shared",
              "flag") "ret;\n"
                      "B: add.u32 %r3, %r3, 1; setp.lt.u32 %p3, %r3, 20000000; @%p3 bra B;\n"
                      "st.volatile.shared.u32 [flag], 1;\n" END,
     1,
     64,
     1,
     SIMT_OK,
     {0}},
};

static void long_waits_end(void **state)
{
    for (unsigned i = 0; i < sizeof patient / sizeof *patient; i++) {
        struct simt_fault fault;
        if (run(&patient[i], 1 + i % 2, false, 1, NULL, &fault) != SIMT_OK)
            fail_msg("kernel %u: %s", i, fault.text);
    }
}

static void set_late(uint32_t *flag)
{
    usleep(1500000);
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

static void the_host_gets_its_time(void **state)
{
    static const struct stuck kernel = {
        KERNEL("") POLL("A", "global", "%rd1") END, 4, 64, 1, SIMT_OK, {0}};
    struct simt_fault fault;
    assert_int_equal(run(&kernel, 2, false, 4, set_late, &fault), SIMT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stuck_launches_are_reported),
        cmocka_unit_test(long_waits_end),
        cmocka_unit_test(the_host_gets_its_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
