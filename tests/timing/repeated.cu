// repeated: the same launch, timed again and again, takes the same time each time; when the data that
// it reads make it longer, its time follows.
#include "between.h"
#include <cstdio>

__global__ void loop(const int *turns, float *out)
{
    float x = threadIdx.x;
    for (int i = 0; i < *turns; i++)
        x = x * 1.0001f + 1;
    out[threadIdx.x] = x;
}

static float time_of(const int *turns, float *out)
{
    return 1000 * between([=] { loop<<<1, 32>>>(turns, out); });
}

static void set(int *turns, int value)
{
    cudaMemcpy(turns, &value, sizeof value, cudaMemcpyHostToDevice);
}

int main()
{
    int *turns;
    float *out, few[5], many[4];
    cudaMalloc(&turns, 4);
    cudaMalloc(&out, 32 * 4);
    set(turns, 10000);
    for (int i = 0; i < 5; i++)
        few[i] = time_of(turns, out);
    set(turns, 30000);
    for (int i = 0; i < 4; i++)
        many[i] = time_of(turns, out);
    bool same = true, counted = true;
    for (int i = 1; i < 5; i++)
        same &= few[i] == few[0];
    for (int i = 2; i < 4; i++)
        counted &= many[i] == many[1];
    printf("%s repeated launches take the same time\n", same ? "ok" : "not ok");
    printf("%s longer data take longer (%.1f us, then %.1f)\n",
           many[1] > 2 * few[0] ? "ok" : "not ok", few[0], many[1]);
    printf("%s the first longer launch is near the next (%.1f us, then %.1f)\n",
           many[0] > 0.7f * many[1] && many[0] < 1.4f * many[1] ? "ok" : "not ok", many[0], many[1]);
    printf("%s then they repeat\n", counted ? "ok" : "not ok");
    return 0;
}
