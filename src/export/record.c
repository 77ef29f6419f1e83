/*
 * record.c: a driver that records launches; see record.h.
 */
#include "export/record.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Buffer i lies at (i + 1) << 44, far from every size and from each other. */
#define ADDRESS(i) ((CUdeviceptr)((i) + 1) << 44)

/* The driver's functions get no pointer of ours, so the recording under way is found here. */
static _Thread_local struct {
    const struct lk_driver *real;
    struct export_recording *recording;
    const struct ptx_module *ptx;
    const char *source;
    const unsigned *resident;
    char kernel[ZOO_KERNELS][64]; /* a CUfunction of ours is its place here, from 1 */
    CUfunction real_function[ZOO_KERNELS];
    unsigned kernel_count;
    const char *error;
} now;

static const char *name_of(CUfunction function)
{
    return now.kernel[(uintptr_t)function - 1];
}

static struct export_step *add_step(enum export_step_kind kind, const char *kernel)
{
    struct export_recording *recording = now.recording;
    if (recording->step_count == EXPORT_STEPS) {
        now.error = "it has too many launches";
        return NULL;
    }
    struct export_step *step = &recording->step[recording->step_count++];
    *step = (struct export_step){.kind = kind, .first = recording->number_count};
    snprintf(step->kernel, sizeof step->kernel, "%s", kernel);
    return step;
}

static void add_number(double number)
{
    now.recording->number[now.recording->number_count++] = number;
}

/* A buffer's index or EXPORT_WORKSPACE, with the offset in it; EXPORT_SCALAR if it is not a
 * pointer.
 */
static int locate(CUdeviceptr at, double *offset)
{
    for (int i = 0; i <= EXPORT_WORKSPACE; i++)
        if (at >= ADDRESS(i) && at < ADDRESS(i + 1)) {
            *offset = (double)(at - ADDRESS(i));
            return i;
        }
    return EXPORT_SCALAR;
}

/* Arguments -------------------------------------------------------------------------------------*/

/* As a number its bits: no expression gives them, so where they change with a size, that size is
 * fixed in the exported program. */
static double add_float(struct export_step *step, unsigned i, double value)
{
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    step->target[i] = EXPORT_FLOAT;
    step->real[i] = value;
    return bits;
}

/* A tensor map of ours is a mark and the number of its step. */
static const uint64_t MAP_MARK = 0x6d617020746e6573;

static bool add_map_argument(struct export_step *step, unsigned i, const void *at)
{
    const CUtensorMap *map = at;
    step->target[i] = EXPORT_MAPPED;
    add_number((double)map->opaque[1]);
    return map->opaque[0] == MAP_MARK;
}

static bool add_argument(struct export_step *step, unsigned i, const struct ptx_var *var,
                         const void *at)
{
    enum ptx_type type = var->type;
    if (var->size == sizeof(CUtensorMap))
        return add_map_argument(step, i, at);
    bool wide = ptx_type_bits(type) == 64;
    double number = 0;
    step->target[i] = EXPORT_SCALAR;
    if (ptx_type_kind(type) == PTX_KIND_FLOAT) {
        number = add_float(step, i, wide ? *(const double *)at : (double)*(const float *)at);
    } else if (wide) {
        number = (double)*(const int64_t *)at;
        step->target[i] = locate(*(const CUdeviceptr *)at, &number);
    } else if (ptx_type_bits(type) == 32) {
        number = *(const int32_t *)at;
    } else {
        number = *(const uint8_t *)at;
    }
    add_number(number);
    return wide || ptx_type_bits(type) == 32 || ptx_type_bits(type) == 8;
}

/* Maps and pointers that nobody asked for are zero. */
static bool add_field(struct export_step *step, unsigned i, enum export_field_kind kind,
                      const void *at)
{
    double number = 0;
    step->target[i] = EXPORT_SCALAR;
    switch (kind) {
    case EXPORT_FIELD_MAP:
        if (((const CUtensorMap *)at)->opaque[0])
            return add_map_argument(step, i, at);
        break;
    case EXPORT_FIELD_POINTER:
    case EXPORT_FIELD_LONG:
        number = (double)*(const int64_t *)at;
        step->target[i] = locate(*(const CUdeviceptr *)at, &number);
        break;
    case EXPORT_FIELD_INT:
        number = *(const int32_t *)at;
        break;
    case EXPORT_FIELD_FLOAT:
        number = add_float(step, i, (double)*(const float *)at);
        break;
    }
    add_number(number);
    return true;
}

static bool add_structure(struct export_step *step, const struct ptx_var *var, const void *at)
{
    struct export_fields fields;
    bool fine = export_read_fields(now.source, step->kernel, &fields) && fields.bytes == var->size;
    step->packed = true;
    step->argument_count = fine ? fields.count : 0;
    for (unsigned i = 0; i < step->argument_count && fine; i++)
        fine = add_field(step, i, fields.field[i].kind, (const char *)at + fields.field[i].offset);
    return fine;
}

