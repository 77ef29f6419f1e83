/*
 * dialect.h: the kernel library's former names, for the families that are not yet in plain CUDA C.
 * It goes with the last of them.
 */
#ifndef LOCKSTEP_KERNELS_DIALECT_H
#define LOCKSTEP_KERNELS_DIALECT_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;

#define KERNEL extern "C" __global__ void
#define DEVICE static __device__ __forceinline__
#define FULL_WARP 0xffffffffu
/* Dynamic shared memory as an array of bytes, aligned for 16-byte accesses. */
#define DYNAMIC_SHARED(name) extern __shared__ __align__(16) u8 name[]

/* Where am I ------------------------------------------------------------------------------------*/

#define LK_SREG(function, name)                                                                    \
    DEVICE u32 function(void)                                                                      \
    {                                                                                              \
        u32 value;                                                                                 \
        asm("mov.u32 %0, %%" name ";" : "=r"(value));                                              \
        return value;                                                                              \
    }
LK_SREG(thread_x, "tid.x")
LK_SREG(thread_y, "tid.y")
LK_SREG(thread_z, "tid.z")
LK_SREG(block_x, "ctaid.x")
LK_SREG(block_y, "ctaid.y")
LK_SREG(block_z, "ctaid.z")
LK_SREG(threads_x, "ntid.x")
LK_SREG(threads_y, "ntid.y")
LK_SREG(threads_z, "ntid.z")
LK_SREG(blocks_x, "nctaid.x")
LK_SREG(blocks_y, "nctaid.y")
LK_SREG(blocks_z, "nctaid.z")
LK_SREG(lane_id, "laneid")

/* Index among all threads of a one-dimensional grid, and how many there are. */
DEVICE i64 global_thread(void)
{
    return (i64)block_x() * threads_x() + thread_x();
}
DEVICE i64 global_threads(void)
{
    return (i64)blocks_x() * threads_x();
}

/* Synchronising ---------------------------------------------------------------------------------*/

DEVICE void sync_block(void)
{
    asm volatile("barrier.sync 0;" ::: "memory");
}
DEVICE void sync_warp(void)
{
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}
DEVICE u32 block_count(bool predicate) /* how many threads say yes; a barrier */
{
    u32 count;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; barrier.red.popc.u32 %0, 0, p; }"
                 : "=r"(count)
                 : "r"((u32)predicate)
                 : "memory");
    return count;
}
DEVICE void fence_gpu(void)
{
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

/* Within a warp; all 32 lanes take part ---------------------------------------------------------*/

#define LK_SHUFFLE(name, mode, limit)                                                              \
    DEVICE u32 name##_u32(u32 value, u32 lane)                                                     \
    {                                                                                              \
        u32 result;                                                                                \
        asm volatile("shfl.sync." mode ".b32 %0, %1, %2, " limit ", 0xffffffff;"                   \
                     : "=r"(result)                                                                \
                     : "r"(value), "r"(lane));                                                     \
        return result;                                                                             \
    }                                                                                              \
    DEVICE u64 name##_u64(u64 value, u32 lane)                                                     \
    {                                                                                              \
        u32 low = name##_u32((u32)value, lane), high = name##_u32((u32)(value >> 32), lane);       \
        return (u64)high << 32 | low;                                                              \
    }                                                                                              \
    DEVICE i32 name##_i32(i32 value, u32 lane)                                                     \
    {                                                                                              \
        return (i32)name##_u32((u32)value, lane);                                                  \
    }                                                                                              \
    DEVICE i64 name##_i64(i64 value, u32 lane)                                                     \
    {                                                                                              \
        return (i64)name##_u64((u64)value, lane);                                                  \
    }                                                                                              \
    DEVICE f32 name##_f32(f32 value, u32 lane)                                                     \
    {                                                                                              \
        return f32_from_bits(name##_u32(f32_bits(value), lane));                                   \
    }                                                                                              \
    DEVICE f64 name##_f64(f64 value, u32 lane)                                                     \
    {                                                                                              \
        return f64_from_bits(name##_u64(f64_bits(value), lane));                                   \
    }

DEVICE u32 f32_bits(f32 value)
{
    u32 bits;
    asm("mov.b32 %0, %1;" : "=r"(bits) : "f"(value));
    return bits;
}
DEVICE f32 f32_from_bits(u32 bits)
{
    f32 value;
    asm("mov.b32 %0, %1;" : "=f"(value) : "r"(bits));
    return value;
}
DEVICE u64 f64_bits(f64 value)
{
    u64 bits;
    asm("mov.b64 %0, %1;" : "=l"(bits) : "d"(value));
    return bits;
}
DEVICE f64 f64_from_bits(u64 bits)
{
    f64 value;
    asm("mov.b64 %0, %1;" : "=d"(value) : "l"(bits));
    return value;
}

LK_SHUFFLE(shuffle, "idx", "31")       /* the value of a lane */
LK_SHUFFLE(shuffle_down, "down", "31") /* of the lane so far above; one's own at the end */
LK_SHUFFLE(shuffle_up, "up", "0")      /* of the lane so far below; one's own at the beginning */
LK_SHUFFLE(shuffle_xor, "bfly", "31")  /* of the lane with these bits turned */

DEVICE u32 warp_ballot(bool predicate)
{
    u32 lanes;
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; vote.sync.ballot.b32 %0, p, 0xffffffff; }"
                 : "=r"(lanes)
                 : "r"((u32)predicate));
    return lanes;
}
DEVICE bool warp_any(bool predicate)
{
    return warp_ballot(predicate) != 0;
}
DEVICE bool warp_all(bool predicate)
{
    return warp_ballot(predicate) == FULL_WARP;
}
DEVICE u32 warp_match(u32 value) /* the lanes that hold the same value */
{
    u32 lanes;
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(lanes) : "r"(value));
    return lanes;
}
DEVICE u32 count_bits(u32 bits)
{
    u32 count;
    asm("popc.b32 %0, %1;" : "=r"(count) : "r"(bits));
    return count;
}
DEVICE u32 lowest_bit(u32 bits) /* its number; 32 if there is none */
{
    u32 reversed, zeros;
    asm("brev.b32 %0, %1;" : "=r"(reversed) : "r"(bits));
    asm("clz.b32 %0, %1;" : "=r"(zeros) : "r"(reversed));
    return zeros;
}

