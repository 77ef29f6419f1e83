/*
 * table.c: the known GPUs, one row each.
 * What a compute capability fixes is written once, in the LIMITS_ macros (CUDA C++ Programming
 * Guide, "Technical Specifications per Compute Capability"); what a product fixes is in its row,
 * from the documents that the row's source names. Clocks, bus widths and cache sizes are the ones
 * that the device reports through cudaGetDeviceProperties. Rates that a document does not print
 * are results per clock and SM (the guide's "Arithmetic Instructions") x SMs x boost clock.
 * Tensor rates are dense and accumulate in 32 bits.
 */
#include "gpu/gpu.h"

#define KIB(n) ((n)*1024u)
#define MIB(n) ((size_t)(n) << 20)
#define GIB(n) ((size_t)(n) << 30)

#define LIMITS_ALL                                                                                 \
    .shared_per_block = KIB(48), .registers_per_sm = 65536, .registers_per_block = 65536,          \
    .registers_per_thread = 255, .register_granularity = 256, .threads_per_block = 1024,           \
    .schedulers_per_sm = 4

#define LIMITS_75                                                                                  \
    LIMITS_ALL, .cc_major = 7, .cc_minor = 5, .warps_per_sm = 32, .threads_per_sm = 1024,          \
                .blocks_per_sm = 16, .l1_bytes_per_sm = KIB(96), .shared_per_sm = KIB(64),         \
                .shared_per_block_optin = KIB(64), .shared_reserved_per_block = 0,                 \
                .shared_granularity = 256

#define LIMITS_80                                                                                  \
    LIMITS_ALL, .cc_major = 8, .cc_minor = 0, .warps_per_sm = 64, .threads_per_sm = 2048,          \
                .blocks_per_sm = 32, .l1_bytes_per_sm = KIB(192), .shared_per_sm = KIB(164),       \
                .shared_per_block_optin = KIB(163), .shared_reserved_per_block = KIB(1),           \
                .shared_granularity = 128

#define LIMITS_86                                                                                  \
    LIMITS_ALL, .cc_major = 8, .cc_minor = 6, .warps_per_sm = 48, .threads_per_sm = 1536,          \
                .blocks_per_sm = 16, .l1_bytes_per_sm = KIB(128), .shared_per_sm = KIB(100),       \
                .shared_per_block_optin = KIB(99), .shared_reserved_per_block = KIB(1),            \
                .shared_granularity = 128

#define LIMITS_89                                                                                  \
    LIMITS_ALL, .cc_major = 8, .cc_minor = 9, .warps_per_sm = 48, .threads_per_sm = 1536,          \
                .blocks_per_sm = 24, .l1_bytes_per_sm = KIB(128), .shared_per_sm = KIB(100),       \
                .shared_per_block_optin = KIB(99), .shared_reserved_per_block = KIB(1),            \
                .shared_granularity = 128

#define LIMITS_LARGE                                                                               \
    LIMITS_ALL, .warps_per_sm = 64, .threads_per_sm = 2048, .blocks_per_sm = 32,                   \
                .l1_bytes_per_sm = KIB(256), .shared_per_sm = KIB(228),                            \
                .shared_per_block_optin = KIB(227), .shared_reserved_per_block = KIB(1),           \
                .shared_granularity = 128
#define LIMITS_90 LIMITS_LARGE, .cc_major = 9, .cc_minor = 0
#define LIMITS_100 LIMITS_LARGE, .cc_major = 10, .cc_minor = 0

/* A100's two memory sizes and H100 and H200 are each the same chip. */
#define A100                                                                                       \
    LIMITS_80, .sms = 108, .boost_mhz = 1410, .memory_bus_bits = 5120, .l2_bytes = MIB(40),        \
               .copy_engines = 3, .f64_tflops = 9.7, .f32_tflops = 19.5, .f16_tflops = 78,         \
               .bf16_tflops = 39, .tensor_f64 = 19.5, .tensor_tf32 = 156, .tensor_f16 = 312,       \
               .tensor_bf16 = 312, .tensor_int8 = 624, .tensor_int4 = 1248, .pcie_gb_s = 64,       \
               .nvlink_gb_s = 600, .watts = 400

