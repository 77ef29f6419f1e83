// relocatable_other.cu: the second translation unit of relocatable.cu.
__device__ int shared_variable = 100;
__device__ int twice(int x)
{
    return 2 * x;
}
