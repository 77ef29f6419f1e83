/*
 * worker_host.c: the worker's part for exercises with NumPy or CuPy. Inputs go into files, Python
 * calls the learner's function for every size (python/lockstep/run_exercise.py), and what it
 * returns is compared as a kernel's outputs are. NumPy runs on this computer's processor. What CuPy
 * does runs on the simulated GPU; launches, copies and counters are those of the measured size.
 */
#include "learn/worker.h"

#include "gpu/counters.h"
#include "host/child.h"
#include "host/files.h"
#include "learn/problem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECONDS = 3600, MIB = 3072 }; /* the grader's own limit on time ends it earlier */

struct host_job {
    struct lk_arena *arena;
    const struct learn_exercise *exercise;
    const char *folder, *gpu;
    struct zoo_instance instance[LEARN_ALL_SIZES];
    unsigned made; /* instances */
    char **message;
};

/* The request -----------------------------------------------------------------------------------*/

static const char *buffer_file(const struct host_job *job, unsigned size, unsigned buffer,
                               const char *end)
{
    return lk_arena_printf(job->arena, "%s/%u_%u.%s", job->folder, size, buffer, end);
}

static json_t *buffer_json(const struct host_job *job, unsigned size, unsigned b, const char *file)
{
    const struct learn_problem *problem = &job->exercise->problem;
    struct expression_state state = {0};
    json_t *shape = json_array();
    memcpy(state.variable, problem->value[size], sizeof state.variable);
    for (unsigned i = 0; i < problem->buffer[b].rank; i++)
        json_array_append_new(
            shape, json_integer((json_int_t)expression_eval(problem->buffer[b].extent[i], &state)));
    return json_pack("{ss ss ss so}", "name", problem->buffer[b].name, "file", file, "type",
                     zoo_type_names[problem->buffer[b].type], "shape", shape);
}

static json_t *argument_json(const struct host_job *job, unsigned size,
                             const struct learn_argument *argument)
{
    const struct learn_problem *problem = &job->exercise->problem;
    const struct zoo_instance *instance = &job->instance[size];
    struct expression_state state = {0};
    if (argument->kind == LEARN_BUFFER) {
        unsigned b = argument->buffer;
        const char *file = buffer_file(job, size, b, "in");
        return host_write_file(file, instance->host[b], zoo_buffer_bytes(&instance->buffer[b]),
                               job->message)
                   ? buffer_json(job, size, b, file)
                   : NULL;
    }
    memcpy(state.variable, problem->value[size], sizeof state.variable);
    double value = expression_eval(argument->value, &state);
    bool whole = argument->kind == LEARN_INT || argument->kind == LEARN_LONG;
    return json_pack("{so}", "value", whole ? json_integer((json_int_t)value) : json_real(value));
}

static json_t *size_json(struct host_job *job, unsigned size)
{
    const struct learn_exercise *exercise = job->exercise;
    json_t *arguments = json_array(), *outputs = json_array();
    for (unsigned i = 0; i < exercise->argument_count && !*job->message; i++)
        json_array_append_new(arguments, argument_json(job, size, &exercise->argument[i]));
    for (unsigned b = 0; b < exercise->problem.buffer_count; b++)
        if (exercise->problem.buffer[b].role != ZOO_IN)
            json_array_append_new(outputs,
                                  buffer_json(job, size, b, buffer_file(job, size, b, "out")));
    return json_pack("{ss so so}", "size", exercise->problem.size[size], "arguments", arguments,
                     "outputs", outputs);
}

static json_t *all_sizes(struct host_job *job)
{
    const struct learn_problem *problem = &job->exercise->problem;
    json_t *sizes = json_array();
    for (unsigned i = 0; i < problem->size_count && !*job->message; i++) {
        if (!problem_make(problem, i, &job->instance[i], job->message))
            break;
        job->made++;
        json_array_append_new(sizes, size_json(job, i));
    }
    return sizes;
}

/* Python ----------------------------------------------------------------------------------------*/

