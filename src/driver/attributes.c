/*
 * attributes.c: cuDeviceGetAttribute. What differs between GPUs comes from src/gpu; the rest is a
 * table of what every GPU since Volta reports under Linux, except for what simt does not do
 * (events of other processes, external memory), so that a program that asks takes another
 * path.
 */
#include "driver/state.h"

#define A(name) CU_DEVICE_ATTRIBUTE_##name

static const int fixed[A(MAX)] = {
    [A(MAX_BLOCK_DIM_X)] = 1024,
    [A(MAX_BLOCK_DIM_Y)] = 1024,
    [A(MAX_BLOCK_DIM_Z)] = 64,
    [A(MAX_GRID_DIM_X)] = 2147483647,
    [A(MAX_GRID_DIM_Y)] = 65535,
    [A(MAX_GRID_DIM_Z)] = 65535,
    [A(TOTAL_CONSTANT_MEMORY)] = 65536,
    [A(WARP_SIZE)] = 32,
    [A(MAX_PITCH)] = 2147483647,
    [A(TEXTURE_ALIGNMENT)] = 512,
    [A(GPU_OVERLAP)] = 1,
    [A(CAN_MAP_HOST_MEMORY)] = 1,
    [A(MAXIMUM_TEXTURE1D_WIDTH)] = 131072,
    [A(MAXIMUM_TEXTURE2D_WIDTH)] = 131072,
    [A(MAXIMUM_TEXTURE2D_HEIGHT)] = 65536,
    [A(MAXIMUM_TEXTURE3D_WIDTH)] = 16384,
    [A(MAXIMUM_TEXTURE3D_HEIGHT)] = 16384,
    [A(MAXIMUM_TEXTURE3D_DEPTH)] = 16384,
    [A(MAXIMUM_TEXTURE2D_LAYERED_WIDTH)] = 32768,
    [A(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT)] = 32768,
    [A(MAXIMUM_TEXTURE2D_LAYERED_LAYERS)] = 2048,
    [A(SURFACE_ALIGNMENT)] = 512,
    [A(CONCURRENT_KERNELS)] = 1,
    [A(UNIFIED_ADDRESSING)] = 1,
    [A(MAXIMUM_TEXTURE1D_LAYERED_WIDTH)] = 32768,
    [A(MAXIMUM_TEXTURE1D_LAYERED_LAYERS)] = 2048,
    [A(CAN_TEX2D_GATHER)] = 1,
    [A(MAXIMUM_TEXTURE2D_GATHER_WIDTH)] = 32768,
    [A(MAXIMUM_TEXTURE2D_GATHER_HEIGHT)] = 32768,
    [A(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE)] = 8192,
    [A(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE)] = 8192,
    [A(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE)] = 32768,
    [A(TEXTURE_PITCH_ALIGNMENT)] = 32,
    [A(MAXIMUM_TEXTURECUBEMAP_WIDTH)] = 32768,
    [A(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH)] = 32768,
    [A(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS)] = 2046,
    [A(MAXIMUM_SURFACE1D_WIDTH)] = 32768,
    [A(MAXIMUM_SURFACE2D_WIDTH)] = 131072,
    [A(MAXIMUM_SURFACE2D_HEIGHT)] = 65536,
    [A(MAXIMUM_SURFACE3D_WIDTH)] = 16384,
    [A(MAXIMUM_SURFACE3D_HEIGHT)] = 16384,
    [A(MAXIMUM_SURFACE3D_DEPTH)] = 16384,
    [A(MAXIMUM_SURFACE1D_LAYERED_WIDTH)] = 32768,
    [A(MAXIMUM_SURFACE1D_LAYERED_LAYERS)] = 2048,
    [A(MAXIMUM_SURFACE2D_LAYERED_WIDTH)] = 32768,
    [A(MAXIMUM_SURFACE2D_LAYERED_HEIGHT)] = 32768,
    [A(MAXIMUM_SURFACE2D_LAYERED_LAYERS)] = 2048,
    [A(MAXIMUM_SURFACECUBEMAP_WIDTH)] = 32768,
    [A(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH)] = 32768,
    [A(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS)] = 2046,
    [A(MAXIMUM_TEXTURE1D_LINEAR_WIDTH)] = 268435456,
    [A(MAXIMUM_TEXTURE2D_LINEAR_WIDTH)] = 131072,
    [A(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT)] = 65000,
    [A(MAXIMUM_TEXTURE2D_LINEAR_PITCH)] = 2097120,
    [A(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH)] = 32768,
    [A(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT)] = 32768,
    [A(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH)] = 32768,
    [A(STREAM_PRIORITIES_SUPPORTED)] = 1,
    [A(GLOBAL_L1_CACHE_SUPPORTED)] = 1,
    [A(LOCAL_L1_CACHE_SUPPORTED)] = 1,
    [A(MANAGED_MEMORY)] = 1,
    [A(CONCURRENT_MANAGED_ACCESS)] = 1,
    [A(COMPUTE_PREEMPTION_SUPPORTED)] = 1,
    [A(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)] = 1,
    [A(COOPERATIVE_LAUNCH)] = 1,
    [A(HOST_REGISTER_SUPPORTED)] = 1,
    [A(READ_ONLY_HOST_REGISTER_SUPPORTED)] = 1,
    [A(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)] = 1,
    [A(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)] = 1,
    [A(MEMPOOL_SUPPORTED_HANDLE_TYPES)] = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
    [A(HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)] = 1,
    [A(HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)] = 1,
    [A(MEMORY_POOLS_SUPPORTED)] = 1,
    [A(CAN_USE_64_BIT_STREAM_MEM_OPS)] = 1,
    [A(CAN_USE_STREAM_WAIT_VALUE_NOR)] = 1,
    [A(NUMA_ID)] = -1,
    [A(MAX_ACCESS_POLICY_WINDOW_SIZE)] = 134217728,
};

