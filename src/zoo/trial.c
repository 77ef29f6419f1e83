/*
 * trial.c: runs variants and compares them with the reference; see trial.h.
 */
#include "zoo/trial.h"

#include "base/arena.h"
#include "host/files.h"
#include "zoo/instance.h"

#include <stdlib.h>
#include <string.h>

struct session {
    const struct zoo_trial_request *request;
    bool cpu;
    struct zoo_device device;
    struct zoo_trial *trials;
    size_t count;
    /* One for each problem of the family, made when a variant first takes it: the reference is
     * often slower than the kernel. */
    struct zoo_instance *instances;
    size_t instance_bytes;
};

enum { KEPT_BYTES = 256 << 20 }; /* of instances; more are made anew for each variant */

/* The PTX in place of the built-in one, malloc'd; NULL: the built-in one. */
static bool read_ptx(const struct session *session, const struct zoo_family *family,
                     const struct zoo_variant *variant, char **ptx, char **message)
{
    struct lk_buf text = {0};
    *ptx = NULL;
    if (!session->request->ptx)
        return true;
    char *path = lk_format("%s/%s/%s.ptx", session->request->ptx, family->name, variant->name);
    bool read = host_read_file(path, &text, message);
    free(path);
    *ptx = text.data;
    return read;
}

/* The bits of every output, to compare between repetitions. */
static void add_outputs(const struct zoo_run *run, struct lk_buf *bits)
{
    const struct zoo_instance *instance = run->instance;
    for (unsigned i = 0; i < instance->count; i++) {
        size_t bytes = zoo_buffer_bytes(&instance->buffer[i]);
        if (instance->buffer[i].role == ZOO_IN || bytes == 0)
            continue;
        char *data = lk_alloc(bytes);
        run->call.device->cuda->cuMemcpyDtoH_v2(data, run->call.buffer[i], bytes);
        lk_buf_add(bits, data, bytes);
        free(data);
    }
}

static bool same_bits(const struct lk_buf *first, const struct lk_buf *other, char **message)
{
    if (first->size == other->size &&
        (first->size == 0 || memcmp(first->data, other->data, first->size) == 0))
        return true;
    *message = strdup("it claims to be deterministic, and gave other bits the second time");
    return false;
}

static bool run_repeatedly(struct zoo_run *run, unsigned times, char **message)
{
    struct lk_buf first = {0}, other = {0};
    bool fine = true;
    for (unsigned i = 0; i < times && fine; i++) {
        struct lk_buf *bits = i ? &other : &first;
        if (zoo_run_reset(run) != CUDA_SUCCESS) {
            *message = strdup("the device does not take its input");
            fine = false;
            break;
        }
        fine = zoo_run_launch(run, message) && zoo_run_verify(run, message);
        if (fine && times > 1 && run->variant->traits & ZOO_DETERMINISTIC) {
            bits->size = 0;
            add_outputs(run, bits);
            fine = i == 0 || same_bits(&first, &other, message);
        }
    }
    lk_buf_free(&first);
    lk_buf_free(&other);
    return fine;
}

static bool launch_times(struct zoo_run *run, unsigned times, char **message)
{
    for (unsigned i = 0; i < times; i++) {
        if (zoo_run_reset_outputs(run) != CUDA_SUCCESS) {
            *message = strdup("the device does not take its input");
            return false;
        }
        if (!zoo_run_launch(run, message))
            return false;
    }
    return true;
}

static bool ask_free(const struct zoo_run *run, size_t *bytes, char **message)
{
    size_t all;
    CUresult status = run->call.device->cuda->cuMemGetInfo_v2(bytes, &all);
    if (status != CUDA_SUCCESS)
        *message = strdup("the device does not say how much memory is free");
    return status == CUDA_SUCCESS;
}

/* Memory of a real GPU is also taken by others, and by its driver for the first launches: only
 * what goes in each of three tries was taken by the kernels. */
static bool run_often(struct zoo_run *run, unsigned times, char **message)
{
    size_t before = 0, after = 0;
    if (!run_repeatedly(run, 1, message))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!ask_free(run, &before, message) || !launch_times(run, times, message) ||
            !ask_free(run, &after, message))
            return false;
        if (after >= before)
            return zoo_run_verify(run, message);
    }
    struct lk_buf text = {0};
    lk_buf_printf(&text, "%u launches left %zu bytes of the GPU's memory taken", times,
                  before - after);
    *message = text.data;
    return false;
}

