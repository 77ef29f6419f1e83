/*
 * test_machine.c: the machine by itself, without a driver: memory, progress of lanes and blocks,
 * schedules, faults and their messages.
 */
#include "simt/simt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define ENTRY(name)                                                                                \
    ".visible .entry " name "(.param .u64 out)\n{\n"                                               \
    ".reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<8>;\n"                                      \
    "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"

static struct simt_machine *open_machine(unsigned threads, uint64_t limit, bool random,
                                         uint64_t seed)
{
    struct simt_options options = {
        .threads = threads, .instruction_limit = limit, .random_schedule = random, .seed = seed};
    struct simt_machine *machine = simt_create(gpu_find("h200"), &options);
    assert_non_null(machine);
    return machine;
}

/* Loads text, runs its first kernel with out as its parameter. */
static enum simt_fault_kind run(struct simt_machine *machine, const char *text, uint32_t blocks,
                                uint32_t threads, uint64_t out, struct simt_fault *fault)
{
    char *message = NULL;
    struct simt_module *module =
        simt_module_load(machine, "test.ptx", text, strlen(text), &message);
    if (!module)
        fail_msg("%s", message);
    struct simt_launch launch = {.kernel = simt_module_kernel_at(module, 0),
                                 .grid = {blocks, 1, 1},
                                 .block = {threads, 1, 1},
                                 .params = &out};
    enum simt_fault_kind kind = simt_run(machine, &launch, NULL, fault);
    simt_module_unload(module);
    return kind;
}

/* Every lane takes a lock in turn: 256 threads add 1 under it, without atomics on the sum. */
static const char lock_text[] = HEAD ENTRY("lock") "TRY:\n"
                                                   "atom.global.cas.b32 %r2, [%rd1], 0, 1;\n"
                                                   "setp.ne.s32 %p1, %r2, 0;\n"
                                                   "@%p1 bra TRY;\n"
                                                   "ld.volatile.global.u32 %r3, [%rd1+4];\n"
                                                   "add.u32 %r3, %r3, 1;\n"
                                                   "st.volatile.global.u32 [%rd1+4], %r3;\n"
                                                   "membar.gl;\n"
                                                   "atom.global.exch.b32 %r2, [%rd1], 0;\n"
                                                   "ret;\n}\n";

static void lock_ends(void **state)
{
    for (unsigned threads = 1; threads <= 2; threads++)
        for (int seed = 0; seed < 3; seed++) {
            struct simt_machine *machine = open_machine(threads, 0, seed > 0, (uint64_t)seed);
            uint64_t out = simt_alloc(machine, 8, SIMT_MEMORY_DEVICE);
            uint32_t *host = simt_host(machine, out, 8);
            struct simt_fault fault;
            assert_int_equal(run(machine, lock_text, 4, 64, out, &fault), SIMT_OK);
            assert_int_equal(host[0], 0);
            assert_int_equal(host[1], 256);
            simt_destroy(machine);
        }
}

/* Block 0 waits for the last block: blocks that wait are put aside for others. */
static const char last_text[] = HEAD ENTRY("last") "mov.u32 %r2, %ctaid.x;\n"
                                                   "mov.u32 %r3, %nctaid.x;\n"
                                                   "sub.u32 %r3, %r3, 1;\n"
                                                   "setp.eq.u32 %p1, %r2, %r3;\n"
                                                   "@%p1 st.volatile.global.u32 [%rd1], 1;\n"
                                                   "WAIT:\n"
                                                   "ld.volatile.global.u32 %r4, [%rd1];\n"
                                                   "setp.eq.u32 %p2, %r4, 0;\n"
                                                   "@%p2 bra WAIT;\n"
                                                   "atom.global.add.u32 %r5, [%rd1+4], 1;\n"
                                                   "ret;\n}\n";

static void blocks_wait_for_later_ones(void **state)
{
    struct simt_machine *machine = open_machine(1, 0, false, 0);
    uint64_t out = simt_alloc(machine, 8, SIMT_MEMORY_DEVICE);
    uint32_t *host = simt_host(machine, out, 8);
    struct simt_fault fault;
    assert_int_equal(run(machine, last_text, 16, 32, out, &fault), SIMT_OK);
    assert_int_equal(host[1], 16 * 32);
    simt_destroy(machine);
}

/* Warps take tickets: out[ticket] is whose turn it was. */
static const char order_text[] = HEAD ENTRY("order") "shr.u32 %r2, %r1, 5;\n"
                                                     "mov.u32 %r5, 0;\n"
                                                     "AGAIN:\n"
                                                     "atom.global.add.u32 %r3, [%rd1], 1;\n"
                                                     "mul.wide.u32 %rd2, %r3, 4;\n"
                                                     "add.u64 %rd2, %rd1, %rd2;\n"
                                                     "st.global.u32 [%rd2+4], %r2;\n"
                                                     "add.u32 %r5, %r5, 1;\n"
                                                     "setp.lt.u32 %p1, %r5, 8;\n"
                                                     "@%p1 bra AGAIN;\n"
                                                     "ret;\n}\n";
