/*
 * isa.c: which build of the instruction bodies this host runs.
 * LOCKSTEP_ISA=v2|v3|v4 asks for one by name (for tests; never above what the host can do).
 */
#include "simt/watch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef simt_body *simt_select_function(const struct simt_operands *operands);

#define DECLARE(upper, lower, isa) simt_select_function lower##_select_##isa;
#define ROW(upper, lower, isa) [PTX_GROUP_##upper] = lower##_select_##isa,

#ifdef __x86_64__
#define DECLARE_V2(upper, lower) DECLARE(upper, lower, v2)
#define DECLARE_V3(upper, lower) DECLARE(upper, lower, v3)
#define DECLARE_V4(upper, lower) DECLARE(upper, lower, v4)
SIMT_GROUPS(DECLARE_V2)
SIMT_GROUPS(DECLARE_V3)
extern const struct simt_watch_code simt_watch_code_v2, simt_watch_code_v3;
#ifndef SIMT_WITHOUT_V4 /* the sanitizers' build leaves it out: it takes long, and few hosts run   \
                           it */
SIMT_GROUPS(DECLARE_V4)
extern const struct simt_watch_code simt_watch_code_v4;
#endif
#define ROW_V2(upper, lower) ROW(upper, lower, v2)
#define ROW_V3(upper, lower) ROW(upper, lower, v3)
#define ROW_V4(upper, lower) ROW(upper, lower, v4)
static simt_select_function *const tables[][PTX_GROUP_COUNT] = {
    {SIMT_GROUPS(ROW_V2)},
    {SIMT_GROUPS(ROW_V3)},
#ifndef SIMT_WITHOUT_V4
    {SIMT_GROUPS(ROW_V4)},
#endif
};
static const struct simt_watch_code *const watch_codes[] = {
    &simt_watch_code_v2,
    &simt_watch_code_v3,
#ifndef SIMT_WITHOUT_V4
    &simt_watch_code_v4,
#endif
};
static const char *const names[] = {"v2", "v3", "v4"};
enum { BUILT = sizeof(tables) / sizeof(*tables) };

static int best(void)
{
    __builtin_cpu_init();
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("bmi2");
    bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
              __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("avx512cd");
    return v4 && BUILT > 2 ? 2 : v3 ? 1 : 0;
}
#else
#define DECLARE_V1(upper, lower) DECLARE(upper, lower, v1)
SIMT_GROUPS(DECLARE_V1)
#define ROW_V1(upper, lower) ROW(upper, lower, v1)
static simt_select_function *const tables[][PTX_GROUP_COUNT] = {{SIMT_GROUPS(ROW_V1)}};
extern const struct simt_watch_code simt_watch_code_v1;
static const struct simt_watch_code *const watch_codes[] = {&simt_watch_code_v1};
static const char *const names[] = {"v1"};

static int best(void)
{
    return 0;
}
#endif

static int chosen;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void choose(void)
{
    chosen = best();
    const char *wish = getenv("LOCKSTEP_ISA");
    for (int i = 0; wish && i < (int)(sizeof(names) / sizeof(*names)); i++)
        if (strcmp(wish, names[i]) == 0 && i <= chosen)
            chosen = i;
}

simt_body *simt_select(const struct simt_operands *operands)
{
    pthread_once(&once, choose);
    simt_select_function *select = tables[chosen][ptx_op_infos[operands->ptx->op].group];
    return select ? select(operands) : NULL;
}

const struct simt_watch_code *simt_watch_code(void)
{
    pthread_once(&once, choose);
    return watch_codes[chosen];
}