static bool run_problem(const struct session *session, const struct zoo_instance *instance,
                        const struct zoo_variant *variant, struct zoo_kernels *kernels,
                        char **message)
{
    struct zoo_run run;
    unsigned times = session->request->repeat ? session->request->repeat : 1;
    if (session->cpu)
        return zoo_instance_run_cpu(instance, variant, message);
    if (!zoo_run_open(&run, instance, variant, &session->device, kernels, NULL, message))
        return false;
    bool fine = session->request->launches ? run_often(&run, session->request->launches, message)
                                           : run_repeatedly(&run, times, message);
    zoo_run_close(&run);
    return fine;
}

static void note_result(const struct session *session, struct zoo_trial *trial,
                        const struct zoo_problem *problem, bool fine, char *message)
{
    const struct zoo_trial_request *request = session->request;
    struct lk_buf text = {0};
    zoo_problem_print(problem, &text);
    trial->problems++;
    if (!fine && trial->failed++ == 0)
        trial->message = lk_format("%s: %s", text.data, message ? message : "");
    if (request->problem_done)
        request->problem_done(request->context, trial, text.data, fine ? NULL : message);
    lk_buf_free(&text);
    free(message);
}

/* The least that is more than nothing to do. */
static const struct zoo_problem *small_one(const struct zoo_problem **problems, size_t count)
{
    enum { BYTES = 16384 };
    const struct zoo_problem *best = problems[0];
    for (size_t i = 1; i < count; i++) {
        double bytes = problems[i]->family->bytes(problems[i]);
        double least = best->family->bytes(best);
        if (least < BYTES ? bytes > least : bytes >= BYTES && bytes < least)
            best = problems[i];
    }
    return best;
}

/* Whether problem i of count is among the wanted ones: those whose multiples of the golden ratio,
 * counted back from the last, have the smallest fractions. They lie evenly in the list, and in step
 * with no pattern of it, as every fourth one would be with four types in turn. */
static bool is_sampled(size_t i, size_t count, size_t wanted)
{
    const uint64_t golden = 0x9e3779b97f4a7c15; /* its fraction, in 64 bits */
    uint64_t own = (count - 1 - i) * golden;
    size_t smaller = 0;
    for (size_t back = 0; back < count; back++)
        smaller += back * golden < own;
    return smaller < wanted;
}

/* Those that the variant takes, thinned out as the request asks; returns how many. */
static size_t choose_for_variant(const struct session *session, const struct zoo_variant *variant,
                                 const struct zoo_problem *problems, size_t count,
                                 const struct zoo_problem **chosen)
{
    const struct zoo_trial_request *request = session->request;
    size_t taken = 0, kept = 0;
    for (size_t i = 0; i < count; i++)
        if (zoo_takes(variant, &problems[i]) &&
            (session->cpu || zoo_fits(&session->device, variant, NULL, &problems[i])))
            chosen[taken++] = &problems[i];
    if (taken && request->launches && !request->problems) {
        chosen[0] = small_one(chosen, taken);
        return 1;
    }
    if (!request->at_most || taken <= request->at_most)
        return taken;
    for (size_t i = 0; i < taken; i++)
        if (is_sampled(i, taken, request->at_most))
            chosen[kept++] = chosen[i];
    return kept;
}

static size_t bytes_of(const struct zoo_instance *instance)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < instance->count; i++)
        bytes += zoo_buffer_bytes(&instance->buffer[i]) +
                 2 * sizeof(double) * instance->expected[i].count;
    return bytes;
}

static bool is_made(const struct zoo_instance *instance)
{
    return instance->problem.family != NULL;
}

/* One problem of one variant; true if the answer is right. */
static bool try_problem(struct session *session, const struct zoo_variant *variant,
                        const struct zoo_problem *problem, struct zoo_instance *instance,
                        struct zoo_kernels *kernels, char **message)
{
    if (!is_made(instance)) {
        if (!zoo_instance_make(instance, problem, true, message)) {
            *instance = (struct zoo_instance){0};
            return false;
        }
        instance->shift = session->request->shift;
        session->instance_bytes += bytes_of(instance);
    }
    bool fine = run_problem(session, instance, variant, kernels, message);
    if (session->instance_bytes > KEPT_BYTES) {
        session->instance_bytes -= bytes_of(instance);
        zoo_instance_free(instance);
        *instance = (struct zoo_instance){0};
    }
    return fine;
}

