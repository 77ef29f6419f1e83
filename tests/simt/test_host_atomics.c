/*
 * test_host_atomics.c: a thread of the program and a kernel change the same word at once.
 * No update of either is lost: in managed and registered memory at any scope, in device memory at
 * system scope; with one worker too, whose operations on its own memory need no lock. And words
 * that either side stores arrive whole.
 */
#include "simt/simt.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    TURNS = 6000,
    LANES = 32,
    KERNEL_OPS = TURNS * LANES,
    HOST_OPS = 1 << 23 /* at most, so that sums of floats stay exact */
};

/* What both sides work on, and what the host's side found out. */
struct meeting {
    void *word;
    const struct row *row;
    _Atomic bool stop;
    uint64_t done;   /* the host's operations */
    uint64_t broken; /* of these, how many met a value that cannot be */
};

struct row {
    const char *name;
    const char *op; /* %s: scope and space */
    void (*step)(struct meeting *meeting, uint64_t turn);
    uint64_t (*expected)(uint64_t host); /* the word's value at the end; NULL: any */
    uint64_t start;
    unsigned bits;
};

/* The host's side -------------------------------------------------------------------------------
 */

static void add_32(struct meeting *m, uint64_t turn)
{
    __atomic_fetch_add((uint32_t *)m->word, 1, __ATOMIC_SEQ_CST);
}

static void add_64(struct meeting *m, uint64_t turn)
{
    __atomic_fetch_add((uint64_t *)m->word, 1, __ATOMIC_SEQ_CST);
}

