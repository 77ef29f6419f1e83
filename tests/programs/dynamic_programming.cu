// Tables that depend on themselves: longest common subsequence along anti-diagonals in shared
// memory, edit distances of many pairs at once, Floyd-Warshall in blocks, a knapsack, matrix-chain
// order, Viterbi in integers, Smith-Waterman with a traceback on the host.

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

const int MAX = 160;

__host__ __device__ inline int max2(int a, int b)
{
    return a > b ? a : b;
}
__host__ __device__ inline int min2(int a, int b)
{
    return a < b ? a : b;
}

__global__ void lcs(const char *a, int n, const char *b, int m, int *result)
{
    __shared__ int diagonals[3][MAX + 1];
    int t = threadIdx.x; // row
    for (int i = t; i < 3 * (MAX + 1); i += blockDim.x)
        (&diagonals[0][0])[i] = 0;
    __syncthreads();
    for (int d = 2; d <= n + m; d++) {
        int *now = diagonals[d % 3], *before = diagonals[(d + 2) % 3],
            *earlier = diagonals[(d + 1) % 3];
        int row = t + 1, column = d - row;
        if (row <= n && column >= 1 && column <= m)
            now[row] = a[row - 1] == b[column - 1] ? earlier[row - 1] + 1
                                                   : max2(before[row - 1], before[row]);
        __syncthreads();
        if (row == n && column == m)
            *result = now[row];
    }
}

__global__ void edit_distances(const char *words, int stride, int count, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;
    if (i >= count)
        return;
    const char *a = words + i * stride, *b = words + j * stride;
    unsigned char row[32];
    int length = 0;
    while (b[length])
        length++;
    for (int k = 0; k <= length; k++)
        row[k] = (unsigned char)k;
    for (int r = 0; a[r]; r++) {
        int diagonal = row[0];
        row[0] = (unsigned char)(r + 1);
        for (int k = 1; k <= length; k++) {
            int up = row[k];
            row[k] =
                (unsigned char)min2(min2(up + 1, row[k - 1] + 1), diagonal + (a[r] != b[k - 1]));
            diagonal = up;
        }
    }
    out[i * count + j] = row[length];
}

const int FAR = 1000000, TILE = 16;

__global__ void floyd_phase(int *d, int n, int k, int phase)
{
    __shared__ int own[TILE][TILE], left[TILE][TILE], top[TILE][TILE];
    int bx = blockIdx.x, by = blockIdx.y;
    if (phase == 0)
        bx = by = k;
    if (phase == 1) {
        int other = bx < k ? bx : bx + 1;
        bx = by == 0 ? other : k;
        by = by == 0 ? k : other;
    }
    if (phase == 2 && (bx == k || by == k))
        return;
    int x = threadIdx.x, y = threadIdx.y, at = (by * TILE + y) * n + bx * TILE + x;
    own[y][x] = d[at];
    left[y][x] = d[(by * TILE + y) * n + k * TILE + x];
    top[y][x] = d[(k * TILE + y) * n + bx * TILE + x];
    __syncthreads();
    for (int i = 0; i < TILE; i++) {
        int through = (phase == 0 || (phase == 1 && bx == k) ? own[y][i] : left[y][i]) +
                      (phase == 0 || (phase == 1 && by == k) ? own[i][x] : top[i][x]);
        __syncthreads();
        own[y][x] = min2(own[y][x], through);
        __syncthreads();
    }
    d[at] = own[y][x];
}

