/*
 * cpu.c: variants that run on the CPU, by its clock; they too take turns and rotate through copies
 * of the buffers.
 */
#include "bench/contest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_COPIES = 64, LEAST_SAMPLES = 3, SETTLED_SAMPLES = 15 };
#define ENOUGH 0.005

/* Copies of the buffers, one after the other: [copy][buffer]. */
struct cpu_buffers {
    void **data;
    unsigned copies, count;
};

static size_t cache_bytes(void)
{
    long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return size > 0 && size < 1L << 30 ? (size_t)size : (size_t)32 << 20;
}

double bench_cpu_copy(void)
{
    enum { TIMES = 7 };
    size_t bytes = (size_t)64 << 20;
    char *from = malloc(bytes), *to = malloc(bytes);
    double seconds[TIMES], rate = 0;
    if (from && to) {
        memset(from, 1, bytes);
        memset(to, 2, bytes);
        for (int i = 0; i < TIMES; i++) {
            double start = bench_now();
            memcpy(to, from, bytes);
            seconds[i] = bench_now() - start;
            from[i] = to[bytes - 1 - (size_t)i]; /* so that each copy is needed */
        }
        rate = 2 * (double)bytes / bench_summarise(seconds, TIMES).median / 1e9;
    }
    free(from);
    free(to);
    return rate;
}

static bool make_buffers(struct cpu_buffers *buffers, const struct zoo_instance *instance)
{
    size_t bytes = 1, wanted = 2 * cache_bytes();
    for (unsigned i = 0; i < instance->count; i++)
        bytes += zoo_buffer_bytes(&instance->buffer[i]);
    size_t copies = bytes >= wanted ? 1 : wanted / bytes + 2;
    buffers->copies = copies > MOST_COPIES ? MOST_COPIES : (unsigned)copies;
    buffers->count = instance->count;
    buffers->data =
        lk_alloc_zeroed((size_t)buffers->copies * buffers->count * sizeof *buffers->data);
    for (unsigned i = 0; i < buffers->copies * buffers->count; i++) {
        const struct zoo_buffer *buffer = &instance->buffer[i % buffers->count];
        size_t size = zoo_buffer_bytes(buffer);
        buffers->data[i] = malloc(size + 16);
        if (!buffers->data[i])
            return false;
        if (buffer->role == ZOO_OUT)
            memset(buffers->data[i], 0, size);
        else
            memcpy(buffers->data[i], instance->host[i % buffers->count], size);
    }
    return true;
}

static void free_buffers(struct cpu_buffers *buffers)
{
    for (unsigned i = 0; buffers->data && i < buffers->copies * buffers->count; i++)
        free(buffers->data[i]);
    free(buffers->data);
}

static bool settled(const struct bench_entrant *entrant, double share)
{
    if (entrant->entry->state != BENCH_MEASURED)
        return true;
    if (entrant->count < LEAST_SAMPLES)
        return false;
    struct bench_summary summary = bench_summarise(entrant->samples, entrant->count);
    return entrant->spent > share ||
           (entrant->count >= SETTLED_SAMPLES && bench_uncertainty(&summary) <= ENOUGH);
}

static void race(struct bench_session *session, const struct bench_request *request,
                 struct bench_result *result, struct bench_entrant *entrants,
                 const struct cpu_buffers *buffers)
{
    double start = bench_now(), elapsed = 0, share = 2 * request->seconds / (double)result->count;
    unsigned next = 0;
    bool any = true;
    /* Each once at least, however little time there is. */
    for (bool first = true; any && (first || elapsed < request->seconds); first = false) {
        any = false;
        for (size_t i = 0; i < result->count; i++) {
            struct bench_entrant *entrant = &entrants[i];
            if (settled(entrant, share))
                continue;
            void **copy = buffers->data + (size_t)(next++ % buffers->copies) * buffers->count;
            double before = bench_now();
            entrant->variant->cpu(&request->problem, copy);
            double seconds = bench_now() - before;
            bench_entrant_add(entrant, seconds, 0);
            entrant->spent += seconds;
            any = true;
        }
        elapsed = bench_now() - start;
        if (session->host.progress)
            session->host.progress(session->host.context, result->text,
                                   elapsed / (request->seconds > 0 ? request->seconds : 1));
    }
}

static struct bench_entrant *find_entrants(const struct bench_request *request,
                                           struct bench_result *result,
                                           const struct zoo_instance *checked)
{
    const struct zoo_family *family = request->problem.family;
    for (const struct zoo_variant *variant = family->variants; variant->name; variant++)
        if (request->variants && variant->cpu &&
            (!request->chosen || request->chosen >> (variant - family->variants) & 1) &&
            zoo_takes(variant, &request->problem))
            bench_result_add(result, variant->name, false);
    struct bench_entrant *entrants = lk_alloc_zeroed((result->count + 1) * sizeof *entrants);
    for (size_t i = 0; i < result->count; i++) {
        char *message = NULL;
        entrants[i].entry = &result->entries[i];
        entrants[i].entry->method = BENCH_CLOCK;
        entrants[i].variant = zoo_find_variant(family, result->entries[i].name);
        if (!zoo_instance_run_cpu(checked, entrants[i].variant, &message))
            bench_entrant_fail(&entrants[i], BENCH_WRONG, message);
    }
    return entrants;
}

/* What the reference can be computed on: the problem, or the family's smaller one. */
static bool make_checked(const struct zoo_problem *problem, struct zoo_instance *checked,
                         struct bench_result *result, char **message)
{
    const struct zoo_family *family = problem->family;
    if (!bench_reference_is_slow(problem))
        return zoo_instance_make(checked, problem, true, message);
    size_t count;
    struct zoo_problem *problems = zoo_problems(family, family->profile, &count, message);
    if (!problems)
        return false;
    struct lk_buf text = {0};
    zoo_problem_print(&problems[0], &text);
    result->verified_on = text.data;
    bool fine = zoo_instance_make(checked, &problems[0], true, message);
    free(problems);
    return fine;
}

bool bench_problem_cpu(struct bench_session *session, const struct bench_request *request,
                       struct bench_result *result, char **message)
{
    struct zoo_instance instance, checked;
    struct cpu_buffers buffers = {0};
    if (!zoo_instance_make(&instance, &request->problem, false, message))
        return false;
    if (!make_checked(&request->problem, &checked, result, message)) {
        zoo_instance_free(&instance);
        return false;
    }
    struct bench_entrant *entrants = find_entrants(request, result, &checked);
    bool fine = make_buffers(&buffers, &instance);
    if (fine && result->count)
        race(session, request, result, entrants, &buffers);
    else if (!fine)
        *message = lk_format("too little memory");
    result->copies = buffers.copies;
    for (size_t i = 0; i < result->count; i++) {
        result->entries[i].time = bench_summarise(entrants[i].samples, entrants[i].count);
        bench_entry_finish(&session->place, result, &result->entries[i]);
        free(entrants[i].samples);
        free(entrants[i].clocks);
    }
    free(entrants);
    free_buffers(&buffers);
    zoo_instance_free(&checked);
    zoo_instance_free(&instance);
    return fine;
}
