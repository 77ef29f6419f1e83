// Graphs in CSR: breadth-first search by levels (frontier queue with atomics), Bellman-Ford with
// atomicMin, connected components by label hooking, PageRank in fixed point, triangle counting.

#include <climits>
#include <cstdio>
#include <queue>
#include <set>
#include <utility>
#include <vector>

struct graph {
    int nodes;
    std::vector<int> offsets, edges, weights;
};

static graph make_graph(int nodes, int extra)
{
    std::vector<std::set<int>> adjacent(nodes);
    unsigned state = 99;
    auto join = [&](int a, int b) {
        if (a != b)
            adjacent[a].insert(b), adjacent[b].insert(a);
    };
    for (int i = 0; i + 1 < nodes - 20; i++) // the last 20 stay apart
        if (i % 50 != 49)
            join(i, i + 1);
    for (int i = 0; i < extra; i++) {
        state = state * 1664525u + 1013904223u;
        int a = (state >> 8) % (nodes - 20);
        state = state * 1664525u + 1013904223u;
        int b = (state >> 8) % (nodes - 20);
        if (i % 3 && a / 50 != b / 50)
            b = a / 50 * 50 + b % 50 < nodes - 20 ? a / 50 * 50 + b % 50 : a;
        join(a, b);
    }
    graph g = {nodes, {0}, {}, {}};
    for (int i = 0; i < nodes; i++) {
        for (int to : adjacent[i]) {
            g.edges.push_back(to);
            g.weights.push_back((i * 7 + to * 7) % 10 + 1);
        }
        g.offsets.push_back((int)g.edges.size());
    }
    return g;
}

__global__ void bfs_step(const int *offsets, const int *edges, int *level, int depth,
                         const int *frontier, int size, int *next, int *next_size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= size)
        return;
    int node = frontier[i];
    for (int e = offsets[node]; e < offsets[node + 1]; e++)
        if (atomicCAS(&level[edges[e]], -1, depth + 1) == -1)
            next[atomicAdd(next_size, 1)] = edges[e];
}

__global__ void relax(const int *offsets, const int *edges, const int *weights, int *distance,
                      int nodes, int *changed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nodes || distance[i] == INT_MAX)
        return;
    for (int e = offsets[i]; e < offsets[i + 1]; e++) {
        int through = distance[i] + weights[e];
        if (atomicMin(&distance[edges[e]], through) > through)
            *changed = 1;
    }
}

__global__ void hook(const int *offsets, const int *edges, int *label, int nodes, int *changed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nodes)
        return;
    for (int e = offsets[i]; e < offsets[i + 1]; e++) {
        int mine = label[i];
        if (atomicMin(&label[edges[e]], mine) > mine)
            *changed = 1;
    }
}

__global__ void page_rank(const int *offsets, const int *edges, const unsigned *rank,
                          unsigned *next, int nodes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= nodes)
        return;
    unsigned sum = 0;
    for (int e = offsets[i]; e < offsets[i + 1]; e++) {
        int from = edges[e];
        sum += rank[from] / (unsigned)(offsets[from + 1] - offsets[from]);
    }
    next[i] = 150000u + (unsigned)(850ull * sum / 1000ull);
}

__global__ void triangles(const int *offsets, const int *edges, int nodes,
                          unsigned long long *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mine = 0;
    if (i < nodes)
        for (int e = offsets[i]; e < offsets[i + 1]; e++) {
            int j = edges[e];
            if (j <= i)
                continue;
            int a = offsets[i], b = offsets[j];
            while (a < offsets[i + 1] && b < offsets[j + 1]) {
                int x = edges[a], y = edges[b];
                mine += x == y && x > j;
                a += x <= y;
                b += y <= x;
            }
        }
    mine = __reduce_add_sync(~0u, mine);
    if (threadIdx.x % 32 == 0 && mine)
        atomicAdd(count, (unsigned long long)mine);
}

template <class T> T *managed(size_t count, const T *from = nullptr)
{
    T *p;
    cudaMallocManaged(&p, count * sizeof(T));
    for (size_t i = 0; from && i < count; i++)
        p[i] = from[i];
    return p;
}

int main()
{
    graph g = make_graph(1000, 1500);
    const int n = g.nodes, blocks = (n + 127) / 128;
    int *offsets = managed(g.offsets.size(), g.offsets.data());
    int *edges = managed(g.edges.size(), g.edges.data());
    int *weights = managed(g.weights.size(), g.weights.data());
    int *level = managed<int>(n), *a = managed<int>(n), *b = managed<int>(n),
        *flag = managed<int>(1);

    for (int i = 0; i < n; i++)
        level[i] = -1;
    level[0] = a[0] = 0;
    int size = 1, depth = 0, reached = 1;
    for (; size; depth++) {
        *flag = 0;
        bfs_step<<<(size + 63) / 64, 64>>>(offsets, edges, level, depth, a, size, b, flag);
        cudaDeviceSynchronize();
        size = *flag;
        reached += size;
        std::swap(a, b);
    }
    std::vector<int> expected(n, -1);
    std::queue<int> queue;
    queue.push(0);
    expected[0] = 0;
    while (!queue.empty()) {
        int at = queue.front();
        queue.pop();
        for (int e = g.offsets[at]; e < g.offsets[at + 1]; e++)
            if (expected[g.edges[e]] < 0)
                expected[g.edges[e]] = expected[at] + 1, queue.push(g.edges[e]);
    }
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += level[i] != expected[i];
    printf("bfs: %zu edges, reached %d, depth %d, level[500]=%d level[979]=%d wrong %d\n",
           g.edges.size(), reached, depth - 1, level[500], level[979], wrong);

    for (int i = 0; i < n; i++)
        a[i] = INT_MAX;
    a[0] = 0;
    do {
        *flag = 0;
        relax<<<blocks, 128>>>(offsets, edges, weights, a, n, flag);
        cudaDeviceSynchronize();
    } while (*flag);
    long long sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] == INT_MAX ? 0 : a[i];
    printf("bellman-ford: to 500 %d, to 979 %d, sum %lld\n", a[500], a[979], sum);

    for (int i = 0; i < n; i++)
        a[i] = i;
    do {
        *flag = 0;
        hook<<<blocks, 128>>>(offsets, edges, a, n, flag);
        cudaDeviceSynchronize();
    } while (*flag);
    std::set<int> components(a, a + n);
    printf("components: %zu\n", components.size());

    unsigned *rank = managed<unsigned>(n), *next = managed<unsigned>(n), hash = 0;
    for (int i = 0; i < n; i++)
        rank[i] = 1000000;
    for (int i = 0; i < 15; i++, std::swap(rank, next))
        page_rank<<<blocks, 128>>>(offsets, edges, rank, next, n);
    unsigned long long *count = managed<unsigned long long>(1);
    *count = 0;
    triangles<<<blocks, 128>>>(offsets, edges, n, count);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    for (int i = 0; i < n; i++)
        hash = hash * 131 + rank[i];
    printf("pagerank: %u %u %u hash %08x\n", rank[0], rank[500], rank[999], hash);
    printf("triangles: %llu\n", *count);
    return 0;
}
