/*
 * slab.c: the device memory of a problem, several times over; see contest.h.
 */
#include "bench/contest.h"

enum { ALIGN = 256, OWN_ALLOCATION = 2 << 20, MOST_COPIES = 4096 };

static size_t round_up(size_t size, size_t unit)
{
    return (size + unit - 1) / unit * unit;
}

/* Places for the buffers and their guards. */
static void lay_out(struct bench_slab *slab, const struct zoo_instance *instance)
{
    slab->count = instance->count;
    slab->stride = 0;
    for (unsigned i = 0; i < instance->count; i++) {
        slab->offset[i] = slab->stride;
        slab->stride += round_up(zoo_buffer_bytes(&instance->buffer[i]) + ZOO_GUARD, ALIGN);
    }
}

bool bench_slab_open(struct bench_slab *slab, const struct zoo_device *device,
                     const struct zoo_instance *instance, size_t wanted, char **message)
{
    *slab = (struct bench_slab){0};
    *message = NULL;
    lay_out(slab, instance);
    /* Two even of large ones: the end of what the launch before touched may be in the L2 still. */
    size_t copies = (slab->stride ? wanted / slab->stride : 0) + 2;
    slab->copies = copies > MOST_COPIES ? MOST_COPIES : (unsigned)copies;
    CUresult status;
    for (;; slab->copies = 1) {
        slab->bytes = round_up(slab->stride * slab->copies, OWN_ALLOCATION);
        status = device->cuda->cuMemAlloc_v2(&slab->base, slab->bytes);
        if (status == CUDA_SUCCESS)
            return true;
        slab->base = 0;
        if (status != CUDA_ERROR_OUT_OF_MEMORY || slab->copies != 2)
            break;
    }
    *message = lk_format("%zu MiB of device memory: %s", slab->bytes >> 20,
                         zoo_error(device->cuda, status));
    return false;
}

void bench_slab_close(struct bench_slab *slab, const struct zoo_device *device)
{
    if (slab->base)
        device->cuda->cuMemFree_v2(slab->base);
    slab->base = 0;
}

CUresult bench_slab_spread(const struct bench_slab *slab, const struct zoo_device *device,
                           CUstream stream)
{
    CUresult status = CUDA_SUCCESS;
    for (unsigned done = 1; done < slab->copies && status == CUDA_SUCCESS;) {
        unsigned more = done < slab->copies - done ? done : slab->copies - done;
        status = device->cuda->cuMemcpyDtoDAsync_v2(slab->base + done * slab->stride, slab->base,
                                                    more * slab->stride, stream);
        done += more;
    }
    return status == CUDA_SUCCESS ? device->cuda->cuStreamSynchronize(stream) : status;
}