static bool is_structure(const struct ptx_var *var)
{
    return ptx_type_bits(var->type) == 8 && var->size > 1 && var->size != sizeof(CUtensorMap);
}

static bool add_arguments(struct export_step *step, void **arguments)
{
    const struct ptx_function *kernel = ptx_find_function(now.ptx, step->kernel);
    bool packed = kernel && kernel->param_count == 1 && is_structure(kernel->params[0].var);
    if (packed && add_structure(step, kernel->params[0].var, arguments[0]))
        return true;
    bool fine = kernel && !packed && kernel->param_count <= EXPORT_ARGUMENTS;
    step->argument_count = fine ? kernel->param_count : 0;
    for (unsigned i = 0; i < step->argument_count && fine; i++)
        fine = !is_structure(kernel->params[i].var) &&
               add_argument(step, i, kernel->params[i].var, arguments[i]);
    if (!fine)
        now.error = "a kernel has arguments that cannot be written down";
    return fine;
}

/* The driver ------------------------------------------------------------------------------------*/

/* How a launch differs from a plain one. */
struct manner {
    bool cooperative, overlaps;
    unsigned cluster;
};

static CUresult add_launch(CUfunction function, const unsigned sizes[7], struct manner manner,
                           void **arguments)
{
    struct export_step *step = add_step(EXPORT_LAUNCH, name_of(function));
    if (!step)
        return CUDA_ERROR_INVALID_VALUE;
    step->cooperative = manner.cooperative;
    step->overlaps = manner.overlaps;
    step->cluster = manner.cluster;
    for (int i = 0; i < 7; i++)
        add_number(sizes[i]);
    return add_arguments(step, arguments) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult launch(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned tx, unsigned ty,
                       unsigned tz, unsigned shared, CUstream stream, void **arguments,
                       void **extra)
{
    return add_launch(f, (unsigned[]){x, y, z, tx, ty, tz, shared}, (struct manner){0}, arguments);
}

static CUresult launch_cooperative(CUfunction f, unsigned x, unsigned y, unsigned z, unsigned tx,
                                   unsigned ty, unsigned tz, unsigned shared, CUstream stream,
                                   void **arguments)
{
    return add_launch(f, (unsigned[]){x, y, z, tx, ty, tz, shared},
                      (struct manner){.cooperative = true}, arguments);
}

/* zoo_launch gives these attributes, and no others. */
static CUresult launch_with(const CUlaunchConfig *c, CUfunction f, void **arguments, void **extra)
{
    const unsigned sizes[] = {c->gridDimX,  c->gridDimY,  c->gridDimZ,      c->blockDimX,
                              c->blockDimY, c->blockDimZ, c->sharedMemBytes};
    struct manner manner = {0};
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &c->attrs[i];
        if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            manner.overlaps = true;
        else if (attribute->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
                 attribute->value.clusterDim.y == 1 && attribute->value.clusterDim.z == 1)
            manner.cluster = attribute->value.clusterDim.x;
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return add_launch(f, sizes, manner, arguments);
}

static CUresult encode_map(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *at,
                           const cuuint64_t *sizes, const cuuint64_t *pitches,
                           const cuuint32_t *box, const cuuint32_t *steps,
                           CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                           CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    double offset = 0;
    struct export_step *step = add_step(EXPORT_MAP, "");
    if (!step)
        return CUDA_ERROR_INVALID_VALUE;
    step->map = (struct export_map){type, rank, swizzle, promotion, fill};
    step->buffer = locate((CUdeviceptr)(uintptr_t)at, &offset);
    bool plain = interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && step->buffer != EXPORT_SCALAR;
    add_number(offset);
    for (unsigned i = 0; i < rank; i++) {
        add_number((double)sizes[i]);
        plain &= steps[i] == 1;
    }
    for (unsigned i = 0; i + 1 < rank; i++)
        add_number((double)pitches[i]);
    for (unsigned i = 0; i < rank; i++)
        add_number(box[i]);
    memset(map, 0, sizeof *map);
    map->opaque[0] = MAP_MARK;
    map->opaque[1] = now.recording->step_count - 1;
    if (!plain)
        now.error = "it has a tensor map that cannot be written down";
    return plain ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult clear(CUdeviceptr at, unsigned char value, size_t bytes, CUstream stream)
{
    double offset = 0;
    struct export_step *step = add_step(EXPORT_CLEAR, "");
    if (!step)
        return CUDA_ERROR_INVALID_VALUE;
    step->buffer = locate(at, &offset);
    add_number(offset);
    add_number((double)bytes);
    return value == 0 && step->buffer != EXPORT_SCALAR ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult load(CUmodule *module, const void *image, unsigned count, CUjit_option *options,
                     void **values)
{
    *module = NULL;
    return now.resident ? CUDA_SUCCESS
                        : now.real->cuModuleLoadDataEx(module, image, count, options, values);
}

static CUresult unload(CUmodule module)
{
    return module ? now.real->cuModuleUnload(module) : CUDA_SUCCESS;
}

static CUresult get_function(CUfunction *function, CUmodule module, const char *name)
{
    unsigned i = now.kernel_count;
    if (i == ZOO_KERNELS || !ptx_find_function(now.ptx, name))
        return CUDA_ERROR_NOT_FOUND;
    snprintf(now.kernel[i], sizeof now.kernel[i], "%s", name);
    *function = (CUfunction)(uintptr_t)++now.kernel_count;
    return module ? now.real->cuModuleGetFunction(&now.real_function[i], module, name)
                  : CUDA_SUCCESS;
}

static CUresult set_attribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    CUfunction real = now.real_function[(uintptr_t)function - 1];
    return now.resident ? CUDA_SUCCESS : now.real->cuFuncSetAttribute(real, attribute, value);
}

static CUresult count_resident(int *blocks, CUfunction function, int threads, size_t shared)
{
    CUfunction real = now.real_function[(uintptr_t)function - 1];
    CUresult status = CUDA_SUCCESS;
    if (now.resident)
        *blocks = (int)now.resident[now.recording->resident_count];
    else
        status =
            now.real->cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, real, threads, shared);
    if (status != CUDA_SUCCESS || !add_step(EXPORT_RESIDENT, name_of(function)))
        return status;
    add_number(threads);
    add_number((double)shared);
    now.recording->resident[now.recording->resident_count++] = (unsigned)*blocks;
    return CUDA_SUCCESS;
}

/* One recording ---------------------------------------------------------------------------------*/

bool export_record(const struct zoo_device *device, const struct zoo_problem *problem,
                   const struct zoo_variant *variant, const struct zoo_tuning *tuning,
                   const struct ptx_module *ptx, const char *source, const unsigned *resident,
                   struct export_recording *recording, char **message)
{
    struct lk_driver driver = *device->cuda;
    struct zoo_device noting = *device;
    noting.cuda = &driver;
    driver.cuLaunchKernel = launch;
    driver.cuLaunchCooperativeKernel = launch_cooperative;
    driver.cuLaunchKernelEx = launch_with;
    driver.cuTensorMapEncodeTiled = encode_map;
    driver.cuMemsetD8Async = clear;
    driver.cuModuleLoadDataEx = load;
    driver.cuModuleUnload = unload;
    driver.cuModuleGetFunction = get_function;
    driver.cuFuncSetAttribute = set_attribute;
    driver.cuOccupancyMaxActiveBlocksPerMultiprocessor = count_resident;
    memset(&now, 0, sizeof now);
    memset(recording, 0, sizeof *recording);
    now.real = device->cuda;
    now.recording = recording;
    now.ptx = ptx;
    now.source = source;
    now.resident = resident;

    /* Where the resident blocks are known, load() looks at no image: one that is not NULL spares
     * the unpacking of the variant's own, which takes most of a recording's time. */
    struct zoo_kernels *kernels =
        zoo_kernels_load(&noting, problem->family, variant, resident ? "" : NULL, tuning, message);
    if (!kernels)
        return false;
    struct zoo_call call = {.problem = problem, .device = &noting, .kernels = kernels};
    for (int i = 0; i < ZOO_BUFFERS; i++)
        call.buffer[i] = ADDRESS(i);
    call.workspace = ADDRESS(EXPORT_WORKSPACE);
    recording->workspace_bytes = variant->workspace ? variant->workspace(&call) : 0;
    CUresult status = variant->launch(&call);
    if (status != CUDA_SUCCESS)
        *message = lk_format("%s/%s does not launch: %s", problem->family->name, variant->name,
                             now.error    ? now.error
                             : call.error ? call.error
                                          : zoo_error(device->cuda, status));
    zoo_kernels_free(kernels);
    return status == CUDA_SUCCESS;
}

static bool same_step(const struct export_step *a, const struct export_step *b)
{
    return a->kind == b->kind && strcmp(a->kernel, b->kernel) == 0 &&
           a->cooperative == b->cooperative && a->overlaps == b->overlaps &&
           a->cluster == b->cluster && memcmp(&a->map, &b->map, sizeof a->map) == 0 &&
           a->argument_count == b->argument_count && a->buffer == b->buffer &&
           memcmp(a->target, b->target, sizeof a->target) == 0;
}

bool export_same_steps(const struct export_recording *a, const struct export_recording *b)
{
    if (a->step_count != b->step_count)
        return false;
    for (unsigned i = 0; i < a->step_count; i++)
        if (!same_step(&a->step[i], &b->step[i]))
            return false;
    return true;
}
