"""random_sync.py: random kernels that are synchronised as they must be, and the same with one thing left out.

  random_sync.py SEED [KERNELS]     a CUDA program, on standard output

Threads hand values to one another in phases: through shared and global memory, by block, warp, tile, named and
cluster barriers, mbarriers, asynchronous copies, atomics, tickets and flags between blocks. Each order that
a phase needs has a number; "PROGRAM K M" runs kernel K without order M (0: with all of them). Every
order is needed by the rules, whatever the schedule: `lockstep check` must be silent about M = 0, and report every
other. "PROGRAM" alone prints how many orders each kernel has. tests/random/run.sh does that.
"""
import random
import sys

HEAD = r"""
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cuda/barrier>
#include <cuda_pipeline.h>

namespace cg = cooperative_groups;
enum { THREADS = 128, BLOCKS = 4, ROOM = 128 };

__device__ unsigned partial[BLOCKS], ticket, flag, message[THREADS], results[BLOCKS * THREADS];
__device__ unsigned exchanged[BLOCKS * THREADS], source[THREADS * 2];

__device__ inline void bar(unsigned id, unsigned threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ inline void bar_arrive(unsigned id, unsigned threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ inline unsigned load_acquire(const unsigned *p)
{
    unsigned value;
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
    return value;
}
__device__ inline void store_release(unsigned *p, unsigned value)
{
    asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
__device__ inline void store_relaxed(unsigned *p, unsigned value)
{
    asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
/* The order with this number, unless it is the one that is left out. */
#define ORDER(number, statement) \
    if (WITHOUT != number) { \
        statement; \
    }
"""


