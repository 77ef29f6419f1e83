/*
 * rows.h: for kernels that take one row of numbers at a time (softmax, norms): bf16, f16 and f32 as
 * 16-byte vectors, and what lanes, warps and a cluster's blocks tell each other about their parts
 * of a row. Arithmetic is in f32 whatever the type. sm_80; the cluster needs sm_90.
 */
#ifndef LOCKSTEP_KERNELS_ROWS_H
#define LOCKSTEP_KERNELS_ROWS_H

#include "bulk.h" /* barriers, of sm_90 */
#include "device.h"

/* Numbers of 16 bits, and f32 by the same names -------------------------------------------------*/

struct bf16 {
    unsigned short bits;
};
struct f16 {
    unsigned short bits;
};

static __device__ __forceinline__ float widen(float x)
{
    return x;
}
static __device__ __forceinline__ float widen(bf16 x)
{
    return __uint_as_float((unsigned)x.bits << 16);
}
static __device__ __forceinline__ float widen(f16 x)
{
    float wide;
    asm("cvt.f32.f16 %0, %1;" : "=f"(wide) : "h"(x.bits));
    return wide;
}
/* To nearest. */
static __device__ __forceinline__ void narrow(float x, float *to)
{
    *to = x;
}
static __device__ __forceinline__ void narrow(float x, bf16 *to)
{
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(to->bits) : "f"(x));
}
static __device__ __forceinline__ void narrow(float x, f16 *to)
{
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to->bits) : "f"(x));
}

/* Vectors of 16 bytes ---------------------------------------------------------------------------*/

template <class T> static constexpr int PER = 16 / sizeof(T); // elements of a vector

template <class T> union vector {
    uint4 words;
    T element[PER<T>];
};

/* Two elements of a word, and back: one instruction rounds both. */
static __device__ __forceinline__ float2 widen_pair(unsigned word, bf16)
{
    return make_float2(__uint_as_float(word << 16), __uint_as_float(word & 0xffff0000));
}
static __device__ __forceinline__ float2 widen_pair(unsigned word, f16)
{
    return make_float2(widen(f16{(unsigned short)word}), widen(f16{(unsigned short)(word >> 16)}));
}
static __device__ __forceinline__ unsigned narrow_pair(float low, float high, bf16)
{
    unsigned word;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}
static __device__ __forceinline__ unsigned narrow_pair(float low, float high, f16)
{
    unsigned word;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}

template <class T> static __device__ __forceinline__ void widen_all(uint4 v, float (&x)[PER<T>])
{
    unsigned word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if constexpr (sizeof(T) == 4) {
            x[k] = __uint_as_float(word[k]);
        } else {
            float2 pair = widen_pair(word[k], T());
            x[2 * k] = pair.x;
            x[2 * k + 1] = pair.y;
        }
    }
}
template <class T> static __device__ __forceinline__ uint4 narrow_all(const float (&x)[PER<T>])
{
    unsigned word[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
        if constexpr (sizeof(T) == 4)
            word[k] = __float_as_uint(x[k]);
        else
            word[k] = narrow_pair(x[2 * k], x[2 * k + 1], T());
    }
    return make_uint4(word[0], word[1], word[2], word[3]);
}

/* The words as they are, but the compiler forgets what it has made of them: it would keep every
 * number widened from one use to the next, in twice the registers. */
template <int V> static __device__ __forceinline__ void only_words(uint4 (&v)[V])
{
#pragma unroll
    for (int i = 0; i < V; i++)
        v[i] = make_uint4(keep(v[i].x), keep(v[i].y), keep(v[i].z), keep(v[i].w));
}

/* The part of a row that a thread holds: V vectors, which begin at multiples of 16 bytes wherever
 * the row itself does, so that all but the first and the last of a row are one load each. Where the
 * rows of two buffers lie differently in 16 bytes, neighbouring threads take neighbouring elements
 * instead. */
struct share {
    long long first, step, end; // the first element, from one vector to the next, the row's length
    bool whole;                 // vectors at multiples of 16 bytes; else elements `step` apart
};

/* Of thread `me` of `all`, from element `from` on. */
template <class T>
static __device__ __forceinline__ share share_of(const T *row, unsigned me, unsigned all,
                                                 long long from, long long end, bool whole)
{
    if (!whole)
        return share{from + me, all, end, false};
    long long before = (size_t)row % 16 / sizeof(T);
    return share{from - before + (long long)me * PER<T>, (long long)all * PER<T>, end, true};
}

static __device__ __forceinline__ bool is_inside(share s, int vectors, int per)
{
    return s.whole && s.first >= 0 && s.first + (vectors - 1) * s.step + per <= s.end;
}

/* Where element k of vector v is. */
template <class T> static __device__ __forceinline__ long long place(share s, int v, int k)
{
    return s.whole ? s.first + v * s.step + k : s.first + (v * PER<T> + k) * s.step;
}

