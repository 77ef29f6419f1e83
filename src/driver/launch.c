/*
 * launch.c: kernel launches: what a GPU refuses, how parameters are packed, and what a fault
 * becomes.
 */
#include "driver/children.h"
#include "driver/engine.h"
#include "driver/listened.h"
#include "driver/sample.h"
#include "driver/timeline.h"
#include "driver/times.h"

#include "base/arena.h"
#include "gpu/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Parameters ----------------------------------------------------------------------------------- */

/* extra: pairs that end with CU_LAUNCH_PARAM_END; the buffer is packed already. */
static CUresult pack_extra(struct drv_kernel_work *kernel, void **extra)
{
    const void *buffer = NULL;
    size_t size = 0;
    bool sized = false;
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            buffer = extra[1];
        } else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1]) {
            size = *(const size_t *)extra[1];
            sized = true;
        } else {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (!buffer || !sized)
        return CUDA_ERROR_INVALID_VALUE;
    /* A struct of the host may end in padding, no more. */
    size_t align = kernel->function->info->param_align;
    if (size > (kernel->params_size + align - 1) / align * align)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (size < kernel->params_size) /* padding at the end may be missing */
        memcpy(kernel->params, buffer, size);
    else
        memcpy(kernel->params, buffer, kernel->params_size);
    return CUDA_SUCCESS;
}

CUresult drv_kernel_pack(struct drv_kernel_work *kernel, void **params, void **extra)
{
    CUfunction function = kernel->function;
    kernel->params_size = function->info->param_bytes;
    kernel->params = lk_alloc_zeroed(kernel->params_size + 16);
    if (params && extra)
        return CUDA_ERROR_INVALID_VALUE;
    if (extra)
        return pack_extra(kernel, extra);
    if (!params)
        return function->info->param_count ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    for (unsigned i = 0; i < function->info->param_count; i++) {
        size_t offset, size;
        if (!simt_kernel_param(function->kernel, i, &offset, &size) || !params[i])
            return CUDA_ERROR_INVALID_VALUE;
        memcpy((char *)kernel->params + offset, params[i], size);
    }
    return CUDA_SUCCESS;
}

/* Checks --------------------------------------------------------------------------------------- */

static unsigned cluster_size(const struct drv_kernel_work *kernel)
{
    const unsigned *c = kernel->cluster;
    return c[0] ? c[0] * c[1] * c[2] : 1;
}