__global__ void knapsack(const int *weights, const int *values, int items, int capacity, int *out)
{
    extern __shared__ int best[]; // two rows
    for (int c = threadIdx.x; c <= capacity; c += blockDim.x)
        best[c] = 0;
    __syncthreads();
    for (int i = 0; i < items; i++) {
        int *from = best + i % 2 * (capacity + 1), *to = best + (i + 1) % 2 * (capacity + 1);
        for (int c = threadIdx.x; c <= capacity; c += blockDim.x)
            to[c] = c >= weights[i] ? max2(from[c], from[c - weights[i]] + values[i]) : from[c];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = best[items % 2 * (capacity + 1) + capacity];
}

__global__ void chain_order(const long long *sizes, int n, long long *cost)
{
    for (int length = 2; length <= n; length++) {
        for (int i = threadIdx.x; i + length <= n; i += blockDim.x) {
            int j = i + length - 1;
            long long best = 1ll << 60;
            for (int k = i; k < j; k++) {
                long long c = cost[i * n + k] + cost[(k + 1) * n + j] +
                              sizes[i] * sizes[k + 1] * sizes[j + 1];
                best = c < best ? c : best;
            }
            cost[i * n + j] = best;
        }
        __syncthreads();
    }
}

template <class T> static T *managed(size_t n)
{
    T *p;
    cudaMallocManaged(&p, n * sizeof(T));
    memset(p, 0, n * sizeof(T));
    return p;
}

static unsigned state = 5; // of the random numbers

static void common_subsequence(int *out)
{
    std::string a, b;
    for (int i = 0; i < 150; i++) {
        state = state * 1103515245u + 12345u;
        a += "ACGT"[state >> 16 & 3];
        if (i % 9)
            b += i % 11 ? a.back() : 'A';
    }
    char *da = managed<char>(a.size()), *db = managed<char>(b.size());
    memcpy(da, a.data(), a.size());
    memcpy(db, b.data(), b.size());
    lcs<<<1, MAX>>>(da, (int)a.size(), db, (int)b.size(), out);
    cudaDeviceSynchronize();
    std::vector<std::vector<int>> table(a.size() + 1, std::vector<int>(b.size() + 1, 0));
    for (size_t i = 1; i <= a.size(); i++)
        for (size_t j = 1; j <= b.size(); j++)
            table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1
                                               : std::max(table[i - 1][j], table[i][j - 1]);
    printf("lcs of %zu and %zu: %d, CPU %d\n", a.size(), b.size(), out[0],
           table[a.size()][b.size()]);
}

static void distances_of_words(int *out)
{
    const char *list[] = {"kitten",        "sitting", "saturday", "sunday", "rosettacode",
                          "raisethysword", "",        "a",        "warp",   "wrap"};
    char *words = managed<char>(10 * 16);
    for (int i = 0; i < 10; i++)
        strcpy(words + i * 16, list[i]);
    edit_distances<<<dim3(1, 10), 32>>>(words, 16, 10, out);
    cudaDeviceSynchronize();
    printf("edit distances: %d %d %d %d %d", out[0 * 10 + 1], out[2 * 10 + 3], out[4 * 10 + 5],
           out[6 * 10 + 2], out[8 * 10 + 9]);
    int symmetric = 1;
    for (int i = 0; i < 100; i++)
        symmetric &= out[i] == out[i % 10 * 10 + i / 10];
    printf(" symmetric %d\n", symmetric);
}

static void shortest_paths()
{
    const int n = 64, tiles = n / TILE;
    int *d = managed<int>(n * n);
    for (int i = 0; i < n * n; i++) {
        state = state * 1103515245u + 12345u;
        d[i] = i / n == i % n ? 0 : (state >> 16) % 8 == 0 ? (int)(state >> 20) % 100 + 1 : FAR;
    }
    std::vector<int> want(d, d + n * n);
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                want[i * n + j] = std::min(want[i * n + j], want[i * n + k] + want[k * n + j]);
    for (int k = 0; k < tiles; k++) {
        floyd_phase<<<1, dim3(TILE, TILE)>>>(d, n, k, 0);
        floyd_phase<<<dim3(tiles - 1, 2), dim3(TILE, TILE)>>>(d, n, k, 1);
        floyd_phase<<<dim3(tiles, tiles), dim3(TILE, TILE)>>>(d, n, k, 2);
    }
    cudaDeviceSynchronize();
    long long sum = 0;
    int wrong = 0;
    for (int i = 0; i < n * n; i++) {
        wrong += d[i] != want[i];
        sum += d[i];
    }
    printf("floyd-warshall: %d %d sum %lld wrong %d\n", d[1], d[n * n - 2], sum, wrong);
}

static void knapsack_and_chain(int *out)
{
    int *weights = managed<int>(40), *values = managed<int>(40);
    for (int i = 0; i < 40; i++)
        weights[i] = i * 7 % 23 + 3, values[i] = i * 13 % 31 + 1;
    knapsack<<<1, 128, 2 * 301 * 4>>>(weights, values, 40, 300, out);
    cudaDeviceSynchronize();
    std::vector<int> best(301, 0);
    for (int i = 0; i < 40; i++)
        for (int c = 300; c >= weights[i]; c--)
            best[c] = std::max(best[c], best[c - weights[i]] + values[i]);
    printf("knapsack: %d, CPU %d\n", out[0], best[300]);

    long long *sizes = managed<long long>(31), *cost = managed<long long>(900);
    for (int i = 0; i < 31; i++)
        sizes[i] = i * 17 % 40 + 5;
    chain_order<<<1, 32>>>(sizes, 30, cost);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("chain order: %lld\n", cost[29]);
}

int main()
{
    int *out = managed<int>(1024);
    common_subsequence(out);
    distances_of_words(out);
    shortest_paths();
    knapsack_and_chain(out);
    return 0;
}
