// part.h: what part.cu defines for multi_file.cu.
#pragma once

typedef int (*unary)(int);

struct base {
    __device__ virtual int value() const = 0;
    __device__ virtual ~base()
    {
    }
};

extern __device__ int table_of_part[4];
extern __device__ int counter_of_part;
extern __constant__ int constant_of_part;
extern __device__ int defined_here(int x);
__device__ int twice_plus(int x);
__device__ unary choose(int which);
__device__ base *make_object(int x);
void launch_part(int *out);
