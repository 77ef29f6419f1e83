/*
 * nvml.c: the drop-in libnvidia-ml for simulated GPUs: which GPUs there are, and their memory, for
 * programs that ask before they use them (JAX, PyTorch's torch.cuda.utilization, pynvml). What a
 * simulated GPU does not have (temperatures, clocks, power) is not here, and NVML's users are told
 * so.
 */
#include "clients/driver_calls.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API(name, ...)                                                                             \
    __attribute__((visibility("default"))) int name(__VA_ARGS__);                                  \
    __attribute__((visibility("default"))) int name(__VA_ARGS__)

/* Values are those of NVIDIA's public header. */
enum {
    NVML_SUCCESS = 0,
    NVML_INVALID_ARGUMENT = 2,
    NVML_NOT_SUPPORTED = 3,
    NVML_NOT_FOUND = 6,
    NVML_INSUFFICIENT_SIZE = 7,
    NVML_UNKNOWN = 999
};

/* A handle is the GPU's number and one more, as a pointer. */
typedef struct nvml_device *device_t;

struct nvml_memory {
    unsigned long long total, free, used;
};
struct nvml_memory_v2 {
    unsigned version;
    unsigned long long total, reserved, free, used;
};
struct nvml_pci {
    char legacy_id[16];
    unsigned domain, bus, device, device_id, subsystem_id;
    char id[32];
};

static int status_of(CUresult result)
{
    return result == CUDA_SUCCESS ? NVML_SUCCESS : NVML_UNKNOWN;
}

static CUdevice number(device_t device)
{
    return (CUdevice)((uintptr_t)device - 1);
}

static int copy_text(char *to, unsigned size, const char *text)
{
    if (!to || strlen(text) >= size)
        return NVML_INSUFFICIENT_SIZE;
    memcpy(to, text, strlen(text) + 1);
    return NVML_SUCCESS;
}

API(nvmlInit_v2, void)
{
    return status_of(cuInit(0));
}
API(nvmlInit, void)
{
    return status_of(cuInit(0));
}
API(nvmlInitWithFlags, unsigned flags)
{
    (void)flags;
    return status_of(cuInit(0));
}
API(nvmlShutdown, void)
{
    return NVML_SUCCESS;
}

__attribute__((visibility("default"))) const char *nvmlErrorString(int status);
__attribute__((visibility("default"))) const char *nvmlErrorString(int status)
{
    switch (status) {
    case NVML_SUCCESS:
        return "Success";
    case NVML_INVALID_ARGUMENT:
        return "Invalid Argument";
    case NVML_NOT_SUPPORTED:
        return "Not Supported on a simulated GPU";
    case NVML_NOT_FOUND:
        return "Not Found";
    case NVML_INSUFFICIENT_SIZE:
        return "Insufficient Size";
    default:
        return "Unknown Error";
    }
}

static int driver_version(char *version, unsigned size)
{
    int cuda = 0;
    char text[32];
    cuDriverGetVersion(&cuda);
    snprintf(text, sizeof text, "%d.%d", cuda / 1000, cuda % 1000 / 10);
    return copy_text(version, size, text);
}

API(nvmlSystemGetDriverVersion, char *version, unsigned size)
{
    return driver_version(version, size);
}
API(nvmlSystemGetNVMLVersion, char *version, unsigned size)
{
    return driver_version(version, size);
}
API(nvmlSystemGetCudaDriverVersion, int *version)
{
    return status_of(cuDriverGetVersion(version));
}
API(nvmlSystemGetCudaDriverVersion_v2, int *version)
{
    return status_of(cuDriverGetVersion(version));
}

static int count_devices(unsigned *count)
{
    int found = 0;
    CUresult result = cuDeviceGetCount(&found);
    *count = (unsigned)found;
    return status_of(result);
}

API(nvmlDeviceGetCount, unsigned *count)
{
    return count_devices(count);
}
API(nvmlDeviceGetCount_v2, unsigned *count)
{
    return count_devices(count);
}

