/*
 * api_context.c: the contexts that the program works in, and the kernels that were chosen for
 * problems and loaded in each.
 */
#include "zoo/api.h"

#include "base/arena.h"
#include "host/files.h"

#include <pthread.h>
#include <stdlib.h>

/* One variant in one context. row: of the table that names its PTX file; NULL for the built-in. */
struct api_loaded {
    struct api_loaded *next;
    const struct zoo_variant *variant;
    const struct zoo_row *row;
    struct zoo_kernels *kernels;
};

/* The list of contexts, and what belongs to each. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct api_context *contexts;
static struct api_loaded *retired; /* of contexts that are gone; see retire_loaded */

/* Contexts --------------------------------------------------------------------------------------*/

/* Drivers before 12.0 have no ids; the address must do then. */
static unsigned long long id_of(const struct lk_driver *cuda, CUcontext context)
{
    unsigned long long id = 0;
    if (cuda->cuCtxGetId)
        cuda->cuCtxGetId(context, &id);
    return id;
}

/* Under the lock: the context is gone or was reset, and its modules with it. Their kernels are not
 * freed: another thread may be about to launch one, which the driver will refuse. */
static void retire_loaded(struct api_context *context)
{
    struct api_loaded **end = &context->loaded;
    while (*end)
        end = &(*end)->next;
    *end = retired;
    retired = context->loaded;
    context->loaded = NULL;
    api_kernels_gone();
}

void api_forget(struct api_context *context, const struct zoo_kernels *stale)
{
    pthread_mutex_lock(&lock);
    struct api_loaded *loaded = context->loaded;
    while (loaded && loaded->kernels != stale)
        loaded = loaded->next;
    if (loaded)
        retire_loaded(context);
    pthread_mutex_unlock(&lock);
}

static CUresult fill(struct api_context *context, const struct lk_driver *cuda, CUcontext handle)
{
    CUdevice number;
    int takes = 0;
    CUresult result = cuda->cuCtxGetDevice(&number);
    if (result != CUDA_SUCCESS)
        return result;
    if (!zoo_device_from(&context->device, cuda, number, handle))
        return CUDA_ERROR_INVALID_DEVICE;
    cuda->cuDeviceGetAttribute(&takes, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, number);
    context->takes_host_memory = takes;
    zoo_table_read(&context->table, &context->device);
    context->context = handle;
    context->id = id_of(cuda, handle);
    return CUDA_SUCCESS;
}

/* Under the lock. */
static struct api_context *find_context(const struct lk_driver *cuda, CUcontext handle,
                                        CUresult *result)
{
    struct api_context *context = contexts;
    while (context && context->context != handle)
        context = context->next;
    if (context && context->id != id_of(cuda, handle)) {
        retire_loaded(context);
        zoo_table_free(&context->table);
        *result = fill(context, cuda, handle);
    }
    if (context)
        return context;
    context = lk_alloc_zeroed(sizeof *context);
    *result = fill(context, cuda, handle);
    if (*result != CUDA_SUCCESS) {
        free(context);
        return NULL;
    }
    context->next = contexts;
    contexts = context;
    return context;
}

/* What tells the current context from all others, before and after: one question. */
static bool current_id(const struct lk_driver *cuda, unsigned long long *id)
{
    CUcontext context = NULL;
    if (cuda->cuCtxGetId)
        return cuda->cuCtxGetId(NULL, id) == CUDA_SUCCESS;
    bool fine = cuda->cuCtxGetCurrent(&context) == CUDA_SUCCESS;
    *id = (uintptr_t)context;
    return fine;
}

static lk_status find_current(const char *call, struct api_context **context)
{
    const struct lk_driver *cuda;
    CUcontext handle;
    CUresult result = CUDA_SUCCESS;
    lk_status status = api_need_context(call, &cuda, &handle);
    if (status != LK_OK)
        return status;
    pthread_mutex_lock(&lock);
    *context = find_context(cuda, handle, &result);
    pthread_mutex_unlock(&lock);
    if (result != CUDA_SUCCESS)
        return api_driver_failed(cuda, result, call, "looking at the GPU");
    return LK_OK;
}

lk_status api_current(const char *call, struct api_context **context)
{
    unsigned long long id = 0;
    char *message;
    const struct lk_driver *cuda = lk_driver_open(NULL, NULL, &message);
    bool has_id = cuda && current_id(cuda, &id) && id;
    if (has_id && (*context = api_known_context(id)))
        return LK_OK;
    if (!cuda)
        free(message);
    lk_status status = find_current(call, context);
    if (status == LK_OK && has_id)
        api_know_context(id, *context);
    return status;
}

/* Kernels ---------------------------------------------------------------------------------------*/

/* A stream of this thread may be recording a graph; loading kernels must not become part of it. */
static struct zoo_kernels *load(const struct api_context *context, const struct zoo_choice *choice,
                                const struct zoo_family *family, char **message)
{
    const struct lk_driver *cuda = context->device.cuda;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    bool from_file = choice->row && choice->row->ptx;
    struct lk_buf ptx = {0};
    if (from_file && !host_read_file(choice->row->ptx, &ptx, message))
        return NULL;
    if (cuda->cuThreadExchangeStreamCaptureMode)
        cuda->cuThreadExchangeStreamCaptureMode(&mode);
    struct zoo_kernels *kernels = zoo_kernels_load(&context->device, family, choice->variant,
                                                   ptx.data, &choice->tuning, message);
    if (cuda->cuThreadExchangeStreamCaptureMode)
        cuda->cuThreadExchangeStreamCaptureMode(&mode);
    lk_buf_free(&ptx);
    return kernels;
}