static CUresult check_cluster(const struct gpu_info *gpu, const struct drv_kernel_work *kernel)
{
    const unsigned *c = kernel->cluster;
    if (!c[0] && !c[1] && !c[2])
        return CUDA_SUCCESS;
    if (!c[0] || !c[1] || !c[2])
        return CUDA_ERROR_INVALID_VALUE;
    if (cluster_size(kernel) > 1 && gpu->cc_major < 9)
        return CUDA_ERROR_NOT_SUPPORTED;
    const struct simt_kernel_info *info = kernel->function->info;
    unsigned most = kernel->function->settings.non_portable_cluster ? 16 : 8;
    if (info->max_cluster && info->max_cluster < most)
        most = info->max_cluster;
    if ((uint64_t)c[0] * c[1] * c[2] > most)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    if (info->required_cluster[0] && memcmp(c, info->required_cluster, sizeof kernel->cluster) != 0)
        return CUDA_ERROR_INVALID_CLUSTER_SIZE; /* the kernel was compiled for another size */
    for (int i = 0; i < 3; i++) {
        if (kernel->grid[i] % c[i])
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult drv_kernel_check(CUcontext context, const struct drv_kernel_work *kernel)
{
    const struct gpu_info *gpu = context->device->gpu;
    const struct simt_kernel_info *info = kernel->function->info;
    const unsigned *grid = kernel->grid, *block = kernel->block;
    if (!grid[0] || !grid[1] || !grid[2] || !block[0] || !block[1] || !block[2])
        return CUDA_ERROR_INVALID_VALUE;
    if (grid[0] > 2147483647u || grid[1] > 65535 || grid[2] > 65535)
        return CUDA_ERROR_INVALID_VALUE;
    if (block[0] > 1024 || block[1] > 1024 || block[2] > 64)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned threads = block[0] * block[1] * block[2];
    if (threads > gpu->threads_per_block)
        return CUDA_ERROR_INVALID_VALUE;
    if (kernel->shared > (unsigned)kernel->function->settings.max_dynamic_shared)
        return CUDA_ERROR_INVALID_VALUE;
    if (info->max_threads && threads > info->max_threads)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = check_cluster(gpu, kernel);
    if (status != CUDA_SUCCESS)
        return status;
    struct gpu_occupancy fits =
        gpu_occupancy(gpu, threads, info->registers, info->static_shared + kernel->shared);
    if (!fits.blocks_per_sm)
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    if (kernel->cooperative &&
        (uint64_t)grid[0] * grid[1] * grid[2] > (uint64_t)fits.blocks_per_sm * gpu->sms)
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return CUDA_SUCCESS;
}

/* Running -------------------------------------------------------------------------------------- */

static CUresult fault_error(enum simt_fault_kind kind)
{
    switch (kind) {
    case SIMT_OK:
        return CUDA_SUCCESS;
    case SIMT_FAULT_ILLEGAL_ADDRESS:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case SIMT_FAULT_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case SIMT_FAULT_INVALID_SPACE:
        return CUDA_ERROR_INVALID_ADDRESS_SPACE;
    case SIMT_FAULT_INVALID_PC:
        return CUDA_ERROR_INVALID_PC;
    case SIMT_FAULT_ILLEGAL_INSTRUCTION:
    case SIMT_FAULT_BARRIER:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case SIMT_FAULT_HARDWARE_STACK:
        return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case SIMT_FAULT_ASSERT:
        return CUDA_ERROR_ASSERT;
    case SIMT_FAULT_TIMEOUT:
    case SIMT_FAULT_LIVELOCK:
    case SIMT_FAULT_DEADLOCK:
    case SIMT_FAULT_SYNC_DEADLOCK:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    default:
        return CUDA_ERROR_LAUNCH_FAILED;
    }
}

/* The launch was sampled: the blocks that did not run yet. */
static enum simt_fault_kind run_rest(struct simt_machine *machine, struct simt_launch *launch,
                                     struct simt_stats *stats, struct simt_fault *fault)
{
    struct simt_stats rest = {0};
    launch->goes_on = true;
    launch->timed = false;
    launch->sample_instructions = 0;
    enum simt_fault_kind kind = simt_run(machine, launch, &rest, fault);
    stats->yielded |= rest.yielded;
    return kind;
}

CUresult drv_grid_run(CUcontext context, struct drv_kernel_work *kernel,
                      struct simt_children *children, double *clock)
{
    struct simt_machine *machine = context->device->machine;
    if (drv_sample_refuses(kernel))
        return CUDA_ERROR_ILLEGAL_STATE;
    struct simt_launch launch = {.kernel = kernel->function->kernel,
                                 .dynamic_shared = kernel->shared,
                                 .params = kernel->params,
                                 .cooperative = kernel->cooperative,
                                 .sample_instructions = drv_sample_instructions(),
                                 .children = children};
    struct simt_stats stats = {0};
    struct simt_fault fault = {0};
    bool wanted = context->device->timing_events > 0 || drv_is_listened();
    bool reads_clock = simt_kernel_reads_clock(kernel->function->kernel);
    if (reads_clock)
        launch.sample_instructions = 0;
    launch.timed =
        reads_clock ||
        (wanted && (launch.sample_instructions || !drv_time_known(kernel, &launch.known)));
    /* The assembler may take longer than the launch. Loops that wait by %globaltimer (libcu++'s
     * barriers and semaphores) need no exact occupancy, and nobody times a check. */
    bool measured = wanted || simt_kernel_counts_cycles(kernel->function->kernel);
    if ((launch.timed && measured && !context->device->in_order) || context->device->profiles)
        drv_ask_registers(kernel->function);
    double share = drv_kernel_share(context->device->gpu, kernel);
    launch.starts = drv_model_kernel_start(context, share, kernel->cooperative, *clock);
    children->began = launch.starts;
    memcpy(launch.grid, kernel->grid, sizeof launch.grid);
    memcpy(launch.block, kernel->block, sizeof launch.block);
    memcpy(launch.cluster, kernel->cluster, sizeof launch.cluster);
    uint64_t blocks = (uint64_t)launch.grid[0] * launch.grid[1] * launch.grid[2];
    if (launch.timed && launch.sample_instructions)
        launch.ran = lk_alloc_zeroed((blocks / 64 + 1) * sizeof *launch.ran);
    enum simt_fault_kind kind = simt_run(machine, &launch, &stats, &fault);
    bool completes =
        kind == SIMT_OK && stats.is_sampled && drv_sample_completes(kernel, stats.rest);
    if (completes)
        kind = run_rest(machine, &launch, &stats, &fault);
    free(launch.ran);
    if (stats.yielded)
        drv_machine_resumes(context->device);
    if (kind != SIMT_OK) {
        simt_flush_printf(machine);
        drv_remark("%s", fault.text);
    }
    if (kind == SIMT_FAULT_TIMEOUT)
        drv_remark("'lockstep run --limit N' or LOCKSTEP_LIMIT=N raises the limit");
    if (kind == SIMT_FAULT_UNSUPPORTED) {
        fflush(NULL);
        _exit(3);
    }
    drv_sample_ran(kernel, stats.is_sampled && !completes);
    if (wanted && kind == SIMT_OK && !stats.is_sampled)
        drv_time_learn(kernel, launch.timed, &stats);
    share = stats.modelled_share > 0 ? stats.modelled_share : share;
    double seconds = stats.modelled_seconds;
    if (drv_timeline_in_graph() && seconds > GPU_LAUNCH_SECONDS)
        seconds -= GPU_LAUNCH_SECONDS - GPU_NODE_SECONDS;
    drv_model_kernel(context, share, kernel->cooperative, seconds, clock);
    return fault_error(kind);
}

CUresult drv_kernel_run(CUcontext context, struct drv_kernel_work *kernel, double *clock)
{
    struct simt_children children;
    drv_children_open(&children, context, kernel->function);
    CUresult status = drv_grid_run(context, kernel, &children, clock);
    return drv_children_run(context, kernel->function, &children, status, clock);
}

/* Entry points --------------------------------------------------------------------------------- */

static CUresult launch(struct drv_kernel_work *kernel, CUfunction handle, CUstream stream_handle,
                       void **params, void **extra)
{
    CUcontext context;
    CUstream stream;
    struct drv_work work = {.kind = DRV_WORK_KERNEL};
    CUresult status = drv_current(&context);
    if (status != CUDA_SUCCESS)
        return status;
    drv_enter_lock();
    status = drv_function_find(context, handle, &kernel->function);
    if (status == CUDA_SUCCESS && kernel->function->module->context != context)
        status = CUDA_ERROR_INVALID_HANDLE;
    if (status == CUDA_SUCCESS)
        status = drv_stream_find(context, stream_handle, &stream);
    if (status == CUDA_SUCCESS) {
        if (!kernel->cluster[0] && kernel->function->settings.cluster[0])
            memcpy(kernel->cluster, kernel->function->settings.cluster, sizeof kernel->cluster);
        work.kernel = *kernel;
        status = drv_kernel_check(context, &work.kernel);
    }
    if (status == CUDA_SUCCESS)
        status = drv_kernel_pack(&work.kernel, params, extra);
    if (status == CUDA_SUCCESS)
        status = drv_issue(stream, &work, false);
    drv_work_clear(&work);
    drv_leave_lock();
    return status;
}

CUresult drv_cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                            unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                            CUstream stream, void **params, void **extra)
{
    struct drv_kernel_work kernel = {
        .grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}, .shared = shared};
    const struct {
        CUfunction function;
        unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
        CUstream stream;
        void **params, **extra;
    } given = {function, grid_x, grid_y, grid_z, block_x, block_y,
               block_z,  shared, stream, params, extra};
    struct lk_activity_call call;
    drv_launch_begins(&call, "cuLaunchKernel", function, &given);
    return drv_call_ends(&call, launch(&kernel, function, stream, params, extra));
}

