/*
 * problem.c: one problem: which contestants take part, which are right, how long each takes.
 */
#include "bench/contest.h"

#include "report/report.h"

#include <stdlib.h>
#include <string.h>

#define SLOW_REFERENCE_FLOPS 5e9
#define SLOW_REFERENCE_BYTES 17.2e9
#define SIMULATED_BYTES_MAX 1e9
#define SIMULATED_FLOPS_MAX SLOW_REFERENCE_FLOPS /* what is timed is what was compared */

/* Results ---------------------------------------------------------------------------------------*/

struct bench_entry *bench_result_add(struct bench_result *result, const char *name, bool peer)
{
    result->entries = lk_realloc(result->entries, (result->count + 1) * sizeof *result->entries);
    struct bench_entry *entry = &result->entries[result->count++];
    *entry = (struct bench_entry){.name = name, .peer = peer, .launches = 1};
    return entry;
}

void bench_remark(struct bench_result *result, const char *format, ...)
{
    struct lk_buf text = {0};
    va_list arguments;
    if (result->remarks)
        lk_buf_printf(&text, "%s\n", result->remarks);
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    free(result->remarks);
    result->remarks = text.data;
}

/* A GPU without such a unit does the work in f32. */
double bench_peak(const struct gpu_info *gpu, const char *unit)
{
    double peak = report_peak(gpu, unit);
    return peak > 0 ? peak : gpu->f32_tflops;
}

void bench_entry_finish(const struct bench_place *place, const struct bench_result *result,
                        struct bench_entry *entry)
{
    double seconds = entry->time.median;
    if (entry->state != BENCH_MEASURED || !(seconds > 0))
        return;
    entry->gb_s = result->bytes / seconds / 1e9;
    entry->gflop_s = result->flops / seconds / 1e9;
    if (place->copy_gb_s > 0)
        entry->copy_roof = entry->gb_s / place->copy_gb_s;
    if (!place->info)
        return;
    struct report_roofline roofline = report_roofline(
        place->info, result->bytes, result->flops, seconds, bench_peak(place->info, result->unit));
    entry->roof = roofline.fraction;
    if (!roofline.memory_bound) /* a copy's bandwidth means nothing then */
        entry->copy_roof = roofline.fraction;
}

void bench_result_free(struct bench_result *result)
{
    for (size_t i = 0; i < result->count; i++) {
        free(result->entries[i].message);
        free(result->entries[i].version);
    }
    free(result->entries);
    free(result->text);
    free(result->verified_on);
    free(result->remarks);
    *result = (struct bench_result){0};
}

bool bench_reference_is_slow(const struct zoo_problem *problem)
{
    const struct zoo_family *family = problem->family;
    return family->flops(problem) > SLOW_REFERENCE_FLOPS ||
           family->bytes(problem) > SLOW_REFERENCE_BYTES;
}

/* Contestants -----------------------------------------------------------------------------------*/

/* What belongs to one problem while it is measured. */
struct contest {
    struct bench_session *session;
    const struct bench_request *request;
    struct bench_result *result;
    struct bench_entrant *entrants;
    size_t count;
    struct zoo_instance instance;
    struct bench_slab slab;
    bool inputs_written; /* on the slab that results are compared on */
};

static void add_entrant(struct contest *contest, const struct zoo_variant *variant,
                        const struct zoo_peer *peer)
{
    contest->entrants =
        lk_realloc(contest->entrants, (contest->count + 1) * sizeof *contest->entrants);
    contest->entrants[contest->count++] = (struct bench_entrant){
        .variant = variant, .peer = peer, .python = peer && peer->kind == ZOO_PEER_PYTHON};
    bench_result_add(contest->result, variant ? variant->name : peer->name, peer != NULL);
}

static void find_entrants(struct contest *contest)
{
    const struct bench_request *request = contest->request;
    const struct zoo_family *family = request->problem.family;
    for (const struct zoo_variant *variant = family->variants; variant->name; variant++) {
        const struct zoo_source *source = zoo_source(family, variant);
        bool here = source && zoo_runs_on(source, contest->session->device.arch) &&
                    zoo_takes(variant, &request->problem);
        bool chosen = request->chosen >> (variant - family->variants) & 1;
        if (request->variants && (request->chosen ? chosen : here))
            add_entrant(contest, variant, NULL);
    }
    bool peers = request->peers && contest->session->timed;
    for (const struct zoo_peer *peer = family->peers; peers && peer && peer->name; peer++)
        if (!peer->takes || peer->takes(&request->problem))
            add_entrant(contest, NULL, peer);
    /* The entries have stopped moving. */
    for (size_t i = 0; i < contest->count; i++)
        contest->entrants[i].entry = &contest->result->entries[i];
}

