/*
 * worker.c: runs a graded kernel on the simulated GPU, in a process of its own: the machine reads
 * LOCKSTEP_CHECK, LOCKSTEP_PROFILE and its limits from the environment when it starts, and a kernel
 * that takes the machine down takes only this process with it. On a real GPU it runs, and measures,
 * what has been found right here.
 *
 * The result is a JSON file: {"error": text or null, "name": of the GPU, "sizes": [{"size": ..,
 * "wrong": text or null, "fault": text or null, "us": measured}, ..]}. "error" is what kept the
 * kernel from being run at all.
 */
#include "learn/compile.h"

#include "host/demangle.h"
#include "host/files.h"
#include "learn/draw.h"
#include "learn/problem.h"
#include "learn/reader.h"
#include "learn/worker.h"
#include "ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

/* What ptxas refuses: bytes of __shared__ variables of a block, and of a thread's own arrays. */
enum { MOST_SHARED = 49152, MOST_LOCAL = 512 << 10 };

/* The kernel in the PTX -------------------------------------------------------------------------*/

/* Is it "add", or "add" as C++ mangles it, "_Z3addPKfS0_Pfi"? A demangler may not know the types of
 * the parameters (_Float16); the name comes before them. */
static bool is_name(const char *symbol, const char *kernel)
{
    char *rest;
    if (strncmp(symbol, "_Z", 2) == 0 && strtoul(symbol + 2, &rest, 10) == strlen(kernel) &&
        strncmp(rest, kernel, strlen(kernel)) == 0)
        return true;
    char *name = host_demangle_briefly(symbol);
    bool same = strcmp(name, kernel) == 0;
    free(name);
    return same;
}

static const struct ptx_function *find_entry(const struct ptx_module *module, const char *kernel)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i]->is_entry && is_name(module->functions[i]->name, kernel))
            return module->functions[i];
    return NULL;
}

static bool check_parameters(const struct learn_exercise *exercise,
                             const struct ptx_function *entry, char **message)
{
    struct lk_buf text = {0};
    unsigned count = exercise->argument_count;
    bool fits = entry->param_count == count + (exercise->is_python ? 2 : 0);
    for (unsigned i = 0; fits && i < count; i++)
        fits = entry->params[i].var &&
               entry->params[i].var->size == problem_argument_bytes(&exercise->argument[i]);
    if (fits)
        return true;
    lk_buf_printf(&text, "the kernel %s is called with (", exercise->kernel);
    for (unsigned i = 0; i < exercise->argument_count; i++)
        lk_buf_printf(&text, "%s%s", i ? ", " : "", exercise->argument[i].text);
    lk_buf_printf(&text, "); do not change its parameters");
    *message = text.data;
    return false;
}

/* The symbol of the exercise's kernel, malloc'd; NULL and a message if it is not there, or has
 * other parameters. */
static char *find_kernel(const struct learn_exercise *exercise, const char *ptx, char **message)
{
    char *symbol = NULL, *problem = NULL;
    struct ptx_module *module = ptx_parse("kernel.ptx", ptx, strlen(ptx), &problem);
    const struct ptx_function *entry = module ? find_entry(module, exercise->kernel) : NULL;
    if (!module)
        *message = lk_format("the kernel cannot be loaded: %s", problem);
    else if (!entry)
        *message =
            lk_format("there is no %s '%s%s' in the file", exercise->is_c ? "function" : "kernel",
                      exercise->is_python ? "def "
                      : exercise->is_c    ? "void "
                                          : "__global__ void ",
                      exercise->kernel);
    else if (check_parameters(exercise, entry, message))
        symbol = strdup(entry->name);
    ptx_free(module);
    free(problem);
    return symbol;
}

/* A kernel in Python may be two: see compile_python.c. */
struct loaded {
    struct zoo_device *device;
    CUfunction function, ragged;
    const struct compile_launch *own; /* NULL: not in Python */
    CUdeviceptr scratch;              /* of Triton's code; 0 if it needs none */
    size_t scratch_bytes;
};

static CUfunction choose(const struct loaded *loaded, const struct problem_launch *launch)
{
    return launch->is_ragged && loaded->ragged ? loaded->ragged : loaded->function;
}

/* Tiles may take more shared memory than a launch has without asking. */
static CUresult start(const struct loaded *loaded, const struct problem_launch *launch)
{
    const struct lk_driver *cuda = loaded->device->cuda;
    CUfunction function = choose(loaded, launch);
    if (launch->shared > MOST_SHARED) {
        CUresult status = cuda->cuFuncSetAttribute(
            function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)launch->shared);
        if (status != CUDA_SUCCESS)
            return status;
    }
    return problem_start(cuda, function, launch);
}