CUresult drv_cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                       unsigned grid_z, unsigned block_x, unsigned block_y,
                                       unsigned block_z, unsigned shared, CUstream stream,
                                       void **params)
{
    struct drv_kernel_work kernel = {.grid = {grid_x, grid_y, grid_z},
                                     .block = {block_x, block_y, block_z},
                                     .shared = shared,
                                     .cooperative = true};
    const struct {
        CUfunction function;
        unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
        CUstream stream;
        void **params;
    } given = {function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream, params};
    struct lk_activity_call call;
    drv_launch_begins(&call, "cuLaunchCooperativeKernel", function, &given);
    return drv_call_ends(&call, launch(&kernel, function, stream, params, NULL));
}

/* The attributes that change what a launch does; the others are about speed. */
static CUresult apply_attribute(struct drv_kernel_work *kernel, const CUlaunchAttribute *attribute)
{
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        kernel->cooperative = attribute->value.cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        kernel->cluster[0] = attribute->value.clusterDim.x;
        kernel->cluster[1] = attribute->value.clusterDim.y;
        kernel->cluster[2] = attribute->value.clusterDim.z;
        return kernel->cluster[0] && kernel->cluster[1] && kernel->cluster[2]
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
        kernel->programmatic = attribute->value.programmaticStreamSerializationAllowed != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        kernel->priority = attribute->value.priority;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        return attribute->value.deviceUpdatableKernelNode.deviceUpdatable ? CUDA_ERROR_NOT_SUPPORTED
                                                                          : CUDA_SUCCESS;
    default:
        return (unsigned)attribute->id <= CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING
                   ? CUDA_SUCCESS
                   : CUDA_ERROR_INVALID_VALUE;
    }
}