static void load_variant(struct contest *contest, struct bench_entrant *entrant)
{
    const struct zoo_family *family = contest->request->problem.family;
    char *message = NULL;
    if (!zoo_takes(entrant->variant, &contest->request->problem)) {
        bench_entrant_fail(entrant, BENCH_SKIPPED, lk_format("it does not take this problem"));
        return;
    }
    struct zoo_tuning tuning = zoo_tuning_at_launch(&contest->session->table, entrant->variant,
                                                    &contest->request->problem);
    entrant->kernels = zoo_kernels_load(&contest->session->device, family, entrant->variant, NULL,
                                        &tuning, &message);
    if (!entrant->kernels)
        bench_entrant_fail(entrant, BENCH_SKIPPED, message);
    else if (!zoo_fits(&contest->session->device, entrant->variant, &tuning,
                       &contest->request->problem))
        bench_entrant_fail(entrant, BENCH_SKIPPED, lk_format("this GPU has too little for it"));
    const struct zoo_source *source = zoo_source(family, entrant->variant);
    entrant->entry->lines = source ? (int)source->lines : 0;
}

static void load_peer(struct contest *contest, struct bench_entrant *entrant)
{
    struct bench_session *session = contest->session;
    char *message = NULL;
    if (entrant->python) {
        if (!session->torch && !session->no_torch)
            session->torch = bench_torch_start(&session->device, &session->no_torch);
        if (!session->torch)
            bench_entrant_fail(
                entrant, BENCH_SKIPPED,
                lk_format("%s", session->no_torch ? session->no_torch : "it did not start"));
        else
            entrant->entry->version = strdup(bench_torch_version(session->torch));
        return;
    }
    if (!bench_peer_load(session, contest->request->problem.family, entrant->peer, &entrant->code,
                         &message)) {
        bench_entrant_fail(entrant, BENCH_SKIPPED, message);
        return;
    }
    const char *version = entrant->code.version ? entrant->code.version() : NULL;
    entrant->entry->version = version ? strdup(version) : NULL;
}

/* Points the entrant at an instance on the slab, with a workspace for it. */
static bool set_up(struct contest *contest, struct bench_entrant *entrant,
                   const struct zoo_instance *instance, const struct bench_slab *slab)
{
    struct bench_session *session = contest->session;
    const struct lk_driver *cuda = session->device.cuda;
    if (entrant->workspace)
        cuda->cuMemFree_v2(entrant->workspace);
    entrant->workspace = 0;
    entrant->call = (struct zoo_call){.problem = &instance->problem,
                                      .device = &session->device,
                                      .kernels = entrant->kernels,
                                      .stream = session->stream};
    entrant->peer_call = (struct lk_peer_call){.stream = session->stream};
    for (unsigned i = 0; i < slab->count; i++) {
        entrant->call.buffer[i] = bench_slab_buffer(slab, 0, i);
        entrant->peer_call.buffer[i] = (void *)(uintptr_t)bench_slab_buffer(slab, 0, i);
    }
    for (unsigned i = 0; i < 8 && i < ZOO_PARAMETERS; i++)
        entrant->peer_call.value[i] = instance->problem.value[i];
    size_t bytes = entrant->variant && entrant->variant->workspace
                       ? entrant->variant->workspace(&entrant->call)
                   : entrant->code.workspace ? entrant->code.workspace(&entrant->peer_call)
                                             : 0;
    entrant->entry->workspace_bytes = bytes;
    entrant->peer_call.workspace_bytes = bytes;
    if (bytes == 0)
        return true;
    CUresult status = cuda->cuMemAlloc_v2(&entrant->workspace, bytes + ZOO_GUARD);
    if (status != CUDA_SUCCESS) {
        entrant->workspace = 0;
        bench_entrant_fail(
            entrant, BENCH_SKIPPED,
            lk_format("a workspace of %zu MiB: %s", bytes >> 20, zoo_error(cuda, status)));
        return false;
    }
    entrant->call.workspace = entrant->workspace;
    entrant->peer_call.workspace = (void *)(uintptr_t)entrant->workspace;
    return true;
}

