/*
 * generate.c: input data. Each number depends on the seed, a stream and its index alone, so that
 * filling is parallel and any part can be made again.
 */
#include "zoo/zoo.h"

#include <math.h>

const char *const zoo_distributions[] = {"uniform",     "constant", "ascending",
                                         "adversarial", "special",  NULL};

/* splitmix64's finisher, over a counter that seed and stream move apart. */
uint64_t zoo_random(uint64_t seed, unsigned stream, uint64_t index)
{
    uint64_t x = index + 0x9e3779b97f4a7c15u * (seed + 1) + 0xd1b54a32d192ed03u * stream;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

double zoo_random_unit(uint64_t seed, unsigned stream, uint64_t index)
{
    return (double)(zoo_random(seed, stream, index) >> 11) * 0x1p-53;
}

/* Integers stay small enough that sums of a hundred million of them fit 32 bits. */
static double number(const struct zoo_problem *problem, unsigned stream, enum zoo_type type,
                     uint64_t index, size_t count)
{
    static const double special[] = {NAN, INFINITY, -INFINITY, 0x1p127, -0x1p127, 0x1p-149, -0.0};
    double unit = zoo_random_unit(problem->seed, stream, index);
    bool whole =
        type == ZOO_I32 || type == ZOO_U32 || type == ZOO_I64 || type == ZOO_U8 || type == ZOO_S8;
    switch (problem->distribution) {
    case ZOO_CONSTANT:
        return whole ? 3 : 0.75;
    case ZOO_ASCENDING: /* few enough steps that each is a value of its own in bf16 too */
        return whole ? (double)(index % 17) : (double)index / (double)count;
    case ZOO_ADVERSARIAL: /* what cancels, at magnitudes far apart */
        if (whole)
            return index % 2 ? 15 : -16;
        return ldexp(unit - 0.5, (int)(zoo_random(problem->seed, stream + 1000, index) % 21) - 10) *
               (index % 2 ? 1 : -1);
    case ZOO_SPECIAL:
        if (!whole && zoo_random(problem->seed, stream + 1000, index) % 61 == 0)
            return special[zoo_random(problem->seed, stream + 2000, index) % 7];
        break;
    }
    return whole ? floor(unit * 33) - (type == ZOO_U32 || type == ZOO_U8 ? 0 : 16) : 2 * unit - 1;
}

void zoo_fill(const struct zoo_problem *problem, unsigned stream, enum zoo_type type, void *data,
              size_t count)
{
#pragma omp parallel for schedule(static) if (count > 100000)
    for (size_t i = 0; i < count; i++)
        zoo_put(type, data, i, number(problem, stream, type, i, count));
}