/* An event of the launch itself is recorded after it: later than on a GPU, never too early. */
static CUresult record_launch_events(const CUlaunchConfig *config)
{
    CUresult status = CUDA_SUCCESS;
    for (unsigned i = 0; i < config->numAttrs && status == CUDA_SUCCESS; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
            status = drv_cuEventRecord(attribute->value.programmaticEvent.event, config->hStream);
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
            status =
                drv_cuEventRecord(attribute->value.launchCompletionEvent.event, config->hStream);
    }
    return status;
}

CUresult drv_cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **params,
                              void **extra)
{
    if (!config || (config->numAttrs && !config->attrs))
        return CUDA_ERROR_INVALID_VALUE;
    struct drv_kernel_work kernel = {
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared = config->sharedMemBytes};
    CUresult status = CUDA_SUCCESS;
    for (unsigned i = 0; i < config->numAttrs && status == CUDA_SUCCESS; i++)
        status = apply_attribute(&kernel, &config->attrs[i]);
    const struct {
        const CUlaunchConfig *config;
        CUfunction function;
        void **params, **extra;
    } given = {config, function, params, extra};
    struct lk_activity_call call;
    drv_launch_begins(&call, "cuLaunchKernelEx", function, &given);
    if (status == CUDA_SUCCESS)
        status = launch(&kernel, function, config->hStream, params, extra);
    drv_call_ends(&call, status);
    return status == CUDA_SUCCESS ? record_launch_events(config) : status;
}

CUresult drv_cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data)
{
    struct drv_work work = {.kind = DRV_WORK_HOST};
    if (!function)
        return CUDA_ERROR_INVALID_VALUE;
    work.host.function = function;
    work.host.data = data;
    return drv_issue_to(stream, &work, false);
}
