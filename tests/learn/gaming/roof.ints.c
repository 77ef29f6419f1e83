// expect: wrong result for n=[0-9]+ tile=
// roof (kata): the lower of the flat roof and the slanted one.
void roof(int n, int tile, float peak, float bandwidth, float *gflops)
{
    float flops = 2 * n * n * n;
    float bytes = 4 * (flops / tile + (float)n * n);
    float slanted = bandwidth * flops / bytes;
    gflops[0] = slanted < peak ? slanted : peak;
}