/* Four bytes picked from a (0 to 3) and b (4 to 7), one for each hexadecimal digit of choice. */
DEVICE u32 permute_bytes(u32 a, u32 b, u32 choice)
{
    u32 result;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(choice));
    return result;
}

/* Vectors of 16 bytes and loads -----------------------------------------------------------------*/

typedef float4 f32x4;
typedef uint4 u32x4;

/* Read once and never written by this kernel: past the L1, first to leave the L2. */
DEVICE f32x4 load_stream_f32x4(const void *at)
{
    f32x4 v;
    asm("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
        : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
        : "l"(at));
    return v;
}
DEVICE u32x4 load_stream_u32x4(const void *at)
{
    u32x4 v;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
        : "l"(at));
    return v;
}
DEVICE f32 load_stream_f32(const f32 *at)
{
    f32 v;
    asm("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(at));
    return v;
}
DEVICE u32 load_stream_u32(const void *at)
{
    u32 v;
    asm("ld.global.nc.L1::no_allocate.u32 %0, [%1];" : "=r"(v) : "l"(at));
    return v;
}
/* Read once, and perhaps written by this kernel afterwards. Volatile: a load that stands before a
 * store stays there, where a compiler that counts registers would move it down. */
DEVICE f32x4 load_once_f32x4(const void *at)
{
    f32x4 v;
    asm volatile("ld.global.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(at));
    return v;
}
/* Never written by this kernel, and kept in the L1 for whoever asks next. */
DEVICE f32 load_cached_f32(const f32 *at)
{
    f32 v;
    asm("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(at));
    return v;
}
DEVICE i32 load_cached_i32(const i32 *at)
{
    i32 v;
    asm("ld.global.nc.s32 %0, [%1];" : "=r"(v) : "l"(at));
    return v;
}
/* As load_once_f32x4, and the L2 fetches 256 bytes around it. */
DEVICE f32x4 load_once_256_f32x4(const void *at)
{
    f32x4 v;
    asm volatile("ld.global.L1::no_allocate.L2::256B.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(at));
    return v;
}
/* Written once, not read again by this kernel. */
DEVICE void store_stream_f32x4(void *at, f32x4 v)
{
    asm volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at), "f"(v.x), "f"(v.y),
                 "f"(v.z), "f"(v.w)
                 : "memory");
}
DEVICE void store_stream_f32(f32 *at, f32 v)
{
    asm volatile("st.global.cs.f32 [%0], %1;" ::"l"(at), "f"(v) : "memory");
}
/* One instruction for all 16 bytes, whatever the compiler thinks of the structure. */
DEVICE void store_global_f32x4(void *at, f32x4 v)
{
    asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(at), "f"(v.x), "f"(v.y), "f"(v.z),
                 "f"(v.w)
                 : "memory");
}
/* Plain 16-byte accesses of any space, when order matters. */
DEVICE f32x4 load_f32x4(const f32 *at)
{
    return *(const f32x4 *)at;
}
DEVICE void store_f32x4(f32 *at, f32x4 v)
{
    *(f32x4 *)at = v;
}
DEVICE bool is_aligned(const void *at, u32 bytes)
{
    return ((u64)at & (bytes - 1)) == 0;
}

/* Between blocks --------------------------------------------------------------------------------*/

DEVICE u32 load_acquire_u32(const u32 *at)
{
    u32 value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
/* What others may change at the same time, without order. */
DEVICE u32 load_relaxed_u32(const u32 *at)
{
    u32 value;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}
/* A value and its flag in one word need no fence. */
DEVICE void store_relaxed_u64(u64 *at, u64 value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(value) : "memory");
}
DEVICE u64 load_relaxed_u64(const u64 *at)
{
    u64 value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
}

/* Between kernels: a launch that overlaps (zoo_grid.overlaps) begins before its predecessor's end;
 * sm_90 ---------------------------------------------------------------------------------------*/

/* The kernel behind this one may be brought to the GPU once every block has said so. */
DEVICE void let_next_begin(void)
{
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
/* Until the kernel before this one has ended and all it wrote can be read. */
DEVICE void wait_for_previous(void)
{
    asm volatile("griddepcontrol.wait;" ::: "memory");
}

/* Atomics: the old value; red_ forms give none back ---------------------------------------------*/

#define LK_ATOMIC(name, operation, type, letter)                                                   \
    DEVICE type atomic_##name(type *at, type value)                                                \
    {                                                                                              \
        type old;                                                                                  \
        asm volatile("atom.relaxed.gpu.global." operation " %0, [%1], %2;"                         \
                     : "=" letter(old)                                                             \
                     : "l"(at), letter(value)                                                      \
                     : "memory");                                                                  \
        return old;                                                                                \
    }                                                                                              \
    DEVICE void red_##name(type *at, type value)                                                   \
    {                                                                                              \
        asm volatile("red.relaxed.gpu.global." operation " [%0], %1;" ::"l"(at), letter(value)     \
                     : "memory");                                                                  \
    }
LK_ATOMIC(add_u32, "add.u32", u32, "r")
LK_ATOMIC(add_f32, "add.f32", f32, "f")
LK_ATOMIC(add_f64, "add.f64", f64, "d")

DEVICE u32 compare_and_swap_u32(u32 *at, u32 expected, u32 value)
{
    u32 old;
    asm volatile("atom.relaxed.gpu.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(old)
                 : "l"(at), "r"(expected), "r"(value)
                 : "memory");
    return old;
}

/* Shared memory by its own 32-bit addresses -----------------------------------------------------*/

DEVICE u32 shared_add_u32(u32 *at, u32 value)
{
    u32 old;
    asm volatile("atom.relaxed.cta.shared.add.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(shared_address(at)), "r"(value)
                 : "memory");
    return old;
}
DEVICE void shared_red_add_u32(u32 *at, u32 value)
{
    asm volatile("red.relaxed.cta.shared.add.u32 [%0], %1;" ::"r"(shared_address(at)), "r"(value)
                 : "memory");
}

/* The same by address: what a loop computes then stays in one 32-bit register. */
DEVICE u32 shared_add_at(u32 address, u32 value)
{
    u32 old;
    asm volatile("atom.relaxed.cta.shared.add.u32 %0, [%1], %2;"
                 : "=r"(old)
                 : "r"(address), "r"(value)
                 : "memory");
    return old;
}
DEVICE void shared_red_add_at(u32 address, u32 value)
{
    asm volatile("red.relaxed.cta.shared.add.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

/* Numbers ---------------------------------------------------------------------------------------*/

DEVICE f32 fma_f32(f32 a, f32 b, f32 c)
{
    f32 result;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(result) : "f"(a), "f"(b), "f"(c));
    return result;
}
DEVICE u32 u32_from_f32(f32 value) /* cut; 0 for what is negative or NaN */
{
    u32 result;
    asm("cvt.rzi.u32.f32 %0, %1;" : "=r"(result) : "f"(value));
    return result;
}
DEVICE i64 least(i64 a, i64 b)
{
    return a < b ? a : b;
}

#define warp_chooses_me elect_one

#endif