/* Every problem of one variant. */
static void run_variant(struct session *session, const struct zoo_family *family,
                        const struct zoo_variant *variant, const struct zoo_problem *problems,
                        size_t count)
{
    session->trials = lk_realloc(session->trials, (session->count + 1) * sizeof *session->trials);
    struct zoo_trial *trial = &session->trials[session->count++];
    *trial = (struct zoo_trial){.family = family, .variant = variant};
    struct zoo_kernels *kernels = NULL;
    char *message = NULL, *ptx = NULL;
    if (!session->cpu) {
        if (read_ptx(session, family, variant, &ptx, &message))
            kernels = zoo_kernels_load(&session->device, family, variant, ptx, NULL, &message);
        free(ptx);
        if (!kernels) {
            trial->failed = 1;
            trial->message = message;
            goto out;
        }
    }
    const struct zoo_problem **chosen = lk_alloc((count + 1) * sizeof *chosen);
    count = choose_for_variant(session, variant, problems, count, chosen);
    for (size_t i = 0; i < count; i++) {
        message = NULL;
        bool fine = try_problem(session, variant, chosen[i],
                                &session->instances[chosen[i] - problems], kernels, &message);
        note_result(session, trial, chosen[i], fine, message);
    }
    free(chosen);
out:
    zoo_kernels_free(kernels);
    if (session->request->variant_done)
        session->request->variant_done(session->request->context, trial);
}

static struct zoo_problem *choose_problems(const struct zoo_trial_request *request,
                                           const struct zoo_family *family, size_t *count,
                                           char **message)
{
    char *why = NULL;
    struct zoo_problem *problems =
        request->problems ? zoo_problems(family, request->problems, count, &why)
        : request->edges  ? zoo_problem_list(family, family->edges, count, &why)
                          : zoo_problems(family, family->profile, count, &why);
    if (!problems)
        *message = lk_format("%s: %s", family->name, why);
    free(why);
    return problems;
}

static bool run_family(struct session *session, const struct zoo_family *family,
                       const struct zoo_variant *only, char **message)
{
    size_t count;
    struct zoo_problem *problems = choose_problems(session->request, family, &count, message);
    if (!problems)
        return false;
    session->instances = lk_alloc_zeroed((count + 1) * sizeof *session->instances);
    session->instance_bytes = 0;
    for (const struct zoo_variant *variant = family->variants; variant->name; variant++) {
        const struct zoo_source *source = zoo_source(family, variant);
        bool here = session->cpu ? variant->cpu != NULL
                                 : source && zoo_runs_on(source, session->device.arch);
        if (only ? variant == only : here)
            run_variant(session, family, variant, problems, count);
    }
    for (size_t i = 0; i < count; i++)
        if (is_made(&session->instances[i]))
            zoo_instance_free(&session->instances[i]);
    free(session->instances);
    free(problems);
    return true;
}

bool zoo_try(const struct zoo_trial_request *request, const char *gpu, struct zoo_trial **trials,
             size_t *count, char **message)
{
    struct session session = {.request = request, .cpu = strcmp(gpu, "cpu") == 0};
    const struct lk_list *names = request->names;
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    bool fine = true;
    *message = NULL;
    for (size_t i = 0; i < names->count && fine; i++)
        fine = zoo_find(names->items[i], &family, &variant, message);
    fine = fine && (session.cpu || zoo_device_open(gpu, &session.device, message));
    for (size_t i = 0; names->count == 0 && zoo_families[i] && fine; i++)
        fine = run_family(&session, zoo_families[i], NULL, message);
    for (size_t i = 0; i < names->count && fine; i++)
        fine = zoo_find(names->items[i], &family, &variant, message) &&
               run_family(&session, family, variant, message);
    *trials = session.trials;
    *count = session.count;
    return fine;
}

void zoo_trials_free(struct zoo_trial *trials, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(trials[i].message);
    free(trials);
}