/* The checker takes it that allocations come in rows, a buffer after the other (check/owner.c). So
 * scratch memory is a row of its own. */
static CUresult give_scratch(const struct learn_exercise *exercise, struct loaded *loaded,
                             struct problem_launch *launch)
{
    CUdeviceptr rest;
    CUresult status = CUDA_SUCCESS;
    if (launch->scratch_bytes > loaded->scratch_bytes) {
        status = loaded->device->cuda->cuMemAlloc_v2(&loaded->scratch, launch->scratch_bytes);
        for (unsigned i = 1; i < exercise->problem.buffer_count && status == CUDA_SUCCESS; i++)
            status = loaded->device->cuda->cuMemAlloc_v2(&rest, 1);
        loaded->scratch_bytes = status == CUDA_SUCCESS ? launch->scratch_bytes : 0;
    }
    launch->scratch = loaded->scratch;
    return status;
}

/* Running ---------------------------------------------------------------------------------------*/

static const char *words_of(CUresult status, const struct zoo_device *device)
{
    if (status == CUDA_ERROR_LAUNCH_TIMEOUT)
        return "the kernel does not end: it was stopped. Is there an endless loop, or a barrier "
               "that not all threads reach?";
    return zoo_error(device->cuda, status);
}

static CUresult read_back(const struct zoo_run *run, void **result)
{
    const struct zoo_instance *instance = run->instance;
    CUresult status = CUDA_SUCCESS;
    for (unsigned i = 0; i < instance->count && status == CUDA_SUCCESS; i++) {
        size_t bytes = zoo_buffer_bytes(&instance->buffer[i]);
        result[i] = lk_alloc(bytes + 16);
        if (bytes)
            status = run->call.device->cuda->cuMemcpyDtoH_v2(result[i], run->call.buffer[i], bytes);
    }
    return status;
}

static void measure(const struct problem_timed *timed, json_t *row)
{
    double us;
    CUresult status = problem_measure(timed, &us);
    if (status == CUDA_SUCCESS)
        json_object_set_new(row, "us", json_real(us));
    else
        json_object_set_new(row, "fault", json_string(words_of(status, timed->run->call.device)));
}

/* Outputs hold bytes of 0xff at first (zoo_run_reset), in drawn sizes others: a kernel that goes by
 * what it finds there fails. */
static CUresult fill_outputs(const struct learn_problem *problem, unsigned size,
                             struct zoo_run *run)
{
    CUresult status = zoo_run_reset(run);
    const struct zoo_instance *instance = run->instance;
    for (unsigned i = 0; i < instance->count && status == CUDA_SUCCESS; i++)
        if (size >= problem->listed && instance->buffer[i].role == ZOO_OUT &&
            instance->buffer[i].count)
            status = run->call.device->cuda->cuMemsetD8_v2(run->call.buffer[i], PROBLEM_DRAWN_FILL,
                                                           zoo_buffer_bytes(&instance->buffer[i]));
    return status;
}

/* One size: launch and compare. False if nothing more can be run. */
static bool run_size(const struct learn_exercise *exercise, unsigned size, struct loaded *loaded,
                     json_t *sizes, char **message)
{
    struct zoo_device *device = loaded->device;
    static const struct zoo_variant none = {.name = "exercise"};
    struct zoo_instance instance;
    struct zoo_run run;
    struct problem_launch launch;
    struct lk_buf wrong = {0};
    void *result[ZOO_BUFFERS] = {0};
    json_t *row = json_pack("{ss sn sn}", "size", exercise->problem.size[size], "wrong", "fault");
    bool goes_on = false;
    json_array_append_new(sizes, row);
    if (!problem_make(&exercise->problem, size, &instance, message))
        return false;
    if (!zoo_run_open(&run, &instance, &none, device, NULL, NULL, message))
        goto free_instance;
    if (!problem_launch(device->cuda, exercise, size, loaded->own, run.call.buffer, &launch,
                        message))
        goto close_run;
    CUresult status = fill_outputs(&exercise->problem, size, &run);
    if (status == CUDA_SUCCESS)
        status = give_scratch(exercise, loaded, &launch);
    if (status == CUDA_SUCCESS)
        status = start(loaded, &launch);
    if (status == CUDA_SUCCESS)
        status = device->cuda->cuCtxSynchronize();
    if (status == CUDA_SUCCESS)
        status = read_back(&run, result);
    if (status != CUDA_SUCCESS) {
        json_object_set_new(row, "fault", json_string(words_of(status, device)));
    } else {
        goes_on = true;
        if (!problem_verify(&exercise->problem, size, &instance, result, &wrong))
            json_object_set_new(row, "wrong", json_string(wrong.data));
        else if (!device->cuda->simulated && size == exercise->problem.measured)
            measure(&(struct problem_timed){&run, choose(loaded, &launch), &launch}, row);
    }
    for (unsigned i = 0; i < instance.count; i++)
        free(result[i]);
    lk_buf_free(&wrong);
close_run:
    zoo_run_close(&run);
free_instance:
    zoo_instance_free(&instance);
    return goes_on;
}