static int device_at(unsigned index, device_t *device)
{
    unsigned count;
    if (count_devices(&count) || index >= count)
        return NVML_INVALID_ARGUMENT;
    *device = (device_t)(uintptr_t)(index + 1);
    return NVML_SUCCESS;
}

API(nvmlDeviceGetHandleByIndex, unsigned index, device_t *device)
{
    return device_at(index, device);
}
API(nvmlDeviceGetHandleByIndex_v2, unsigned index, device_t *device)
{
    return device_at(index, device);
}

static int device_on_bus(const char *id, device_t *device)
{
    CUdevice found;
    if (cuDeviceGetByPCIBusId(&found, id) != CUDA_SUCCESS)
        return NVML_NOT_FOUND;
    *device = (device_t)(uintptr_t)(found + 1);
    return NVML_SUCCESS;
}

API(nvmlDeviceGetHandleByPciBusId, const char *id, device_t *device)
{
    return device_on_bus(id, device);
}
API(nvmlDeviceGetHandleByPciBusId_v2, const char *id, device_t *device)
{
    return device_on_bus(id, device);
}

API(nvmlDeviceGetUUID, device_t device, char *text, unsigned size)
{
    CUuuid uuid;
    char hex[40] = "GPU-", *at = hex + 4;
    if (cuDeviceGetUuid_v2(&uuid, number(device)) != CUDA_SUCCESS)
        return NVML_INVALID_ARGUMENT;
    for (int i = 0; i < 16; i++)
        at += sprintf(at, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                      (unsigned char)uuid.bytes[i]);
    return copy_text(text, size, hex);
}

API(nvmlDeviceGetHandleByUUID, const char *wanted, device_t *device)
{
    unsigned count = 0;
    char uuid[48];
    count_devices(&count);
    for (unsigned i = 0; i < count; i++) {
        device_at(i, device);
        if (nvmlDeviceGetUUID(*device, uuid, sizeof uuid) == NVML_SUCCESS && !strcmp(uuid, wanted))
            return NVML_SUCCESS;
    }
    return NVML_NOT_FOUND;
}

API(nvmlDeviceGetIndex, device_t device, unsigned *index)
{
    *index = (unsigned)number(device);
    return NVML_SUCCESS;
}

API(nvmlDeviceGetMinorNumber, device_t device, unsigned *minor)
{
    *minor = (unsigned)number(device);
    return NVML_SUCCESS;
}

API(nvmlDeviceGetName, device_t device, char *name, unsigned size)
{
    char text[128];
    if (cuDeviceGetName(text, sizeof text, number(device)) != CUDA_SUCCESS)
        return NVML_INVALID_ARGUMENT;
    return copy_text(name, size, text);
}

API(nvmlDeviceGetCudaComputeCapability, device_t device, int *major, int *minor)
{
    CUresult result =
        cuDeviceGetAttribute(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, number(device));
    cuDeviceGetAttribute(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, number(device));
    return status_of(result);
}

/* What this process has allocated is in use. */
static int memory_of(CUdevice device, struct nvml_memory *memory)
{
    size_t total = 0, unused;
    unsigned flags;
    int active = 0;
    CUcontext context;
    CUresult result = cuDeviceTotalMem_v2(&total, device);
    unused = total;
    cuDevicePrimaryCtxGetState(device, &flags, &active);
    if (active && cuDevicePrimaryCtxRetain(&context, device) == CUDA_SUCCESS) {
        cuCtxPushCurrent_v2(context);
        cuMemGetInfo_v2(&unused, &total);
        cuCtxPopCurrent_v2(&context);
        cuDevicePrimaryCtxRelease_v2(device);
    }
    *memory = (struct nvml_memory){total, unused, total - unused};
    return status_of(result);
}

API(nvmlDeviceGetMemoryInfo, device_t device, struct nvml_memory *memory)
{
    return memory_of(number(device), memory);
}

