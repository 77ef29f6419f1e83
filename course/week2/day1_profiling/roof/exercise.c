// roof (kata): the most GFLOP/s that a matmul of n x n can reach if it reads its factors in tiles of tile x
// tile f32 numbers, nothing is cached, and c is written once. peak is in GFLOP/s, bandwidth in GB/s.
void roof(int n, int tile, float peak, float bandwidth, float *gflops)
{
    // TODO: FLOPs, bytes, intensity; then the lower of the two roofs. Mind that n * n * n is past an int.
}