/* Managed memory can be read and written from here. */
static CUresult fill_large(const struct learn_problem *problem, unsigned size,
                           const struct zoo_buffer *shape, struct zoo_device *device,
                           CUdeviceptr *buffer)
{
    bool is_huge = problem->size[size] == problem->huge;
    CUresult status = CUDA_SUCCESS;
    for (unsigned i = 0; i < problem->buffer_count && status == CUDA_SUCCESS; i++) {
        size_t bytes = zoo_buffer_bytes(&shape[i]);
        status = device->cuda->cuMemAllocManaged(&buffer[i], bytes + 16, CU_MEM_ATTACH_GLOBAL);
        if (status != CUDA_SUCCESS)
            break;
        if (is_huge)
            problem_fill_huge(problem, size, i, shape[i].count, (void *)(uintptr_t)buffer[i]);
        else if (problem->buffer[i].role == ZOO_OUT)
            memset((void *)(uintptr_t)buffer[i], 0xff, bytes);
        else if (!problem->family)
            problem_fill(problem, size, i, shape[i].count, (void *)(uintptr_t)buffer[i]);
    }
    return status;
}

/* The large size, of which mainly the time is asked, or the huge one: no reference is computed for
 * all of it, and of the blocks that were run a few results are compared. */
static void run_large(const struct learn_exercise *exercise, unsigned size, struct loaded *loaded,
                      json_t *sizes, char **message)
{
    const struct learn_problem *problem = &exercise->problem;
    struct zoo_device *device = loaded->device;
    struct zoo_buffer shape[ZOO_BUFFERS];
    CUdeviceptr buffer[ZOO_BUFFERS] = {0};
    void *result[ZOO_BUFFERS] = {0};
    struct problem_launch launch;
    struct lk_buf wrong = {0};
    if (!problem_shape(problem, size, shape, message))
        return;
    CUresult status = fill_large(problem, size, shape, device, buffer);
    if (status == CUDA_SUCCESS &&
        problem_launch(device->cuda, exercise, size, loaded->own, buffer, &launch, message)) {
        status = give_scratch(exercise, loaded, &launch);
        if (status == CUDA_SUCCESS)
            status = start(loaded, &launch);
        if (status == CUDA_SUCCESS)
            status = device->cuda->cuCtxSynchronize();
    }
    if (status != CUDA_SUCCESS && !*message)
        *message = lk_format("%s", words_of(status, device));
    for (unsigned i = 0; i < problem->buffer_count; i++)
        result[i] = (void *)(uintptr_t)buffer[i];
    if (*message && problem->size[size] == problem->huge)
        lk_buf_printf(&wrong, "for %s: %s", problem->huge, *message);
    else if (!*message && !problem->family)
        problem_verify_some(problem, size, result, &wrong);
    if (wrong.size)
        json_array_append_new(sizes,
                              json_pack("{ss ss sb}", "size", problem->size[size], "wrong",
                                        wrong.data, "ends", status != CUDA_ERROR_LAUNCH_TIMEOUT));
    for (unsigned i = 0; i < problem->buffer_count; i++)
        if (buffer[i])
            device->cuda->cuMemFree_v2(buffer[i]);
    lk_buf_free(&wrong);
}

/* Has the checker found that threads write each other's elements? Then the sizes that follow would
 * only show it again, and where every block does all the work they would take long. */
static bool is_shared_out_wrongly(void)
{
    const char *path = getenv("LOCKSTEP_CHECK");
    char *message = NULL, *found = path ? host_read_text(path, &message) : NULL;
    bool wrongly =
        found && (strstr(found, "\"several_writers\"") || strstr(found, "\"other_block\""));
    free(message);
    free(found);
    return wrongly;
}

