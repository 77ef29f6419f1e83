// Forgets the flat roof.
void roof(int n, int tile, float peak, float bandwidth, float *gflops)
{
    float flops = 2.0f * n * n * n;
    float bytes = 4 * (flops / tile + (float)n * n);
    float slanted = bandwidth * flops / bytes;
    gflops[0] = slanted;
}