/* Is it right? ----------------------------------------------------------------------------------*/

/* The first launch, between two events: on a simulated GPU that is its time already. */
static bool launch_once(struct contest *contest, struct bench_entrant *entrant,
                        const struct bench_slab *slab)
{
    struct bench_session *session = contest->session;
    const struct lk_driver *cuda = session->device.cuda;
    CUevent begin = NULL, end = NULL;
    float ms = 0;
    CUresult status = cuda->cuEventCreate(&begin, 0);
    if (status == CUDA_SUCCESS)
        status = cuda->cuEventCreate(&end, 0);
    if (status == CUDA_SUCCESS)
        status = cuda->cuEventRecord(begin, session->stream);
    bool launched = status == CUDA_SUCCESS && bench_entrant_launch(session, entrant, slab, 0);
    if (launched)
        status = cuda->cuEventRecord(end, session->stream);
    if (launched && status == CUDA_SUCCESS)
        status = cuda->cuStreamSynchronize(session->stream);
    if (launched && status == CUDA_SUCCESS)
        status = cuda->cuEventElapsedTime(&ms, begin, end);
    if (status != CUDA_SUCCESS)
        bench_entrant_fail(entrant, BENCH_WRONG,
                           lk_format("it did not run: %s", zoo_error(cuda, status)));
    entrant->estimate = ms * 1e-3;
    if (begin)
        cuda->cuEventDestroy_v2(begin);
    if (end)
        cuda->cuEventDestroy_v2(end);
    session->dead = session->dead || cuda->cuCtxSynchronize() != CUDA_SUCCESS;
    return launched && status == CUDA_SUCCESS;
}

static bool run_python(struct contest *contest, struct bench_entrant *entrant,
                       const struct zoo_instance *instance, const struct bench_slab *slab)
{
    struct bench_torch *torch = contest->session->torch;
    char *message = NULL;
    bool fine = bench_torch_enter(torch, entrant->peer, instance, slab, &message) &&
                bench_torch_check(torch, &message);
    bench_torch_leave(torch);
    if (!fine)
        bench_entrant_fail(entrant, BENCH_SKIPPED, message);
    return fine;
}

static void verify(struct contest *contest, struct bench_entrant *entrant,
                   const struct zoo_instance *instance, const struct bench_slab *slab)
{
    const struct lk_driver *cuda = contest->session->device.cuda;
    char *message = NULL;
    bool takes = entrant->variant
                     ? zoo_takes(entrant->variant, &instance->problem)
                     : !entrant->peer->takes || entrant->peer->takes(&instance->problem);
    if (!takes) {
        bench_entrant_fail(entrant, BENCH_SKIPPED,
                           lk_format("the reference is too slow here, and it does not take the "
                                     "smaller problem"));
        return;
    }
    if (!set_up(contest, entrant, instance, slab))
        return;
    struct zoo_run run = {.instance = instance,
                          .variant = entrant->variant,
                          .call = entrant->call,
                          .workspace_bytes = entrant->entry->workspace_bytes};
    CUresult status = contest->inputs_written ? zoo_run_reset_outputs(&run) : zoo_run_reset(&run);
    if (status == CUDA_SUCCESS)
        status = cuda->cuCtxSynchronize();
    if (status != CUDA_SUCCESS) {
        contest->session->dead = true;
        bench_entrant_fail(entrant, BENCH_WRONG,
                           lk_format("its input cannot be written: %s", zoo_error(cuda, status)));
        return;
    }
    contest->inputs_written = true;
    bool ran = entrant->python ? run_python(contest, entrant, instance, slab)
                               : launch_once(contest, entrant, slab);
    bool draws = entrant->peer && entrant->peer->draws;
    run.leeway = entrant->peer ? entrant->peer->leeway : 0;
    if (ran && !draws && !zoo_run_verify(&run, &message))
        bench_entrant_fail(entrant, BENCH_WRONG, message);
    if (entrant->entry->state == BENCH_WRONG) /* it may have spoilt the inputs */
        contest->inputs_written = false;
}

/* Of all its kernels the most. */
static void count_registers(struct bench_entrant *entrant)
{
    const char *name;
    int registers;
    for (unsigned i = 0; entrant->variant && entrant->kernels; i++) {
        if (zoo_kernel_attribute(&entrant->call, i, CU_FUNC_ATTRIBUTE_NUM_REGS, &name,
                                 &registers) != CUDA_SUCCESS)
            return;
        if (registers > entrant->entry->registers)
            entrant->entry->registers = registers;
    }
}