static bool check_memory(const struct zoo_device *device, CUfunction function, char **message)
{
    int shared = 0, local = 0;
    device->cuda->cuFuncGetAttribute(&shared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function);
    device->cuda->cuFuncGetAttribute(&local, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function);
    if (shared > MOST_SHARED)
        *message = lk_format("the kernel declares %d bytes of shared memory; a block has %d",
                             shared, MOST_SHARED);
    else if (local > MOST_LOCAL)
        *message = lk_format("the kernel's own arrays are too big: a thread has %d bytes for them",
                             MOST_LOCAL);
    return !*message;
}

static bool load(const struct learn_exercise *exercise, const char *ptx,
                 const struct zoo_device *device, CUfunction *function, char **message)
{
    CUmodule module;
    char *symbol = find_kernel(exercise, ptx, message);
    if (!symbol)
        return false;
    CUresult status = device->cuda->cuModuleLoadData(&module, ptx);
    if (status == CUDA_SUCCESS)
        status = device->cuda->cuModuleGetFunction(function, module, symbol);
    if (status != CUDA_SUCCESS)
        *message = lk_format("the kernel cannot be loaded: %s", zoo_error(device->cuda, status));
    free(symbol);
    return status == CUDA_SUCCESS && check_memory(device, *function, message);
}

static bool load_ragged(const struct learn_exercise *exercise, struct loaded *loaded,
                        char **message)
{
    const char *path = loaded->own ? loaded->own->ragged : NULL;
    char *ptx = path ? host_read_text(path, message) : NULL;
    bool fine = !path || (ptx && load(exercise, ptx, loaded->device, &loaded->ragged, message));
    free(ptx);
    return fine;
}

static void run_all(const struct learn_exercise *exercise, const char *ptx,
                    const struct compile_launch *own, const char *gpu, json_t *result,
                    char **message)
{
    json_t *sizes = json_object_get(result, "sizes");
    struct zoo_device device;
    struct loaded loaded = {.device = &device, .own = own};
    if (!zoo_device_open(gpu, &device, message))
        return;
    json_object_set_new(result, "name", json_string(device.name));
    if (!load(exercise, ptx, &device, &loaded.function, message) ||
        !load_ragged(exercise, &loaded, message))
        return;
    if (exercise->problem.listed == 0) {
        for (unsigned i = 0; i < exercise->problem.size_count && !*message; i++)
            run_large(exercise, i, &loaded, sizes, message);
        return;
    }
    for (unsigned i = 0; i < exercise->problem.size_count; i++)
        if (!run_size(exercise, i, &loaded, sizes, message) || is_shared_out_wrongly())
            break;
}

/* The exercise as this check sees it: with drawn sizes, or with the large one alone. */
static bool choose_sizes(struct lk_arena *arena, struct learn_exercise *exercise, uint64_t seed,
                         char **message)
{
    struct learn_problem *problem = &exercise->problem;
    struct lesson_reader reader = {.arena = arena, .path = "lesson.json"};
    if (seed)
        return draw_sizes(arena, problem, exercise->best.value[LEARN_TOTAL_warp_instructions], seed,
                          message);
    problem->size_count = problem->measured = 0;
    bool fine = (problem->large || problem->huge) &&
                (!problem->large || lesson_add_size(&reader, problem, problem->large)) &&
                (!problem->huge || lesson_add_size(&reader, problem, problem->huge));
    problem->listed = 0;
    if (!fine)
        *message = reader.error ? reader.error : lk_format("there is no large size");
    return fine;
}

bool learn_worker(const struct learn_exercise *exercise, const struct learn_worker_files *files,
                  uint64_t seed)
{
    char *message = NULL, *ptx = exercise->package ? NULL : host_read_text(files->ptx, &message);
    struct lk_arena *arena = lk_arena_create();
    struct learn_exercise chosen = *exercise;
    json_t *result = json_pack("{s[] sn}", "sizes", "error");
    struct compile_launch own = {0};
    if (exercise->package && choose_sizes(arena, &chosen, seed, &message))
        worker_run_host(&chosen, files, result, &message);
    if (ptx && choose_sizes(arena, &chosen, seed, &message) &&
        (!exercise->is_python || compile_read_launch(files->ptx, &own, &message)))
        run_all(&chosen, ptx, exercise->is_python ? &own : NULL, files->gpu, result, &message);
    compile_launch_free(&own);
    if (message)
        json_object_set_new(result, "error", json_string(message));
    bool written = result && json_dump_file(result, files->result, JSON_INDENT(1)) == 0;
    json_decref(result);
    lk_arena_destroy(arena);
    free(message);
    free(ptx);
    return written;
}
