// add: c[i] = a[i] + b[i] for every i below n.
//
// The host starts ceil(n / 256) blocks of 256 threads. That is one thread for each element, and
// some more where n is no multiple of 256.
__global__ void add(const float *a, const float *b, float *c, int n)
{
    // TODO: which element is this thread's? Every thread of the grid needs another one, and the
    // threads that have none must do nothing.
    int i = threadIdx.x;
    c[i] = a[i] + b[i];
}
