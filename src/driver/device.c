/*
 * device.c: the simulated devices: which there are, and what they report.
 * The facts come from src/gpu; what no table has (PCI ids, UUIDs, texture limits) is made up once
 * here, stable from run to run.
 */
#include "driver/state.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct drv_device drv_devices[DRV_DEVICES_MAX];
int drv_device_count;

void drv_remark(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    struct lk_buf text = {0};
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "lockstep: %s\n", text.data ? text.data : "");
    lk_buf_free(&text);
}

void drv_remark_once(const char *text)
{
    static const char *said[256];
    static unsigned count;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    bool known = false;
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < count; i++)
        known = known || strcmp(said[i], text) == 0;
    if (!known && count < 256)
        said[count++] = strdup(text);
    pthread_mutex_unlock(&lock);
    if (!known)
        drv_remark("%s", text);
}

/* CUDA_VISIBLE_DEVICES hides devices after its list, as far as a count can say it. */
static int visible_devices(int count)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    if (!list)
        return count;
    int visible = 0;
    while (isdigit((unsigned char)*list)) {
        char *end;
        if (strtol(list, &end, 10) >= count)
            break;
        visible++;
        list = *end == ',' ? end + 1 : end;
    }
    return visible;
}

/* "sim:h200x2"; the message says what is wrong. */
static CUresult set_gpu(const char *name, char **message)
{
    unsigned count;
    const struct gpu_info *gpu = gpu_parse(name, &count, message);
    if (!gpu)
        return CUDA_ERROR_NO_DEVICE;
    for (int i = 0; i < (int)count; i++) {
        struct drv_device *device = &drv_devices[i];
        device->ordinal = i;
        device->gpu = gpu;
        pthread_cond_init(&device->changed, NULL);
    }
    drv_device_count = (int)count;
    drv_watch_forks();
    return CUDA_SUCCESS;
}

CUresult drv_cuInit(unsigned flags)
{
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = CUDA_SUCCESS;
    char *message = NULL;
    drv_enter_lock();
    if (!drv_device_count) {
        const char *name = getenv("LOCKSTEP_GPU");
        if (!name || !*name || strncasecmp(name, "cuda:", 5) == 0)
            name = "sim:h200";
        status = set_gpu(name, &message);
    }
    if (status == CUDA_SUCCESS && visible_devices(drv_device_count) == 0)
        status = CUDA_ERROR_NO_DEVICE;
    drv_leave_lock();
    if (message)
        drv_remark("%s", message);
    free(message);
    return status;
}

CUresult drv_check_device(CUdevice device)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (device < 0 || device >= visible_devices(drv_device_count))
        return CUDA_ERROR_INVALID_DEVICE;
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGet(CUdevice *device, int ordinal)
{
    if (drv_device_count && !device)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult status = drv_check_device(ordinal);
    if (status == CUDA_SUCCESS)
        *device = ordinal;
    return status;
}

CUresult drv_cuDeviceGetCount(int *count)
{
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = visible_devices(drv_device_count);
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetName(char *name, int length, CUdevice device)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!name || length <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)length, "%s", drv_devices[device].gpu->name);
    return CUDA_SUCCESS;
}

/* Stable: from the GPU's id and the ordinal (FNV-1a, twice), marked as a random UUID. */
CUresult drv_cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!uuid)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t hash = LK_HASH64 + (unsigned)device;
    const char *id = drv_devices[device].gpu->id;
    for (int i = 0; i < 16; i++) {
        hash = lk_hash64(hash, id, strlen(id));
        uuid->bytes[i] = (char)(hash >> 32);
    }
    uuid->bytes[6] = (char)((uuid->bytes[6] & 0x0f) | 0x40);
    uuid->bytes[8] = (char)((uuid->bytes[8] & 0x3f) | 0x80);
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return drv_cuDeviceGetUuid_v2(uuid, device);
}

CUresult drv_cuDeviceGetLuid(char *luid, unsigned *mask, CUdevice device)
{
    return CUDA_ERROR_NOT_SUPPORTED; /* a Windows matter */
}

CUresult drv_cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = drv_devices[device].gpu->memory_bytes;
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceComputeCapability(int *major, int *minor, CUdevice device)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    *major = (int)drv_devices[device].gpu->cc_major;
    *minor = (int)drv_devices[device].gpu->cc_minor;
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetProperties(CUdevprop *prop, CUdevice device)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!prop)
        return CUDA_ERROR_INVALID_VALUE;
    const struct gpu_info *gpu = drv_devices[device].gpu;
    *prop = (CUdevprop){.maxThreadsPerBlock = (int)gpu->threads_per_block,
                        .maxThreadsDim = {1024, 1024, 64},
                        .maxGridSize = {2147483647, 65535, 65535},
                        .sharedMemPerBlock = (int)gpu->shared_per_block,
                        .totalConstantMemory = 65536,
                        .SIMDWidth = 32,
                        .memPitch = 2147483647,
                        .regsPerBlock = (int)gpu->registers_per_block,
                        .clockRate = (int)gpu->boost_mhz * 1000,
                        .textureAlign = 512};
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetPCIBusId(char *text, int length, CUdevice device)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!text || length <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(text, (size_t)length, "0000:%02X:00.0", device + 1);
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetByPCIBusId(CUdevice *device, const char *text)
{
    unsigned long parts[3] = {0}; /* domain, bus, slot; without a domain the last two */
    unsigned count = 0;
    if (!drv_device_count)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!device || !text)
        return CUDA_ERROR_INVALID_VALUE;
    for (char *end; count < 3 && isxdigit((unsigned char)*text); text = end + (*end == ':'))
        parts[count++] = strtoul(text, &end, 16);
    if (count < 2)
        return CUDA_ERROR_INVALID_VALUE;
    unsigned long domain = count == 3 ? parts[0] : 0;
    unsigned long bus = parts[count - 2], slot = parts[count - 1];
    if (domain || slot || bus < 1 || bus > (unsigned)drv_device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = (int)bus - 1;
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    CUresult status = drv_check_device(device);
    if (status == CUDA_SUCCESS)
        status = drv_check_device(peer);
    if (status != CUDA_SUCCESS)
        return status;
    if (!can)
        return CUDA_ERROR_INVALID_VALUE;
    *can = 0; /* each device is a machine of its own; copies between them work */
    return CUDA_SUCCESS;
}

CUresult drv_cuDeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute, CUdevice source,
                                     CUdevice target)
{
    if (source == target)
        return CUDA_ERROR_INVALID_DEVICE;
    CUresult status = drv_cuDeviceCanAccessPeer(value, source, target);
    if (status == CUDA_SUCCESS && (attribute < 1 || attribute > 5))
        return CUDA_ERROR_INVALID_VALUE;
    return status;
}