/* Loads all entrants and compares them with the reference on this instance. */
static void verify_all(struct contest *contest, const struct zoo_instance *instance,
                       const struct bench_slab *slab)
{
    const struct bench_host *host = &contest->session->host;
    contest->inputs_written = false;
    for (size_t i = 0; i < contest->count && !contest->session->dead; i++) {
        struct bench_entrant *entrant = &contest->entrants[i];
        if (host->progress)
            host->progress(host->context, entrant->entry->name, 0);
        if (entrant->variant)
            load_variant(contest, entrant);
        else
            load_peer(contest, entrant);
        if (entrant->entry->state != BENCH_MEASURED)
            continue;
        verify(contest, entrant, instance, slab);
        count_registers(entrant);
    }
}

/* On the family's smaller problem. */
static bool verify_elsewhere(struct contest *contest, char **message)
{
    const struct zoo_family *family = contest->request->problem.family;
    struct lk_buf text = {0};
    struct zoo_instance instance;
    struct bench_slab slab;
    size_t count;
    struct zoo_problem *problems = zoo_problems(family, family->profile, &count, message);
    if (!problems)
        return false;
    struct zoo_problem problem = problems[0];
    free(problems);
    /* All but the sizes as in the problem itself: types and operations are words. */
    for (size_t i = 0; family->parameters[i].name; i++)
        if (family->parameters[i].words)
            problem.value[i] = contest->request->problem.value[i];
    problem.distribution = contest->request->problem.distribution;
    if (!zoo_instance_make(&instance, &problem, true, message))
        return false;
    bool fine = bench_slab_open(&slab, &contest->session->device, &instance, 0, message);
    if (fine)
        verify_all(contest, &instance, &slab);
    contest->inputs_written = false; /* the problem's own come to another slab */
    bench_slab_close(&slab, &contest->session->device);
    zoo_instance_free(&instance);
    zoo_problem_print(&problem, &text);
    contest->result->verified_on = text.data;
    return fine;
}

/* How long does it take? ------------------------------------------------------------------------*/

static void take_modelled(struct contest *contest)
{
    for (size_t i = 0; i < contest->count; i++)
        if (contest->entrants[i].entry->state == BENCH_MEASURED) {
            bench_entrant_add(&contest->entrants[i], contest->entrants[i].estimate, 0);
            contest->entrants[i].entry->method = BENCH_MODEL;
        }
}

/* The problem's own data in every copy, and all entrants pointed there. */
static bool fill_slab(struct contest *contest, char **message)
{
    struct bench_session *session = contest->session;
    const struct zoo_device *device = &session->device;
    struct zoo_run run = {.instance = &contest->instance, .call = {.device = device}};
    for (unsigned i = 0; i < contest->slab.count; i++)
        run.call.buffer[i] = bench_slab_buffer(&contest->slab, 0, i);
    CUresult status = contest->inputs_written ? zoo_run_reset_outputs(&run) : zoo_run_reset(&run);
    if (status == CUDA_SUCCESS)
        status = device->cuda->cuCtxSynchronize();
    if (status == CUDA_SUCCESS)
        status = bench_slab_spread(&contest->slab, device, session->stream);
    if (status != CUDA_SUCCESS) {
        session->dead = true;
        *message = lk_format("the inputs cannot be written: %s", zoo_error(device->cuda, status));
        return false;
    }
    for (size_t i = 0; i < contest->count; i++)
        if (contest->entrants[i].entry->state == BENCH_MEASURED)
            set_up(contest, &contest->entrants[i], &contest->instance, &contest->slab);
    return true;
}

static bool measure(struct contest *contest, char **message)
{
    struct bench_session *session = contest->session;
    struct bench_entrant *python = NULL;
    if (!fill_slab(contest, message))
        return false;
    for (size_t i = 0; i < contest->count; i++)
        if (contest->entrants[i].python && contest->entrants[i].entry->state == BENCH_MEASURED) {
            char *why = NULL;
            struct bench_entrant *entrant = &contest->entrants[i];
            if (python) /* the bridge has one expression at a time */
                bench_entrant_fail(entrant, BENCH_SKIPPED, lk_format("one of PyTorch is enough"));
            else if (!bench_torch_enter(session->torch, entrant->peer, &contest->instance,
                                        &contest->slab, &why))
                bench_entrant_fail(entrant, BENCH_SKIPPED, why);
            else
                python = entrant;
        }
    bool fine = bench_time(session, contest->entrants, contest->count, &contest->slab,
                           contest->request->seconds, contest->result, message);
    if (python)
        bench_torch_leave(session->torch);
    return fine;
}