static int of_gpu(const struct gpu_info *gpu, int ordinal, CUdevice_attribute attribute, int else_)
{
    switch (attribute) {
    case A(MAX_THREADS_PER_BLOCK):
        return (int)gpu->threads_per_block;
    case A(MAX_SHARED_MEMORY_PER_BLOCK):
        return (int)gpu->shared_per_block;
    case A(MAX_REGISTERS_PER_BLOCK):
        return (int)gpu->registers_per_block;
    case A(CLOCK_RATE):
        return (int)gpu->boost_mhz * 1000;
    case A(MULTIPROCESSOR_COUNT):
        return (int)gpu->sms;
    case A(ECC_ENABLED):
        return gpu->memory_bus_bits >= 1024; /* HBM parts keep it on */
    case A(PCI_BUS_ID):
        return ordinal + 1;
    case A(MEMORY_CLOCK_RATE):
        return (int)gpu->memory_mhz * 1000;
    case A(GLOBAL_MEMORY_BUS_WIDTH):
        return (int)gpu->memory_bus_bits;
    case A(L2_CACHE_SIZE):
        return (int)gpu->l2_bytes;
    case A(MAX_THREADS_PER_MULTIPROCESSOR):
        return (int)gpu->threads_per_sm;
    case A(ASYNC_ENGINE_COUNT):
        return (int)gpu->copy_engines;
    case A(COMPUTE_CAPABILITY_MAJOR):
        return (int)gpu->cc_major;
    case A(COMPUTE_CAPABILITY_MINOR):
        return (int)gpu->cc_minor;
    case A(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR):
        return (int)gpu->shared_per_sm;
    case A(MAX_REGISTERS_PER_MULTIPROCESSOR):
        return (int)gpu->registers_per_sm;
    case A(MULTI_GPU_BOARD_GROUP_ID):
        return ordinal;
    case A(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO):
        return gpu->f64_tflops > 0 ? (int)(gpu->f32_tflops / gpu->f64_tflops + 0.5) : 32;
    case A(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN):
        return (int)gpu->shared_per_block_optin;
    case A(MAX_BLOCKS_PER_MULTIPROCESSOR):
        return (int)gpu->blocks_per_sm;
    case A(MAX_PERSISTING_L2_CACHE_SIZE):
        return gpu->cc_major >= 8 ? (int)(gpu->l2_bytes / 8 * 5) : 0;
    case A(MAX_ACCESS_POLICY_WINDOW_SIZE):
        return gpu->cc_major >= 8 ? else_ : 0;
    case A(RESERVED_SHARED_MEMORY_PER_BLOCK):
        return (int)gpu->shared_reserved_per_block;
    case A(CLUSTER_LAUNCH):
    case A(UNIFIED_FUNCTION_POINTERS):
        return gpu->cc_major >= 9;
    case A(MEM_SYNC_DOMAIN_COUNT):
        return gpu->cc_major >= 9 ? 4 : 1;
    default:
        return else_;
    }
}

CUresult drv_cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    CUresult status = drv_check_device(device);
    if (status != CUDA_SUCCESS)
        return status;
    if (!value || attribute < 1 || attribute >= A(MAX))
        return CUDA_ERROR_INVALID_VALUE;
    *value = of_gpu(drv_devices[device].gpu, device, attribute, fixed[attribute]);
    return CUDA_SUCCESS;
}