/* The GPCs are those by which an H200 holds 66, 30, 15 and 7 clusters of 2, 4, 8 and 16 blocks. */
#define H100                                                                                       \
    LIMITS_90, .sms = 132, .gpc_tpcs = {9, 9, 9, 9, 9, 9, 8, 4}, .boost_mhz = 1980,                \
               .copy_engines = 3, .f64_tflops = 33.5, .f32_tflops = 66.9, .f16_tflops = 133.8,     \
               .bf16_tflops = 133.8, .tensor_f64 = 66.9, .tensor_tf32 = 494.7,                     \
               .tensor_f16 = 989.4, .tensor_bf16 = 989.4, .tensor_f8 = 1978.9,                     \
               .tensor_int8 = 1978.9, .pcie_gb_s = 128, .nvlink_gb_s = 900, .watts = 700

const struct gpu_info gpu_infos[] = {
    {
        .id = "t4",
        .name = "Tesla T4",
        .source = "NVIDIA T4 datasheet; Turing architecture whitepaper",
        LIMITS_75,
        .sms = 40,
        .boost_mhz = 1590,
        .memory_mhz = 5001,
        .memory_bus_bits = 256,
        .memory_gb_s = 320,
        .memory_bytes = GIB(16),
        .l2_bytes = MIB(4),
        .copy_engines = 3,
        .f64_tflops = 0.254,
        .f32_tflops = 8.1,
        .f16_tflops = 16.3,
        .tensor_f16 = 65,
        .tensor_int8 = 130,
        .tensor_int4 = 260,
        .pcie_gb_s = 32,
        .watts = 70,
    },
    {
        .id = "a10",
        .name = "NVIDIA A10",
        .source = "NVIDIA A10 datasheet; Ampere GA102 architecture whitepaper",
        LIMITS_86,
        .sms = 72,
        .boost_mhz = 1695,
        .memory_mhz = 6251,
        .memory_bus_bits = 384,
        .memory_gb_s = 600,
        .memory_bytes = GIB(24),
        .l2_bytes = MIB(6),
        .copy_engines = 2,
        .f64_tflops = 0.488,
        .f32_tflops = 31.2,
        .f16_tflops = 31.2,
        .bf16_tflops = 31.2,
        .tensor_tf32 = 62.5,
        .tensor_f16 = 125,
        .tensor_bf16 = 125,
        .tensor_int8 = 250,
        .tensor_int4 = 500,
        .pcie_gb_s = 64,
        .watts = 150,
    },
    {
        .id = "a100",
        .name = "NVIDIA A100-SXM4-80GB",
        .source = "NVIDIA A100 datasheet (80 GB SXM); A100 architecture whitepaper",
        A100,
        .memory_mhz = 1593,
        .memory_gb_s = 2039,
        .memory_bytes = GIB(80),
    },
    {
        .id = "a100-40gb",
        .name = "NVIDIA A100-SXM4-40GB",
        .source = "NVIDIA A100 datasheet (40 GB SXM); A100 architecture whitepaper",
        A100,
        .memory_mhz = 1215,
        .memory_gb_s = 1555,
        .memory_bytes = GIB(40),
    },
    {
        .id = "l4",
        .name = "NVIDIA L4",
        .source = "NVIDIA L4 datasheet; Ada GPU architecture whitepaper",
        LIMITS_89,
        .sms = 58,
        .boost_mhz = 2040,
        .memory_mhz = 6251,
        .memory_bus_bits = 192,
        .memory_gb_s = 300,
        .memory_bytes = GIB(24),
        .l2_bytes = MIB(48),
        .copy_engines = 2,
        .f64_tflops = 0.473,
        .f32_tflops = 30.3,
        .f16_tflops = 30.3,
        .bf16_tflops = 30.3,
        .tensor_tf32 = 60,
        .tensor_f16 = 121,
        .tensor_bf16 = 121,
        .tensor_f8 = 242.5,
        .tensor_int8 = 242.5,
        .tensor_int4 = 485,
        .pcie_gb_s = 64,
        .watts = 72,
    },
    {
        .id = "l40s",
        .name = "NVIDIA L40S",
        .source = "NVIDIA L40S datasheet; Ada GPU architecture whitepaper",
        LIMITS_89,
        .sms = 142,
        .boost_mhz = 2520,
        .memory_mhz = 9001,
        .memory_bus_bits = 384,
        .memory_gb_s = 864,
        .memory_bytes = GIB(48),
        .l2_bytes = MIB(96),
        .copy_engines = 2,
        .f64_tflops = 1.43,
        .f32_tflops = 91.6,
        .f16_tflops = 91.6,
        .bf16_tflops = 91.6,
        .tensor_tf32 = 183,
        .tensor_f16 = 362,
        .tensor_bf16 = 362,
        .tensor_f8 = 733,
        .tensor_int8 = 733,
        .tensor_int4 = 733,
        .pcie_gb_s = 64,
        .watts = 350,
    },
    {
        .id = "rtx3060",
        .name = "NVIDIA GeForce RTX 3060",
        .source = "GeForce RTX 3060 (12 GB) product page; Ampere GA102 architecture whitepaper",
        LIMITS_86,
        .sms = 28,
        .boost_mhz = 1777,
        .memory_mhz = 7501,
        .memory_bus_bits = 192,
        .memory_gb_s = 360,
        .memory_bytes = GIB(12),
        .l2_bytes = MIB(3),
        .copy_engines = 2,
        .f64_tflops = 0.199,
        .f32_tflops = 12.7,
        .f16_tflops = 12.7,
        .bf16_tflops = 12.7,
        .tensor_tf32 = 12.7,
        .tensor_f16 = 25.5,
        .tensor_bf16 = 25.5,
        .tensor_int8 = 101.9,
        .tensor_int4 = 203.8,
        .pcie_gb_s = 64,
        .watts = 170,
    },
    {
        .id = "rtx4090",
        .name = "NVIDIA GeForce RTX 4090",
        .source = "Ada GPU architecture whitepaper, appendix A",
        LIMITS_89,
        .sms = 128,
        .boost_mhz = 2520,
        .memory_mhz = 10501,
        .memory_bus_bits = 384,
        .memory_gb_s = 1008,
        .memory_bytes = GIB(24),
        .l2_bytes = MIB(72),
        .copy_engines = 2,
        .f64_tflops = 1.29,
        .f32_tflops = 82.6,
        .f16_tflops = 82.6,
        .bf16_tflops = 82.6,
        .tensor_tf32 = 82.6,
        .tensor_f16 = 165.2,
        .tensor_bf16 = 165.2,
        .tensor_f8 = 330.3,
        .tensor_int8 = 660.6,
        .tensor_int4 = 1321.2,
        .pcie_gb_s = 64,
        .watts = 450,
    },
    {
        .id = "h100",
        .name = "NVIDIA H100 80GB HBM3",
        .source = "NVIDIA H100 datasheet (SXM); H100 architecture whitepaper",
        H100,
        .memory_mhz = 2619,
        .memory_bus_bits = 5120,
        .memory_gb_s = 3352,
        .memory_bytes = GIB(80),
        .l2_bytes = MIB(50),
    },
    {
        .id = "h200",
        .name = "NVIDIA H200",
        .source = "NVIDIA H200 datasheet (SXM); H100 architecture whitepaper; properties of one",
        H100,
        .memory_mhz = 3201,
        .memory_bus_bits = 6016,
        .memory_gb_s = 4800,
        .memory_bytes = GIB(141),
        .l2_bytes = MIB(60),
    },
    {
        .id = "b200",
        .name = "NVIDIA B200",
        .source = "NVIDIA HGX B200 datasheet (an eighth of it); CUDA Blackwell tuning guide",
        LIMITS_100,
        .sms = 148,
        .boost_mhz = 1965,
        .memory_mhz = 3996,
        .memory_bus_bits = 7680,
        .memory_gb_s = 7672,
        .memory_bytes = GIB(180),
        .l2_bytes = (size_t)129536 << 10,
        .copy_engines = 4,
        .f64_tflops = 37,
        .f32_tflops = 75,
        .f16_tflops = 149,
        .bf16_tflops = 149,
        .tensor_f64 = 37,
        .tensor_tf32 = 1125,
        .tensor_f16 = 2250,
        .tensor_bf16 = 2250,
        .tensor_f8 = 4500,
        .tensor_f4 = 9000,
        .tensor_int8 = 4500,
        .pcie_gb_s = 128,
        .nvlink_gb_s = 1800,
        .watts = 1000,
    },
};

const unsigned gpu_info_count = sizeof gpu_infos / sizeof gpu_infos[0];