class Kernel:
    def __init__(self, rng, index):
        self.rng, self.index = rng, index
        self.orders, self.body, self.shared = 0, [], []
        self.previous = None  # the buffer that the last phase read, whose reads end with no order yet
        self.used = set()

    def order(self, statement):
        self.orders += 1
        return f"    ORDER({self.orders}, {statement})"

    def buffer(self):
        """A buffer in shared memory: a new one, or the last one again, behind an order."""
        if self.previous and self.rng.random() < 0.4:
            self.body.append(self.order("__syncthreads()"))
            return self.previous
        name = f"s{len(self.shared)}"
        self.shared.append(f"    __shared__ unsigned {name}[ROOM];")
        self.previous = name
        return name

    def block(self):
        s, r = self.buffer(), self.rng.randrange(1, 127)
        self.body += [f"    {s}[t] = v;", self.order("__syncthreads()"), f"    v += {s}[(t + {r}) % THREADS];"]

    def rounds(self):
        name, r = f"s{len(self.shared)}", self.rng.randrange(1, 127)
        self.shared.append(f"    __shared__ unsigned {name}[2][ROOM];")
        self.body += [f"    for (unsigned i = 0; i < {self.rng.randint(2, 5)}; i++) {{", f"    {name}[i & 1][t] = v + i;",
                      self.order("__syncthreads()"), f"    v ^= {name}[i & 1][(t + {r}) % THREADS];", "    }"]

    def one_buffer_rounds(self):
        name, r = f"s{len(self.shared)}", self.rng.randrange(1, 127)
        self.shared.append(f"    __shared__ unsigned {name}[ROOM];")
        self.body += [f"    for (unsigned i = 0; i < {self.rng.randint(2, 5)}; i++) {{", f"    {name}[t] = v + i;",
                      self.order("__syncthreads()"), f"    v ^= {name}[(t + {r}) % THREADS];",
                      self.order("__syncthreads()"), "    }"]

    def warp(self):
        s, r = self.buffer(), self.rng.randrange(1, 31)
        self.body += [f"    {s}[t] = v;", self.order("__syncwarp()"), f"    v += {s}[t / 32 * 32 + (t + {r}) % 32];"]

    def tile(self):
        size = self.rng.choice([4, 8, 16])
        s = self.buffer()
        self.body += [f"    {s}[t] = v;",
                      self.order(f"cg::tiled_partition<{size}>(cg::this_thread_block()).sync()"),
                      f"    v += {s}[t ^ {self.rng.randrange(1, size)}];"]

    def shuffle(self):
        s = self.buffer()
        self.body += ["    for (unsigned k = 16; k; k /= 2)", "        v += __shfl_xor_sync(~0u, v, k);",
                      "    if (t % 32 == 0)", f"        {s}[t / 32] = v;", self.order("__syncthreads()"),
                      f"    v ^= {s}[(t / 32 + 1) % 4];"]

    def count(self):
        name = f"s{len(self.shared)}"
        self.shared.append(f"    __shared__ unsigned {name};")
        self.body += ["    if (t == 0)", f"        {name} = 0;", self.order("__syncthreads()"),
                      f"    atomicAdd(&{name}, v & 7);", self.order("__syncthreads()"), f"    v += {name};"]

    def named(self):
        s = self.buffer()
        self.body += [f"    if (t < 64) {{", f"    {s}[t] = v;", self.order("bar(1, 64)"),
                      f"    v += {s}[(t + {self.rng.randrange(1, 63)}) % 64];", "    }"]

    def producer(self):
        name = f"s{len(self.shared)}"
        self.shared.append(f"    __shared__ unsigned {name}[ROOM];")
        self.orders += 1
        n, bar = self.orders, 2 + len(self.shared) % 14  # who has arrived must not arrive there again
        self.body += ["    if (t < 64) {", f"        {name}[t] = v;", f"        if (WITHOUT != {n})", f"            bar_arrive({bar}, THREADS);",
                      "    } else {", f"        if (WITHOUT != {n})", f"            bar({bar}, THREADS);",
                      f"        v += {name}[t - 64];", "    }"]

    def mbarrier(self):
        if "mbarrier" in self.used:
            return
        self.used.add("mbarrier")
        name = f"s{len(self.shared)}"
        self.shared.append(f"    __shared__ unsigned {name}[ROOM];")
        self.shared.append("    __shared__ cuda::barrier<cuda::thread_scope_block> turns;")
        self.body += ["    if (t == 0)", "        init(&turns, THREADS);", "    __syncthreads();", f"    {name}[t] = v;",
                      self.order("turns.arrive_and_wait()"),
                      f"    v += {name}[(t + {self.rng.randrange(1, 127)}) % THREADS];"]

    def copy(self):
        s = self.buffer()
        r = self.rng.randrange(1, 127)
        self.body += [f"    __pipeline_memcpy_async(&{s}[t], &source[t + {self.rng.randrange(100)}], 4);", "    __pipeline_commit();",
                      self.order("__pipeline_wait_prior(0)"), self.order("__syncthreads()"),
                      f"    v += {s}[(t + {r}) % THREADS];"]

    def through_global(self):
        if "global" in self.used:
            return
        self.used.add("global")
        self.body += ["    exchanged[b * THREADS + t] = v;", self.order("__syncthreads()"),
                      f"    v += exchanged[b * THREADS + (t + {self.rng.randrange(1, 127)}) % THREADS];"]

    def last_block(self):
        """The last block adds up what all have written."""
        if "last" in self.used:
            return
        self.used.add("last")
        self.shared.append("    __shared__ unsigned mine;")
        self.body += ["    if (t == 0) {", "        partial[b] = v;", self.order("__threadfence()"),
                      "        mine = atomicAdd(&ticket, 1);", "    }", "    __syncthreads();",
                      "    if (mine == BLOCKS - 1) {", "        __threadfence();", "        for (unsigned k = 0; k < BLOCKS; k++)",
                      "            v += partial[k];", "    }"]

    def message(self):
        """Block 0 writes, and raises a flag; the others wait for it."""
        if "message" in self.used:
            return
        self.used.add("message")
        release = self.rng.random() < 0.5
        self.orders += 1
        n = self.orders
        if release:
            raise_flag = f"        if (WITHOUT != {n})\n            store_release(&flag, 1);\n        else\n            store_relaxed(&flag, 1);"
        else:
            raise_flag = f"        if (WITHOUT != {n})\n            __threadfence();\n        store_relaxed(&flag, 1);"
        self.body += ["    if (b == 0 && t == 0) {", "        message[3] = v;", raise_flag, "    }",
                      "    if (b > 0 && t == 0) {"]
        # A poll without acquire is taken for one with it (docs/check.md), so it is no order to leave out.
        self.body += ["        while (!load_acquire(&flag))", "            ;", "        v += message[3];", "    }"]

    def cluster(self):
        if "cluster" in self.used:
            return
        self.used.add("cluster")
        self.shared.append("    __shared__ unsigned near[ROOM];")
        self.body += ["    near[t] = v;", self.order("cg::this_cluster().sync()"),
                      "    v += cg::this_cluster().map_shared_rank(near, cg::this_cluster().block_rank() ^ 1)[t];",
                      self.order("cg::this_cluster().sync()")]
        if self.rng.random() < 0.5:
            self.body += ["    near[t] = v + 1;"]

    def text(self):
        phases = [self.block, self.rounds, self.one_buffer_rounds, self.warp, self.tile, self.shuffle, self.count, self.named,
                  self.producer, self.mbarrier, self.copy, self.through_global, self.last_block, self.message, self.cluster]
        for _ in range(self.rng.randint(2, 5)):
            self.rng.choice(phases)()
            if self.rng.random() < 0.5:
                self.body.append("    v = v * 1664525 + 1013904223;")
        clusters = " __cluster_dims__(2)" if "cluster" in self.used else ""
        return (f"template <int WITHOUT> __global__ void{clusters} kernel{self.index}()\n{{\n" + "\n".join(self.shared) +
                "\n    unsigned t = threadIdx.x, b = blockIdx.x, v = t * 7 + b;\n" + "\n".join(self.body) +
                "\n    results[b * THREADS + t] = v;\n}\n")


def program(seed, count):
    rng = random.Random(seed)
    text, cases, counts = HEAD, "", []
    for index in range(count):
        kernel = Kernel(rng, index)
        text += kernel.text()
        counts.append(str(kernel.orders))
        for without in range(kernel.orders + 1):
            cases += f"    case {index * 100 + without}:\n        kernel{index}<{without}><<<BLOCKS, THREADS>>>();\n        break;\n"
    return (text + "int main(int argc, char **argv)\n{\n    if (argc < 3)\n        return puts(\"" + " ".join(counts) +
            "\"), 0;\n    void *p;\n    cudaGetSymbolAddress(&p, source);\n    cudaMemset(p, 1, sizeof(source));\n"
            "    switch (atoi(argv[1]) * 100 + atoi(argv[2])) {\n" + cases +
            "    }\n    return cudaDeviceSynchronize() ? 3 : 0;\n}\n")


if __name__ == "__main__":
    print(f"// random_sync.py {' '.join(sys.argv[1:])}")
    print(program(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 8))