static bool run_contest(struct contest *contest, char **message)
{
    struct bench_session *session = contest->session;
    bool elsewhere = bench_reference_is_slow(&contest->request->problem);
    size_t wanted = session->timed ? 2 * session->l2_bytes : 0;
    if (!zoo_instance_make(&contest->instance, &contest->request->problem, !elsewhere, message))
        return false;
    if (elsewhere && !verify_elsewhere(contest, message))
        return false;
    if (!bench_slab_open(&contest->slab, &session->device, &contest->instance, wanted, message))
        return false;
    contest->result->copies = contest->slab.copies;
    contest->result->buffer_bytes = contest->slab.stride;
    if (!elsewhere)
        verify_all(contest, &contest->instance, &contest->slab);
    if (session->dead)
        return true;
    if (session->timed)
        return measure(contest, message);
    take_modelled(contest);
    return true;
}

static void finish(struct contest *contest)
{
    struct bench_session *session = contest->session;
    for (size_t i = 0; i < contest->count; i++) {
        struct bench_entrant *entrant = &contest->entrants[i];
        entrant->entry->time = bench_summarise(entrant->samples, entrant->count);
        if (entrant->entry->state == BENCH_MEASURED && entrant->count == 0)
            bench_entrant_fail(entrant, BENCH_SKIPPED,
                               lk_format(session->dead ? "the GPU had stopped before"
                                                       : "there was no time for it"));
        bench_entry_finish(&session->place, contest->result, entrant->entry);
        if (entrant->workspace)
            session->device.cuda->cuMemFree_v2(entrant->workspace);
        zoo_kernels_free(entrant->kernels);
        free(entrant->samples);
        free(entrant->clocks);
    }
    free(contest->entrants);
    bench_slab_close(&contest->slab, &session->device);
    zoo_instance_free(&contest->instance);
}

static bool fits(const struct bench_session *session, const struct zoo_problem *problem,
                 char **message)
{
    struct zoo_buffer buffers[ZOO_BUFFERS];
    unsigned count = problem->family->shape(problem, buffers);
    double bytes = 0, memory = (double)session->device.memory_bytes;
    for (unsigned i = 0; i < count; i++)
        bytes += (double)buffers[i].count * zoo_type_bytes[buffers[i].type];
    if (session->device.cuda && bytes > 0.9 * memory) {
        *message = lk_format("its buffers take %.3g GB and %s has %.3g GB", bytes / 1e9,
                             session->device.name, memory / 1e9);
        return false;
    }
    double flops = problem->family->flops(problem);
    if (session->place.modelled && (bytes > SIMULATED_BYTES_MAX || flops > SIMULATED_FLOPS_MAX)) {
        *message = lk_format("%.3g bytes and %.3g operations would take too long on a simulated "
                             "GPU; the limits are %.0e bytes and %.0e operations",
                             bytes, flops, SIMULATED_BYTES_MAX, SIMULATED_FLOPS_MAX);
        return false;
    }
    return true;
}

bool bench_problem(struct bench_session *session, const struct bench_request *request,
                   struct bench_result *result, char **message)
{
    const struct zoo_problem *problem = &request->problem;
    struct lk_buf text = {0};
    *message = NULL;
    zoo_problem_print(problem, &text);
    *result = (struct bench_result){.family = problem->family,
                                    .problem = *problem,
                                    .text = text.data,
                                    .bytes = problem->family->bytes(problem),
                                    .flops = problem->family->flops(problem),
                                    .unit = problem->family->unit ? problem->family->unit(problem)
                                                                  : "f32",
                                    .copies = 1};
    if (!fits(session, problem, message))
        return false;
    if (!session->device.cuda)
        return bench_problem_cpu(session, request, result, message);
    struct contest contest = {.session = session, .request = request, .result = result};
    find_entrants(&contest);
    bool fine = contest.count == 0 || run_contest(&contest, message);
    finish(&contest);
    return fine;
}