/* Runs the script on request. counters: NULL, or the file that 'lockstep profile' writes. */
static bool run_python(const struct host_job *job, json_t *request, const char *name,
                       const char *counters)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = 0;
    const char *file = lk_arena_printf(job->arena, "%s/%s.json", job->folder, name);
    const char *python = json_string_value(json_object_get(request, "python"));
    const char *script = json_string_value(json_object_get(request, "script"));
    bool on_gpu = strcmp(job->exercise->package, "cupy") == 0;
    const char *const plain[] = {python, script, file, NULL};
    const char *const ours[] = {self, "run", "--gpu", job->gpu, script, file, NULL};
    const char *const watched[] = {self,     "profile", "--json", "--gpu",
                                   job->gpu, script,    file,     NULL};
    const char *const environment[] = {"LOCKSTEP_CHECK",
                                       "LOCKSTEP_CHECK_OWNERS",
                                       "LOCKSTEP_PROFILE",
                                       "LOCKSTEP_TRACE",
                                       "LOCKSTEP_REPLAY",
                                       "LOCKSTEP_GPU",
                                       lk_arena_printf(job->arena, "LOCKSTEP_PYTHON=%s", python),
                                       NULL};
    struct host_command command = {.words = counters ? watched
                                            : on_gpu ? ours
                                                     : plain,
                                   .environment = environment,
                                   .output = counters,
                                   .errors = counters ? "/dev/null" : NULL};
    struct host_limits limits = {.seconds = SECONDS, .mib = MIB, .reserves = true};
    int status = 0;
    if (json_dump_file(request, file, 0) != 0) {
        *job->message = lk_format("%s: cannot be written", file);
        return false;
    }
    enum host_end how = host_run_limited(&command, &limits, &status);
    if (how == HOST_TOO_BIG)
        *job->message = lk_format("Python was stopped: it uses more than %d MiB of memory", MIB);
    else if (how == HOST_TOO_LOUD && counters)
        *job->message = lk_format("the function launches so many kernels and copies that they "
                                  "cannot be counted: do the work in a few calls, without a loop");
    else if (how != HOST_ENDED || (status != 0 && !counters)) /* profile: 1 without a kernel */
        *job->message = lk_format("Python ended before the function did (status %d)", status);
    return !*job->message;
}

/* Results ---------------------------------------------------------------------------------------*/

/* Reads what the function returned, and compares. */
static void verify(struct host_job *job, unsigned size, json_t *row)
{
    const struct learn_problem *problem = &job->exercise->problem;
    struct zoo_instance *instance = &job->instance[size];
    void *result[ZOO_BUFFERS] = {0};
    struct lk_buf wrong = {0}, content[ZOO_BUFFERS] = {{0}};
    for (unsigned b = 0; b < problem->buffer_count; b++) {
        result[b] = instance->host[b];
        if (problem->buffer[b].role == ZOO_IN)
            continue;
        if (!host_read_file(buffer_file(job, size, b, "out"), &content[b], job->message) ||
            content[b].size != zoo_buffer_bytes(&instance->buffer[b]))
            *job->message = *job->message ? *job->message : lk_format("an output is incomplete");
        result[b] = content[b].data;
    }
    if (!*job->message && !problem_verify(problem, size, instance, result, &wrong))
        json_object_set_new(row, "wrong", json_string(wrong.data));
    for (unsigned b = 0; b < problem->buffer_count; b++)
        lk_buf_free(&content[b]);
    lk_buf_free(&wrong);
}

static void put_counter(json_t *counters, const char *name, double value)
{
    json_object_set_new(counters, name, json_pack("{sf si}", "value", value, "line", 0));
}

/* From what 'lockstep profile --json' printed: operations and bytes of the timeline, and the
 * counters of all kernels together. */
static void read_profile(const char *path, json_t *counters)
{
    json_t *profile = json_load_file(path, 0, NULL), *kernel;
    json_t *timeline = json_array_get(json_object_get(profile, "timelines"), 0);
    json_t *engines = json_object_get(timeline, "engines");
    static const struct {
        const char *name, *engine, *field;
    } from[] = {{"launches", "compute", "operations"},
                {"copies_to_gpu", "copy_to", "operations"},
                {"copies_to_host", "copy_from", "operations"},
                {"bytes_to_gpu", "copy_to", "bytes"},
                {"bytes_to_host", "copy_from", "bytes"}};
    size_t i;
    for (i = 0; i < sizeof from / sizeof *from; i++)
        put_counter(counters, from[i].name,
                    json_number_value(
                        json_object_get(json_object_get(engines, from[i].engine), from[i].field)));
    for (unsigned c = 0; c < gpu_counter_count; c++) {
        const struct gpu_counter_info *info = &gpu_counter_infos[c];
        double sum = 0;
        json_array_foreach(json_object_get(profile, "kernels"), i, kernel)
        {
            json_t *all = json_object_get(kernel, "counters");
            sum += json_number_value(json_object_get(all, *info->ncu ? info->ncu : info->name));
        }
        put_counter(counters, info->name, sum);
    }
    json_decref(profile);
}

/* Once more, with the measured size alone; what it returns is compared again, since a function can
 * tell that it is called for the first time. */