static void add_f32(struct meeting *m, uint64_t turn)
{
    uint32_t old = __atomic_load_n((uint32_t *)m->word, __ATOMIC_RELAXED), changed;
    float value;
    do {
        memcpy(&value, &old, 4);
        value += 1;
        memcpy(&changed, &value, 4);
    } while (!__atomic_compare_exchange_n((uint32_t *)m->word, &old, changed, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

static void add_f64(struct meeting *m, uint64_t turn)
{
    uint64_t old = __atomic_load_n((uint64_t *)m->word, __ATOMIC_RELAXED), changed;
    double value;
    do {
        memcpy(&value, &old, 8);
        value += 1;
        memcpy(&changed, &value, 8);
    } while (!__atomic_compare_exchange_n((uint64_t *)m->word, &old, changed, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

/* The word's upper half is the host's: it holds what the host left there. The lower half is changed
 * too, so that the kernel's next operation has something to do. */
static void field_32(struct meeting *m, uint64_t turn)
{
    uint32_t old = __atomic_load_n((uint32_t *)m->word, __ATOMIC_RELAXED), changed;
    do {
        changed = (uint32_t)((turn + 1) << 16) | (turn & 1 ? 0xffff : 0);
    } while (!__atomic_compare_exchange_n((uint32_t *)m->word, &old, changed, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    m->broken += old >> 16 != (turn & 0xffff);
}

static void field_64(struct meeting *m, uint64_t turn)
{
    uint64_t old = __atomic_load_n((uint64_t *)m->word, __ATOMIC_RELAXED), changed;
    do {
        changed = (turn + 1) << 32 | (turn & 1 ? 0xffffffff : 0);
    } while (!__atomic_compare_exchange_n((uint64_t *)m->word, &old, changed, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    m->broken += old >> 32 != turn;
}

/* The same with a half that is 0.0 or 1.0 in both formats of 16 bits; the kernel adds zero to it.
 */
static void field_half(struct meeting *m, uint64_t turn)
{
    uint32_t one = strstr(m->row->op, "bf16") ? 0x3f80 : 0x3c00;
    uint32_t old = __atomic_load_n((uint32_t *)m->word, __ATOMIC_RELAXED), changed;
    do {
        changed = (old & 0xffff) | (turn & 1 ? 0 : one << 16);
    } while (!__atomic_compare_exchange_n((uint32_t *)m->word, &old, changed, false,
                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    m->broken += old >> 16 != (turn & 1 ? one : 0);
}

/* Both sides only raise the word (or lower it): it never goes back. */
static void climb(struct meeting *m, int64_t by)
{
    static __thread int64_t last;
    int64_t old =
        m->row->bits == 32
            ? (int32_t)__atomic_fetch_add((uint32_t *)m->word, (uint32_t)by, __ATOMIC_SEQ_CST)
            : (int64_t)__atomic_fetch_add((uint64_t *)m->word, (uint64_t)by, __ATOMIC_SEQ_CST);
    if (m->done)
        m->broken += by > 0 ? old < last + by : old > last + by;
    last = old;
}

static void rise(struct meeting *m, uint64_t turn)
{
    climb(m, 1);
}

static void fall(struct meeting *m, uint64_t turn)
{
    climb(m, -1);
}

static void *host_main(void *argument)
{
    struct meeting *meeting = argument;
    while (!meeting->stop && meeting->done < HOST_OPS) {
        meeting->row->step(meeting, meeting->done);
        meeting->done++;
    }
    return NULL;
}

/* What must come out -----------------------------------------------------------------------------
 */

static uint64_t both(uint64_t host)
{
    return host + KERNEL_OPS;
}

static uint64_t difference(uint64_t host)
{
    return host - KERNEL_OPS;
}

static uint64_t both_f32(uint64_t host)
{
    float sum = (float)(host + KERNEL_OPS);
    uint32_t bits;
    memcpy(&bits, &sum, 4);
    return bits;
}

static uint64_t both_f64(uint64_t host)
{
    double sum = (double)(host + KERNEL_OPS);
    uint64_t bits;
    memcpy(&bits, &sum, 8);
    return bits;
}

/* The kernel takes the word and leaves zero: what it took, and what is left, is what came. */
static uint64_t taken(uint64_t host)
{
    return host;
}

#define CAS(bits, r)                                                                               \
    "ld.relaxed.sys.b" #bits " " r "2, [%%rd1];\n"                                                 \
    "AGAIN: add.u" #bits " " r "4, " r "2, 1;\n"                                                   \
    "atom%s.cas.b" #bits " " r "3, [%%rd1], " r "2, " r "4;\n"                                     \
    "setp.ne.b" #bits " %%p2, " r "3, " r "2;\n"                                                   \
    "mov.b" #bits " " r "2, " r "3;\n"                                                             \
    "@%%p2 bra AGAIN;\n"
#define LIMIT(kind, step, type, bits, r)                                                           \
    "ld.relaxed.sys.b" bits " " r "2, [%%rd1]; add." type " " r "2, " r "2, " step                 \
    "; atom%s." kind "." type " " r "3, [%%rd1], " r "2;"

static const struct row rows[] = {
    {"add.u32", "atom%s.add.u32 %%r2, [%%rd1], 1;", add_32, both, 0, 32},
    {"add.s32 as red", "red%s.add.s32 [%%rd1], 1;", add_32, both, 0, 32},
    {"add.u64", "atom%s.add.u64 %%rd2, [%%rd1], 1;", add_64, both, 0, 64},
    {"inc.u32", "atom%s.inc.u32 %%r2, [%%rd1], 0xffffffff;", add_32, both, 0, 32},
    {"dec.u32", "atom%s.dec.u32 %%r2, [%%rd1], 0xffffffff;", add_32, difference, 0, 32},
    {"cas.b32", CAS(32, "%%r"), add_32, both, 0, 32},
    {"cas.b64", CAS(64, "%%rd"), add_64, both, 0, 64},
    {"exch.b32", "atom%s.exch.b32 %%r2, [%%rd1], 0; add.u32 %%r8, %%r8, %%r2;", add_32, taken, 0,
     32},
    {"exch.b64",
     "atom%s.exch.b64 %%rd2, [%%rd1], 0; cvt.u32.u64 %%r2, %%rd2; "
     "add.u32 %%r8, %%r8, %%r2;",
     add_64, taken, 0, 64},
    {"and.b32", "atom%s.and.b32 %%r2, [%%rd1], 0xffff0000;", field_32, NULL, 0, 32},
    {"or.b32", "atom%s.or.b32 %%r2, [%%rd1], 0xffff;", field_32, NULL, 0, 32},
    {"xor.b32", "atom%s.xor.b32 %%r2, [%%rd1], 0xffff;", field_32, NULL, 0, 32},
    {"and.b64", "atom%s.and.b64 %%rd2, [%%rd1], 0xffffffff00000000;", field_64, NULL, 0, 64},
    {"or.b64", "atom%s.or.b64 %%rd2, [%%rd1], 0xffffffff;", field_64, NULL, 0, 64},
    {"xor.b64", "atom%s.xor.b64 %%rd2, [%%rd1], 0xffffffff;", field_64, NULL, 0, 64},
    {"max.u32", LIMIT("max", "1", "u32", "32", "%%r"), rise, NULL, 0, 32},
    {"max.s32", LIMIT("max", "1", "s32", "32", "%%r"), rise, NULL, 0, 32},
    {"min.u32", LIMIT("min", "-1", "u32", "32", "%%r"), fall, NULL, 1 << 30, 32},
    {"min.s32", LIMIT("min", "-1", "s32", "32", "%%r"), fall, NULL, 0, 32},
    {"max.u64", LIMIT("max", "1", "u64", "64", "%%rd"), rise, NULL, 0, 64},
    {"max.s64", LIMIT("max", "1", "s64", "64", "%%rd"), rise, NULL, 0, 64},
    {"min.u64", LIMIT("min", "-1", "u64", "64", "%%rd"), fall, NULL, 1ull << 40, 64},
    {"min.s64", LIMIT("min", "-1", "s64", "64", "%%rd"), fall, NULL, 0, 64},
    {"add.f32", "atom%s.add.f32 %%f1, [%%rd1], 0f3f800000;", add_f32, both_f32, 0, 32},
    {"add.f64", "atom%s.add.f64 %%fd1, [%%rd1], 0d3ff0000000000000;", add_f64, both_f64, 0, 64},
    {"add.f16x2",
     "mov.b32 %%r2, 0x3c00; atom%s.add.noftz.f16x2 %%r3, [%%rd1], %%r2; "
     "mov.b32 %%r2, 0xbc00; atom%s.add.noftz.f16x2 %%r3, [%%rd1], %%r2;",
     field_half, NULL, 0, 32},
    {"add.bf16x2",
     "mov.b32 %%r2, 0x3f80; atom%s.add.noftz.bf16x2 %%r3, [%%rd1], %%r2; "
     "mov.b32 %%r2, 0xbf80; atom%s.add.noftz.bf16x2 %%r3, [%%rd1], %%r2;",
     field_half, NULL, 0, 32},
    {"red.v2.f32", "mov.f32 %%f1, 0f3f800000; red%s.global.add.v2.f32 [%%rd1], {%%f1, %%f1};",
     add_f32, both_f32, 0, 32},
};
enum { ROWS = sizeof rows / sizeof *rows };

/* The kernel's side ------------------------------------------------------------------------------
 */

static const char frame[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".visible .entry meet(.param .u64 word, .param .u64 taken)\n{\n"
    ".reg .pred %%p<3>; .reg .b32 %%r<12>; .reg .b64 %%rd<6>; .reg .f32 %%f<2>; .reg .f64 "
    "%%fd<2>;\n"
    "ld.param.u64 %%rd1, [word]; ld.param.u64 %%rd5, [taken]; mov.u32 %%r8, 0; mov.u32 %%r9, 0;\n"
    "LOOP:\n%s\n"
    "add.u32 %%r9, %%r9, 1; setp.lt.u32 %%p1, %%r9, %d; @%%p1 bra LOOP;\n"
    "red.global.add.u32 [%%rd5], %%r8;\nret;\n}\n";

static void run_kernel(struct simt_machine *machine, const char *body, uint64_t word,
                       uint64_t taken_at)
{
    char text[4096], *message = NULL;
    const uint64_t params[2] = {word, taken_at};
    snprintf(text, sizeof text, frame, body, TURNS);
    struct simt_module *module =
        simt_module_load(machine, "meet.ptx", text, strlen(text), &message);
    if (!module)
        fail_msg("%s\n%s", message, text);
    struct simt_launch launch = {.kernel = simt_module_kernel_at(module, 0),
                                 .grid = {1, 1, 1},
                                 .block = {LANES, 1, 1},
                                 .params = params};
    struct simt_fault fault;
    if (simt_run(machine, &launch, NULL, &fault) != SIMT_OK)
        fail_msg("%s", fault.text);
    simt_module_unload(module);
}

static void meet(struct simt_machine *machine, const struct row *row, const char *scope,
                 uint64_t address, void *word)
{
    uint64_t results = simt_alloc(machine, 4, SIMT_MEMORY_DEVICE);
    uint32_t *took = simt_host(machine, results, 4);
    struct meeting meeting = {.word = word, .row = row};
    pthread_t host;
    char body[1024];
    *took = 0;
    memset(word, 0, 16);
    memcpy(word, &row->start, row->bits / 8);
    snprintf(body, sizeof body, row->op, scope, scope);
    assert_int_equal(pthread_create(&host, NULL, host_main, &meeting), 0);
    run_kernel(machine, body, address, results);
    meeting.stop = true;
    pthread_join(host, NULL);
    uint64_t found = 0;
    memcpy(&found, word, row->bits / 8);
    if (row->expected) {
        uint64_t expected = row->expected(meeting.done);
        found += *took;
        if (row->bits == 32)
            expected = (uint32_t)expected, found = (uint32_t)found;
        if (found != expected)
            fail_msg(
                "%s%s: 0x%llx, expected 0x%llx after %llu of the host's and %d of the kernel's",
                row->name, scope, (unsigned long long)found, (unsigned long long)expected,
                (unsigned long long)meeting.done, KERNEL_OPS);
    }
    if (!row->expected && *took)
        fail_msg("%s%s: the kernel met %u values that cannot be", row->name, scope, *took);
    if (meeting.broken)
        fail_msg("%s%s: %llu of the host's %llu operations were lost", row->name, scope,
                 (unsigned long long)meeting.broken, (unsigned long long)meeting.done);
    simt_free(machine, results);
}

static struct simt_machine *open_machine(void)
{
    struct simt_options options = {.threads = 1};
    struct simt_machine *machine = simt_create(gpu_find("h200"), &options);
    assert_non_null(machine);
    return machine;
}

static void managed_memory(void **state)
{
    struct simt_machine *machine = open_machine();
    uint64_t word = simt_alloc(machine, 16, SIMT_MEMORY_MANAGED);
    for (int i = 0; i < ROWS; i++)
        meet(machine, &rows[i], "", word, (void *)(uintptr_t)word);
    simt_destroy(machine);
}

static void pinned_memory(void **state)
{
    struct simt_machine *machine = open_machine();
    uint64_t word = simt_alloc(machine, 16, SIMT_MEMORY_PINNED);
    for (int i = 0; i < ROWS; i++)
        meet(machine, &rows[i], ".gpu", word, (void *)(uintptr_t)word);
    simt_destroy(machine);
}

static void registered_memory(void **state)
{
    struct simt_machine *machine = open_machine();
    void *word = aligned_alloc(4096, 4096);
    assert_true(simt_register(machine, word, 4096));
    for (int i = 0; i < ROWS; i++)
        meet(machine, &rows[i], "", (uint64_t)(uintptr_t)word, word);
    simt_unregister(machine, word);
    free(word);
    simt_destroy(machine);
}

static void device_memory_at_system_scope(void **state)
{
    struct simt_machine *machine = open_machine();
    uint64_t word = simt_alloc(machine, 16, SIMT_MEMORY_DEVICE);
    for (int i = 0; i < ROWS; i++)
        meet(machine, &rows[i], ".sys", word, simt_host(machine, word, 16));
    simt_destroy(machine);
}

/* Copies and fills reach device memory while a kernel runs: one that polls with an atomic that
 * changes nothing must not write back what it read. */
static void store_16(struct meeting *m, uint64_t turn)
{
    __atomic_store_n((uint32_t *)m->word, (uint32_t)turn, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 20; i++)
        m->broken += __atomic_load_n((uint32_t *)m->word, __ATOMIC_SEQ_CST) != (uint32_t)turn;
}

static void polls_write_nothing(void **state)
{
    static const struct row polls[] = {
        {"add 0", "atom%s.add.u32 %%r2, [%%rd1], 0;", store_16, NULL, 0, 32},
        {"or 0", "atom%s.or.b32 %%r2, [%%rd1], 0;", store_16, NULL, 0, 32},
        {"max 0", "atom%s.max.u32 %%r2, [%%rd1], 0;", store_16, NULL, 0, 32},
        {"cas of another value", "atom%s.cas.b32 %%r2, [%%rd1], 0xffffffff, 7;", store_16, NULL, 0,
         32}};
    struct simt_machine *machine = open_machine();
    uint64_t word = simt_alloc(machine, 16, SIMT_MEMORY_DEVICE);
    for (int i = 0; i < 4; i++)
        meet(machine, &polls[i], ".gpu", word, simt_host(machine, word, 16));
    simt_destroy(machine);
}

/* Words that are all zeros or all ones, on the way from the host and to it. */
static void store_word(struct meeting *m, uint64_t turn)
{
    uint64_t value = turn & 1 ? UINT64_MAX : 0;
    __atomic_store_n((uint64_t *)m->word, value, __ATOMIC_SEQ_CST);
}

static void read_word(struct meeting *m, uint64_t turn)
{
    uint64_t value = __atomic_load_n((uint64_t *)m->word, __ATOMIC_SEQ_CST);
    uint64_t whole = m->row->bits == 64 ? UINT64_MAX : (1ull << m->row->bits) - 1;
    m->broken += value != 0 && value != whole;
}

static void words_are_whole(void **state)
{
    static const char *const orders[][2] = {{"volatile", "volatile"},
                                            {"relaxed.sys", "relaxed.sys"},
                                            {"acquire.sys", "release.sys"},
                                            {"mmio.relaxed.sys", "mmio.relaxed.sys"}};
    struct simt_machine *machine = open_machine();
    uint64_t word = simt_alloc(machine, 16, SIMT_MEMORY_MANAGED);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
        for (unsigned bits = 16; bits <= 64; bits *= 2) {
            char load[256], store[256];
            const char *reg = bits == 64 ? "%rd" : "%r";
            snprintf(load, sizeof load,
                     "ld.%s.global.u%u %s2, [%%rd1]; setp.eq.u%u %%p2, %s2, 0; @%%p2 bra WHOLE%u;\n"
                     "setp.ne.u%u %%p2, %s2, %lld; @%%p2 add.u32 %%r8, %%r8, 1;\nWHOLE%u:",
                     orders[i][0], bits, reg, bits == 64 ? 64 : 32, reg, bits, bits == 64 ? 64 : 32,
                     reg, bits == 64 ? -1ll : (1ll << bits) - 1, bits);
            snprintf(store, sizeof store,
                     "and.b32 %%r2, %%r9, 1; neg.s32 %%r2, %%r2; cvt.s64.s32 %%rd2, %%r2; "
                     "st.%s.global.u%u [%%rd1], %s2;",
                     orders[i][1], bits, reg);
            for (char *at = load; (at = strchr(at, '%')); at += 2)
                memmove(at + 1, at, strlen(at) + 1);
            for (char *at = store; (at = strchr(at, '%')); at += 2)
                memmove(at + 1, at, strlen(at) + 1);
            struct row from_host = {orders[i][0], load, store_word, NULL, 0, bits};
            struct row to_host = {orders[i][1], store, read_word, NULL, 0, bits};
            meet(machine, &from_host, "", word, (void *)(uintptr_t)word);
            meet(machine, &to_host, "", word, (void *)(uintptr_t)word);
        }
    simt_destroy(machine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(managed_memory),      cmocka_unit_test(pinned_memory),
        cmocka_unit_test(registered_memory),   cmocka_unit_test(device_memory_at_system_scope),
        cmocka_unit_test(polls_write_nothing), cmocka_unit_test(words_are_whole),
    };
    return cmocka_run_group_tests_name("host_atomics", tests, NULL, NULL);
}
