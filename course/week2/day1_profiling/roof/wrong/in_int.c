// Multiplies in int: 4096 cubed does not fit.
void roof(int n, int tile, float peak, float bandwidth, float *gflops)
{
    float flops = 2 * n * n * n;
    float bytes = 4 * (flops / tile + (float)n * n);
    float slanted = bandwidth * flops / bytes;
    gflops[0] = slanted < peak ? slanted : peak;
}