static void count_on_gpu(struct host_job *job, json_t *request, json_t *counters, json_t *row)
{
    unsigned measured = job->exercise->problem.measured;
    const char *path = lk_arena_printf(job->arena, "%s/counters.json", job->folder);
    json_t *sizes = json_object_get(request, "sizes"), *one = json_array();
    json_array_append(one, json_array_get(sizes, job->exercise->problem.measured));
    json_object_set_new(request, "sizes", one);
    json_object_set_new(request, "counts_lines", json_false());
    for (unsigned b = 0; b < job->exercise->problem.buffer_count; b++)
        (void)remove(buffer_file(job, measured, b, "out"));
    if (!run_python(job, request, "measured", path))
        return;
    read_profile(path, counters);
    json_t *answer = json_load_file(json_string_value(json_object_get(request, "answer")), 0, NULL);
    json_t *again = json_array_get(json_object_get(answer, "sizes"), 0);
    json_object_set(counters, "bytes_let_through",
                    json_object_get(json_object_get(answer, "counters"), "bytes_let_through"));
    if (json_is_string(json_object_get(again, "fault")))
        json_object_set(row, "fault", json_object_get(again, "fault"));
    else
        verify(job, measured, row);
    json_decref(answer);
}

/* CuPy sends short lists of its own, such as indices. */
#define OTHER_BYTES 4096

static double counted(const json_t *counters, const char *name)
{
    return json_number_value(json_object_get(json_object_get(counters, name), "value"));
}

/* Was the work done where the exercise wants it? A result from the CPU would keep every limit. */
static void check_traffic(struct host_job *job, json_t *counters, json_t *row)
{
    const struct learn_exercise *exercise = job->exercise;
    const struct zoo_instance *instance = &job->instance[exercise->problem.measured];
    double given = 0, returned = 0;
    for (unsigned i = 0; i < exercise->argument_count; i++)
        if (exercise->argument[i].kind == LEARN_BUFFER &&
            instance->buffer[exercise->argument[i].buffer].count > 32) /* less may be a constant */
            given += (double)zoo_buffer_bytes(&instance->buffer[exercise->argument[i].buffer]);
    for (unsigned b = 0; b < instance->count; b++)
        if (instance->buffer[b].role != ZOO_IN)
            returned += (double)zoo_buffer_bytes(&instance->buffer[b]);
    double to = counted(counters, "bytes_to_gpu"), from = counted(counters, "bytes_to_host");
    double known = counted(counters, "bytes_let_through");
    if (to > known + OTHER_BYTES)
        json_object_set_new(
            row, "fault",
            json_sprintf("%.0f bytes went to the GPU that are no inputs: let the GPU compute them",
                         to - known));
    else if (to < given || from < returned)
        json_object_set_new(
            row, "fault",
            json_sprintf("this is to be done on the GPU: of the %s' %.0f bytes only %.0f %s",
                         to < given ? "inputs" : "results", to < given ? given : returned,
                         to < given ? to : from,
                         to < given ? "went to the GPU" : "came back from the GPU"));
}

static void run_all(struct host_job *job, json_t *request, json_t *result)
{
    const char *path = lk_arena_printf(job->arena, "%s/answer.json", job->folder);
    json_t *rows = json_object_get(result, "sizes"), *row;
    size_t i;
    json_object_set_new(request, "sizes", all_sizes(job));
    json_object_set_new(request, "measured", json_integer(job->exercise->problem.measured));
    json_object_set_new(request, "answer", json_string(path));
    json_object_set_new(request, "counts_lines", json_true());
    if (*job->message || !run_python(job, request, "run", NULL))
        return;
    json_t *answer = json_load_file(path, 0, NULL);
    bool right = answer != NULL;
    json_array_foreach(json_object_get(answer, "sizes"), i, row)
    {
        json_array_append(rows, row);
        if (!json_is_string(json_object_get(row, "fault")))
            verify(job, (unsigned)i, row);
        right = right && !json_is_string(json_object_get(row, "fault")) &&
                !json_object_get(row, "wrong");
    }
    json_object_set(result, "counters", json_object_get(answer, "counters"));
    json_decref(answer);
    if (right && strcmp(job->exercise->package, "cupy") == 0)
        count_on_gpu(job, request, json_object_get(result, "counters"),
                     json_array_get(rows, job->exercise->problem.measured));
    if (right && !*job->message && strcmp(job->exercise->package, "cupy") == 0)
        check_traffic(job, json_object_get(result, "counters"),
                      json_array_get(rows, job->exercise->problem.measured));
}

void worker_run_host(const struct learn_exercise *exercise, const struct learn_worker_files *files,
                     json_t *result, char **message)
{
    struct host_job job = {
        .arena = lk_arena_create(), .exercise = exercise, .gpu = files->gpu, .message = message};
    const char *slash = strrchr(files->ptx, '/');
    job.folder =
        lk_arena_printf(job.arena, "%.*s", (int)(slash ? slash - files->ptx : 0), files->ptx);
    json_t *request =
        json_load_file(lk_arena_printf(job.arena, "%s/request.json", job.folder), 0, NULL);
    if (request)
        run_all(&job, request, result);
    else
        *message = lk_format("%s/request.json: cannot be read", job.folder);
    for (unsigned i = 0; i < job.made; i++)
        zoo_instance_free(&job.instance[i]);
    json_decref(request);
    lk_arena_destroy(job.arena);
}