/* Under the lock: loaded if it is not yet. row: of the table that names its PTX file, or NULL. */
static struct zoo_kernels *get(struct api_context *context, const struct zoo_choice *choice,
                               const struct zoo_family *family, const struct zoo_row *row,
                               char **message)
{
    for (struct api_loaded *loaded = context->loaded; loaded; loaded = loaded->next)
        if (loaded->variant == choice->variant && loaded->row == row)
            return loaded->kernels;
    free(*message);
    struct zoo_kernels *kernels = load(context, choice, family, message);
    if (kernels) {
        struct api_loaded *loaded = lk_alloc_zeroed(sizeof *loaded);
        *loaded = (struct api_loaded){context->loaded, choice->variant, row, kernels};
        context->loaded = loaded;
    }
    return kernels;
}

lk_status api_variant(const char *call, struct api_context *context,
                      const struct zoo_family *family, const char *name,
                      const struct zoo_kernels **kernels)
{
    struct zoo_choice choice = {.variant = zoo_find_variant(family, name)};
    char *message = NULL;
    if (!choice.variant)
        return api_fail(LK_UNSUPPORTED, call, "%s has no kernel '%s'", family->name, name);
    choice.tuning = zoo_tuning_normal(zoo_source(family, choice.variant));
    pthread_mutex_lock(&lock);
    *kernels = get(context, &choice, family, NULL, &message);
    pthread_mutex_unlock(&lock);
    lk_status status = *kernels ? LK_OK : api_fail(LK_UNSUPPORTED, call, "%s", message);
    free(message);
    return status;
}

/* Under the lock: chosen, and loaded if need be. A row whose PTX does not load is ignored from then
 * on, so that a bad file makes a call slower and not wrong. */
static struct zoo_kernels *choose(struct api_context *context, const struct zoo_problem *problem,
                                  struct zoo_demand demand, struct zoo_choice *choice,
                                  char **message)
{
    while (zoo_choose(&context->table, &context->device, problem, demand, choice)) {
        const struct zoo_row *row = choice->row && choice->row->ptx ? choice->row : NULL;
        struct zoo_kernels *kernels = get(context, choice, problem->family, row, message);
        if (kernels)
            return kernels;
        if (!row)
            return NULL;
        lk_buf_printf(&context->table.remarks, "%s is ignored: %s\n", row->ptx, *message);
        ((struct zoo_row *)row)->broken = true;
    }
    return NULL;
}

static bool only_deterministic; /* set by lk_set_deterministic */

void lk_set_deterministic(int on)
{
    __atomic_store_n(&only_deterministic, on != 0, __ATOMIC_RELAXED);
}

/* None was found, or it did not load. */
static lk_status no_kernels(const char *call, const struct api_context *context,
                            const struct zoo_problem *problem, bool deterministic,
                            const char *message)
{
    struct lk_buf text = {0};
    if (message)
        return api_fail(LK_DRIVER_ERROR, call, "%s", message);
    zoo_problem_print(problem, &text);
    lk_status status = api_fail(LK_UNSUPPORTED, call, "no %svariant of %s takes %s on %s (sm_%d)",
                                deterministic ? "deterministic " : "", problem->family->name,
                                text.data, context->device.name, context->device.arch);
    lk_buf_free(&text);
    return status;
}

static size_t workspace_of(const struct api_context *context, const struct zoo_problem *problem,
                           const struct api_chosen *chosen)
{
    const struct zoo_call call = {
        .problem = problem, .device = &context->device, .kernels = chosen->kernels};
    size_t bytes = chosen->choice.variant->workspace ? chosen->choice.variant->workspace(&call) : 0;
    return bytes ? bytes + API_WORKSPACE_ALIGN - 1 : 0;
}

lk_status api_kernels(const char *call, struct api_context *context,
                      const struct zoo_problem *problem, bool aligned,
                      const struct api_chosen **chosen)
{
    struct zoo_demand demand = {.deterministic =
                                    __atomic_load_n(&only_deterministic, __ATOMIC_RELAXED),
                                .aligned_too = aligned};
    struct api_chosen new = {0};
    char *message = NULL;
    if ((*chosen = api_known_choice(context, problem, demand)))
        return LK_OK;
    pthread_mutex_lock(&lock);
    new.kernels = choose(context, problem, demand, &new.choice, &message);
    pthread_mutex_unlock(&lock);
    lk_status status = LK_OK;
    if (new.kernels) {
        new.workspace_bytes = workspace_of(context, problem, &new);
        *chosen = api_know_choice(context, problem, demand, &new);
    } else {
        status = no_kernels(call, context, problem, demand.deterministic,
                            new.choice.variant ? message : NULL);
    }
    free(message);
    return status;
}

void api_remarks(const struct api_context *context, struct lk_buf *text)
{
    pthread_mutex_lock(&lock);
    lk_buf_add(text, context->table.remarks.data, context->table.remarks.size);
    pthread_mutex_unlock(&lock);
}

lk_status lk_unload(void)
{
    struct api_context *context;
    lk_status status = api_current("unload", &context);
    if (status != LK_OK)
        return status;
    pthread_mutex_lock(&lock);
    for (struct api_loaded *next; context->loaded; context->loaded = next) {
        next = context->loaded->next;
        zoo_kernels_free(context->loaded->kernels);
        free(context->loaded);
    }
    api_kernels_gone();
    pthread_mutex_unlock(&lock);
    return LK_OK;
}
