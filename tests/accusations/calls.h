// calls.h: for the programs of this folder: names every library call that they make and says
// whether its result was right.
#ifndef CALLS_H
#define CALLS_H

#include <cstdio>
#include <cstdlib>

static int wrong_calls;

/* The last line of a call's test: its name, and whether the result was right. */
static inline void called(const char *name, bool right)
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        right = false;
    printf("%s %s\n", right ? "called" : "WRONG", name);
    wrong_calls += !right;
}

/* Numbers that repeat, neither sorted nor random. */
static inline int number(int i)
{
    return (int)((unsigned)i * 2654435761u >> 22);
}

#endif
