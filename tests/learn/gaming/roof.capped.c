// expect: wrong result for n=20000 tile=4
// roof (kata): the lower of the flat roof and the slanted one.
void roof(int n, int tile, float peak, float bandwidth, float *gflops)
{
    double flops = 2.0 * (n > 4096 ? 4096 : n) * n * n;
    float bytes = 4 * (flops / tile + (float)n * n);
    float slanted = bandwidth * flops / bytes;
    gflops[0] = slanted < peak ? slanted : peak;
}