/* What lies outside of the row becomes `filler`. */
template <class T, int V>
static __device__ __forceinline__ void load_share(const T *row, share s, float filler,
                                                  uint4 (&x)[V])
{
    if (is_inside(s, V, PER<T>)) {
#pragma unroll
        for (int v = 0; v < V; v++)
            x[v] = load_once((const uint4 *)(row + s.first + v * s.step));
        return;
    }
#pragma unroll
    for (int v = 0; v < V; v++) {
        long long at = s.first + v * s.step;
        vector<T> part;
        if (s.whole && at >= 0 && at + PER<T> <= s.end) {
            part.words = load_once((const uint4 *)(row + at));
        } else {
#pragma unroll
            for (int k = 0; k < PER<T>; k++) {
                long long here = place<T>(s, v, k);
                if (here >= 0 && here < s.end)
                    part.element[k] = row[here];
                else
                    narrow(filler, &part.element[k]);
            }
        }
        x[v] = part.words;
    }
}

/* Vector v of the share. s.end is where the row ends in memory, which may be further on than where
 * it was read to. */
template <class T>
static __device__ __forceinline__ void store_share(T *row, share s, int v, const float (&y)[PER<T>])
{
    long long at = s.first + v * s.step;
    if (s.whole && at >= 0 && at + PER<T> <= s.end) {
        store_stream((uint4 *)(row + at), narrow_all<T>(y));
        return;
    }
    if (s.whole && (at >= s.end || at + PER<T> <= 0))
        return;
#pragma unroll
    for (int k = 0; k < PER<T>; k++) {
        long long here = place<T>(s, v, k);
        if (here >= 0 && here < s.end)
            narrow(y[k], &row[here]);
    }
}

/* Over groups of `lanes` neighbours, a power of two; every lane gets its group's ----------------*/

static __device__ __forceinline__ float sum_lanes(float x, unsigned lanes)
{
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        x += __shfl_xor_sync(0xffffffff, x, distance);
    return x;
}
static __device__ __forceinline__ float max_lanes(float x, unsigned lanes)
{
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2)
        x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, distance));
    return x;
}

/* Every thread of a block of whole warps gets the block's; of_warp has 32 places in shared memory.
 */
static __device__ __forceinline__ float sum_block(float x, float *of_warp)
{
    unsigned lane = threadIdx.x % 32;
    x = sum_lanes(x, 32);
    __syncthreads(); // of_warp may still be read
    if (lane == 0)
        of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    return sum_lanes(lane < blockDim.x / 32 ? of_warp[lane] : 0, 32);
}
static __device__ __forceinline__ float max_block(float x, float *of_warp)
{
    unsigned lane = threadIdx.x % 32;
    x = max_lanes(x, 32);
    __syncthreads();
    if (lane == 0)
        of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    return max_lanes(lane < blockDim.x / 32 ? of_warp[lane] : -INFINITY, 32);
}

/* Between the blocks of a cluster (sm_90)
 * --------------------------------------------------------*/

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
static __device__ __forceinline__ unsigned cluster_rank(void)
{
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}
static __device__ __forceinline__ unsigned cluster_size(void)
{
    unsigned size;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return size;
}
/* In two steps: what stands between them need not wait for the other blocks. Written as a release
 * the first one would wait for every load and store under way, which costs more than the barrier.
 */
static __device__ __forceinline__ void cluster_arrive(void)
{
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}
static __device__ __forceinline__ void cluster_wait(void)
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/* To the place in block `rank` where `at` is in this block (distributed shared memory); its 8 bytes
 * count at that block's barrier. */
static __device__ __forceinline__ void send_to_block(float2 *at, barrier *b, unsigned rank,
                                                     float2 value)
{
    asm volatile("{ .reg .b32 there, counter; mapa.shared::cluster.u32 there, %0, %2; "
                 "mapa.shared::cluster.u32 counter, %1, %2; "
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.f32 [there], {%3, %4}, "
                 "[counter]; }" ::"r"(shared_address(at)),
                 "r"(shared_address(b)), "r"(rank), "f"(value.x), "f"(value.y)
                 : "memory");
}

/* What each block of a cluster tells all others: two numbers. Every thread calls begin first and
 * exchange once; lane k of every warp gets the numbers of block k. A block alone has nobody to
 * tell: launched without a cluster, the H200 refuses the instructions. */
struct exchange {
    float2 of_block[16];
    barrier all_here;
};
static __device__ __forceinline__ void exchange_begin(exchange *e)
{
    if (cluster_size() == 1)
        return;
    if (threadIdx.x == 0) {
        barrier_make(&e->all_here, 1);
        barrier_made();
        barrier_arrive_expecting(&e->all_here, cluster_size() * sizeof(float2));
    }
    cluster_arrive();
}
static __device__ __forceinline__ float2 exchange_numbers(exchange *e, float2 mine, float2 none)
{
    unsigned lane = threadIdx.x % 32, blocks = cluster_size();
    if (blocks == 1)
        return lane == 0 ? mine : none;
    cluster_wait(); // every block has begun, and has a barrier that counts
    if (threadIdx.x < blocks)
        send_to_block(&e->of_block[cluster_rank()], &e->all_here, threadIdx.x, mine);
    barrier_wait(&e->all_here, 0);
    return lane < blocks ? e->of_block[lane] : none;
}
#endif

/* Between kernels -------------------------------------------------------------------------------*/

/* Where kernels may overlap (sm_90, and the launch asks for it): the next one may begin; all that
 * the kernels before have written is there. */
static __device__ __forceinline__ void let_next_begin(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}
static __device__ __forceinline__ void wait_for_kernels_before(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/* Logarithms ------------------------------------------------------------------------------------*/

#define LOG2_E 1.4426950408889634f
#define LN_2 0.6931471805599453f

#endif
