/*
 * isa.c: which build of the instruction bodies this host runs.
 * LOCKSTEP_ISA=v2|v3|v4 asks for one by name (for tests; never above what the host can do).
 */
#include "simt/isa.h"

#include "simt/watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef simt_body *simt_select_function(const struct simt_operands *operands);

/* One table of functions by group, once per instruction set. */
#define NAME(isa) #isa,
static const char *const names[] = {SIMT_ISAS(NAME)};

#ifdef __x86_64__
#define DECLARE_V2(upper, lower) simt_select_function lower##_select_v2;
#define DECLARE_V3(upper, lower) simt_select_function lower##_select_v3;
#define DECLARE_V4(upper, lower) simt_select_function lower##_select_v4;
#define ROW_V2(upper, lower) [PTX_GROUP_##upper] = lower##_select_v2,
#define ROW_V3(upper, lower) [PTX_GROUP_##upper] = lower##_select_v3,
#define ROW_V4(upper, lower) [PTX_GROUP_##upper] = lower##_select_v4,
SIMT_GROUPS(DECLARE_V2)
SIMT_GROUPS(DECLARE_V3)
SIMT_GROUPS(DECLARE_V4)
static simt_select_function *const tables[][PTX_GROUP_COUNT] = {
#if SIMT_HAS(2)
    {SIMT_GROUPS(ROW_V2)},
#endif
#if SIMT_HAS(3)
    {SIMT_GROUPS(ROW_V3)},
#endif
#if SIMT_HAS(4)
    {SIMT_GROUPS(ROW_V4)},
#endif
};

static unsigned best(void)
{
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("avx512cd");
    return sizeof names / sizeof *names == 1 ? 0 : v4 ? 2 : v3 ? 1 : 0;
}
#else
#define DECLARE_V1(upper, lower) simt_select_function lower##_select_v1;
#define ROW_V1(upper, lower) [PTX_GROUP_##upper] = lower##_select_v1,
SIMT_GROUPS(DECLARE_V1)
static simt_select_function *const tables[][PTX_GROUP_COUNT] = {{SIMT_GROUPS(ROW_V1)}};

static unsigned best(void)
{
    return 0;
}
#endif

static unsigned chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose(void)
{
    chosen = best();
    const char *wish = getenv("LOCKSTEP_ISA");
    for (unsigned i = 0; wish && i < sizeof names / sizeof *names; i++)
        if (i <= chosen && strcmp(wish, names[i]) == 0)
            chosen = i;
}

unsigned simt_isa(void)
{
    pthread_once(&once, choose);
    return chosen;
}

simt_body *simt_select(const struct simt_operands *operands)
{
    simt_select_function *select = tables[simt_isa()][ptx_op_infos[operands->ptx->op].group];
    return select ? select(operands) : NULL;
}

#define DECLARE_SLICE(isa) simt_slice simt_watched_slice_##isa;
#define SLICE(isa) simt_watched_slice_##isa,
SIMT_ISAS(DECLARE_SLICE)

simt_slice *simt_watched_slice(void)
{
    static simt_slice *const slices[] = {SIMT_ISAS(SLICE)};
    return slices[simt_isa()];
}