enum { TURNS = 8 * 256 };

static void run_in_order(struct simt_machine *machine, uint32_t order[TURNS])
{
    struct simt_fault fault;
    uint64_t out = simt_alloc(machine, 4 + TURNS * 4, SIMT_MEMORY_DEVICE);
    uint32_t *host = simt_host(machine, out, 4 + TURNS * 4);
    host[0] = 0;
    assert_int_equal(run(machine, order_text, 1, 256, out, &fault), SIMT_OK);
    assert_int_equal(host[0], TURNS);
    memcpy(order, host + 1, TURNS * 4);
    assert_true(simt_free(machine, out));
}

/* A random schedule is another one in each launch, and the same in each run of a program. */
static void schedules_differ(void **state)
{
    static uint32_t order[3][2][TURNS];
    const uint64_t seeds[] = {7, 7, 8};
    for (int i = 0; i < 3; i++) {
        struct simt_machine *machine = open_machine(1, 0, true, seeds[i]);
        for (int k = 0; k < 2; k++)
            run_in_order(machine, order[i][k]);
        assert_memory_not_equal(order[i][0], order[i][1], sizeof order[i][0]);
        simt_destroy(machine);
    }
    assert_memory_equal(order[0], order[1], sizeof order[0]);
    assert_memory_not_equal(order[0][0], order[2][0], sizeof order[0][0]);
    assert_memory_not_equal(order[0][1], order[2][0], sizeof order[0][0]);
}

static void endless_loop_ends(void **state)
{
    struct simt_machine *machine = open_machine(1, 5000000, false, 0);
    struct simt_fault fault;
    static const char text[] = HEAD ENTRY("endless") "AGAIN: bra AGAIN;\n}\n";
    assert_int_equal(run(machine, text, 1, 32, 0, &fault), SIMT_FAULT_TIMEOUT);
    assert_non_null(strstr(fault.text, "endless loop"));
    simt_destroy(machine);
}

static void deadlock_is_told(void **state)
{
    struct simt_machine *machine = open_machine(1, 0, false, 0);
    struct simt_fault fault;
    static const char text[] = HEAD ENTRY("half") "setp.lt.u32 %p1, %r1, 32;\n"
                                                  "@%p1 bra FIRST;\n"
                                                  "bar.sync 1;\nret;\n"
                                                  "FIRST: bar.sync 2;\nret;\n}\n";
    assert_int_equal(run(machine, text, 1, 64, 0, &fault), SIMT_FAULT_DEADLOCK);
    assert_non_null(strstr(fault.text, "bar.sync"));
    simt_destroy(machine);
}

static void faults_name_the_place(void **state)
{
    struct simt_machine *machine = open_machine(2, 0, false, 0);
    uint64_t out = simt_alloc(machine, 1024, SIMT_MEMORY_DEVICE);
    struct simt_fault fault;
    static const char text[] = HEAD ENTRY("far") "mul.wide.u32 %rd2, %r1, 4096;\n"
                                                 "add.u64 %rd3, %rd1, %rd2;\n"
                                                 "st.global.u32 [%rd3], %r1;\nret;\n}\n";
    assert_int_equal(run(machine, text, 1, 32, out, &fault), SIMT_FAULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(fault.text, "in kernel far, block (0,0,0), thread (1,0,0)"));
    assert_non_null(strstr(fault.text, "st.global.u32"));
    assert_int_equal(run(machine, text, 1, 1, out, &fault), SIMT_OK);
    simt_destroy(machine);
}

static void freed_memory_is_gone(void **state)
{
    struct simt_machine *machine = open_machine(1, 0, false, 0);
    uint64_t out = simt_alloc(machine, 64, SIMT_MEMORY_DEVICE);
    struct simt_fault fault;
    static const char text[] = HEAD ENTRY("write") "st.global.u32 [%rd1], %r1;\nret;\n}\n";
    assert_int_equal(run(machine, text, 1, 1, out, &fault), SIMT_OK);
    assert_true(simt_free(machine, out));
    assert_false(simt_free(machine, out));
    assert_int_equal(run(machine, text, 1, 1, out, &fault), SIMT_FAULT_ILLEGAL_ADDRESS);
    assert_null(simt_host(machine, out, 4));
    simt_destroy(machine);
}

static void managed_memory_has_one_address(void **state)
{
    struct simt_machine *machine = open_machine(1, 0, false, 0);
    uint64_t out = simt_alloc(machine, 4096, SIMT_MEMORY_MANAGED);
    uint32_t *host = (uint32_t *)(uintptr_t)out;
    host[0] = 7;
    struct simt_fault fault;
    static const char text[] = HEAD ENTRY("more") "ld.global.u32 %r2, [%rd1];\n"
                                                  "add.u32 %r2, %r2, 1;\n"
                                                  "st.global.u32 [%rd1], %r2;\nret;\n}\n";
    assert_int_equal(run(machine, text, 1, 1, out, &fault), SIMT_OK);
    assert_int_equal(host[0], 8);
    simt_destroy(machine);
}

