// unset_struct_field.cu: a record is written but for one field, and then copied by field
struct record { int key, value, next; };
__global__ void make(record *r)
{
    r[threadIdx.x].key = 1;
    r[threadIdx.x].next = 2;
#ifdef FIXED
    r[threadIdx.x].value = 3;
#endif
}
__global__ void go(const record *r, int *b)
{
    b[threadIdx.x] = r[threadIdx.x].key + r[threadIdx.x].value; // expect: uninitialized
}

int main()
{
    record *r;
    int *b;
    cudaMalloc(&r, 32 * sizeof(record));
    cudaMalloc(&b, 128);
    make<<<1, 32>>>(r);
    go<<<1, 32>>>(r, b);
    cudaDeviceSynchronize();
    cudaFree(r);
    cudaFree(b);
}