API(nvmlDeviceGetMemoryInfo_v2, device_t device, struct nvml_memory_v2 *memory)
{
    struct nvml_memory plain;
    int status = memory_of(number(device), &plain);
    memory->total = plain.total, memory->free = plain.free, memory->used = plain.used;
    memory->reserved = 0;
    return status;
}

static int pci_of(device_t device, struct nvml_pci *pci)
{
    memset(pci, 0, sizeof *pci);
    if (cuDeviceGetPCIBusId(pci->legacy_id, sizeof pci->legacy_id, number(device)) != CUDA_SUCCESS)
        return NVML_INVALID_ARGUMENT;
    char *end; /* "0000:1b:00.0" */
    pci->domain = (unsigned)strtoul(pci->legacy_id, &end, 16);
    pci->bus = (unsigned)strtoul(*end == ':' ? end + 1 : end, &end, 16);
    pci->device = (unsigned)strtoul(*end == ':' ? end + 1 : end, &end, 16);
    snprintf(pci->id, sizeof pci->id, "%08X:%02X:%02X.0", pci->domain, pci->bus, pci->device);
    return NVML_SUCCESS;
}

API(nvmlDeviceGetPciInfo_v3, device_t device, struct nvml_pci *pci)
{
    return pci_of(device, pci);
}
API(nvmlDeviceGetPciInfo_v2, device_t device, struct nvml_pci *pci)
{
    return pci_of(device, pci);
}

/* The link: 16 lanes of the generation that came with the GPU's; speeds in millions of transfers.
 */
static int generation_of(device_t device, unsigned *generation)
{
    int major = 0, minor;
    int status = nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
    *generation = major >= 9 ? 5 : major == 8 ? 4 : 3;
    return status;
}

API(nvmlDeviceGetCurrPcieLinkGeneration, device_t device, unsigned *generation)
{
    return generation_of(device, generation);
}
API(nvmlDeviceGetMaxPcieLinkGeneration, device_t device, unsigned *generation)
{
    return generation_of(device, generation);
}
API(nvmlDeviceGetGpuMaxPcieLinkGeneration, device_t device, unsigned *generation)
{
    return generation_of(device, generation);
}
API(nvmlDeviceGetCurrPcieLinkWidth, device_t device, unsigned *lanes)
{
    *lanes = 16;
    return NVML_SUCCESS;
}
API(nvmlDeviceGetMaxPcieLinkWidth, device_t device, unsigned *lanes)
{
    *lanes = 16;
    return NVML_SUCCESS;
}
API(nvmlDeviceGetPcieSpeed, device_t device, unsigned *speed)
{
    unsigned generation;
    int status = generation_of(device, &generation);
    *speed = 8000u << (generation - 3);
    return status;
}
API(nvmlDeviceGetPcieLinkMaxSpeed, device_t device, unsigned *speed)
{
    return nvmlDeviceGetPcieSpeed(device, speed);
}

/* Of processes nothing is known, as in a container: there are none to tell of. PyTorch asks as it
 * runs out of memory, and warns where it gets no answer. */
#define PROCESSES(name)                                                                            \
    API(name, device_t device, unsigned *count, void *processes)                                   \
    {                                                                                              \
        if (!count)                                                                                \
            return NVML_INVALID_ARGUMENT;                                                          \
        *count = 0;                                                                                \
        return NVML_SUCCESS;                                                                       \
    }
PROCESSES(nvmlDeviceGetComputeRunningProcesses)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2)
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)

/* PyTorch and XLA want to find these, and take "not supported" for an answer. */
#define NO(name)                                                                                   \
    API(name, void)                                                                                \
    {                                                                                              \
        return NVML_NOT_SUPPORTED;                                                                 \
    }
NO(nvmlDeviceGetUtilizationRates)
NO(nvmlDeviceGetGpuFabricInfoV)
NO(nvmlDeviceGetNvLinkRemoteDeviceType)
NO(nvmlDeviceGetNvLinkRemotePciInfo_v2)
NO(nvmlDeviceGetP2PStatus)
#include "clients/nvml_unsupported.def"