static void registered_memory_is_reached(void **state)
{
    struct simt_machine *machine = open_machine(1, 0, false, 0);
    uint32_t *host = calloc(64, sizeof(*host));
    struct simt_fault fault;
    static const char text[] = HEAD ENTRY("store") "mul.wide.u32 %rd2, %r1, 4;\n"
                                                   "add.u64 %rd3, %rd1, %rd2;\n"
                                                   "st.u32 [%rd3], %r1;\nret;\n}\n";
    uint64_t address = (uint64_t)(uintptr_t)host;
    assert_int_equal(run(machine, text, 1, 32, address, &fault), SIMT_FAULT_ILLEGAL_ADDRESS);
    assert_true(simt_register(machine, host, 64 * sizeof(*host)));
    assert_int_equal(run(machine, text, 1, 32, address, &fault), SIMT_OK);
    assert_int_equal(host[31], 31);
    assert_true(simt_unregister(machine, host));
    free(host);
    simt_destroy(machine);
}

static void addresses_are_used_again(void **state)
{
    struct simt_machine *machine = open_machine(1, 0, false, 0);
    size_t before, after, total;
    simt_memory_info(machine, &before, &total);
    for (int i = 0; i < 20000; i++) {
        uint64_t a = simt_alloc(machine, (size_t)1 << 28, SIMT_MEMORY_DEVICE);
        assert_int_not_equal(a, 0);
        assert_true(simt_free(machine, a));
    }
    simt_memory_info(machine, &after, &total);
    assert_int_equal(before, after);
    assert_int_equal(simt_alloc(machine, (size_t)1 << 45, SIMT_MEMORY_DEVICE), 0);
    simt_destroy(machine);
}

/* A kernel with 64 bytes of shared memory fills the reserved part, and reads its own. */
#define RESERVED_FILL                                                                              \
    ".shared .align 4 .b32 own[16];\n"                                                             \
    "mov.u32 %r2, %reserved_smem_offset_begin; mov.u32 %r3, %reserved_smem_offset_end;\n"          \
    "mov.u32 %r4, own; st.shared.u32 [own+60], 7;\n"                                               \
    "st.global.u32 [%rd1+4], %r2; st.global.u32 [%rd1+8], %r3;\n"                                  \
    "mov.u32 %r5, %reserved_smem_offset_1; st.global.u32 [%rd1+12], %r5;\n"                        \
    "mov.u32 %r5, %reserved_smem_offset_cap; st.global.u32 [%rd1+16], %r5;\n"                      \
    "mov.u32 %r5, %aggr_smem_size; st.global.u32 [%rd1+20], %r5;\n"                                \
    "mov.u32 %r5, %total_smem_size; st.global.u32 [%rd1+24], %r5;\n"                               \
    "FILL: st.shared.u32 [%r2], 9; add.u32 %r2, %r2, 4; setp.lt.u32 %p1, %r2, %r3;\n"              \
    "@%p1 bra FILL;\nld.shared.u32 %r5, [own+60]; st.global.u32 [%rd1], %r5;\n"
static const char reserved_text[] = HEAD ENTRY("reserved") RESERVED_FILL "ret;\n}\n";
static const char reserved_past_text[] =
    HEAD ENTRY("reserved") RESERVED_FILL "st.shared.u32 [%r3], 9;\nret;\n}\n";
static const char reserved_own_text[] = HEAD ENTRY("reserved") RESERVED_FILL
    "add.u32 %r4, %r4, %r1; st.shared.u32 [%r4+64], 9;\nret;\n}\n";

static void reserved_shared_memory_exists(void **state)
{
    struct simt_machine *machine = open_machine(1, 0, false, 0);
    uint64_t out = simt_alloc(machine, 28, SIMT_MEMORY_DEVICE);
    uint32_t *host = simt_host(machine, out, 28);
    struct simt_fault fault;
    assert_int_equal(run(machine, reserved_text, 2, 1, out, &fault), SIMT_OK);
    assert_int_equal(host[0], 7);
    assert_int_equal(host[2] - host[1], 1024);
    assert_in_range(host[3], host[1], host[2] - 288); /* what cooperative groups need */
    assert_int_equal(host[5] - host[6], 1024);
    assert_int_equal(run(machine, reserved_past_text, 1, 1, out, &fault),
                     SIMT_FAULT_ILLEGAL_INSTRUCTION);
    assert_int_equal(run(machine, reserved_own_text, 1, 1, out, &fault),
                     SIMT_FAULT_ILLEGAL_INSTRUCTION);
    simt_destroy(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lock_ends),
        cmocka_unit_test(blocks_wait_for_later_ones),
        cmocka_unit_test(schedules_differ),
        cmocka_unit_test(endless_loop_ends),
        cmocka_unit_test(deadlock_is_told),
        cmocka_unit_test(faults_name_the_place),
        cmocka_unit_test(freed_memory_is_gone),
        cmocka_unit_test(managed_memory_has_one_address),
        cmocka_unit_test(registered_memory_is_reached),
        cmocka_unit_test(addresses_are_used_again),
        cmocka_unit_test(reserved_shared_memory_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
