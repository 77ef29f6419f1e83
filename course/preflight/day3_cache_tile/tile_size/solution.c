// tile_size: three tiles of t x t floats of 4 bytes.
void tile_size(int cache_bytes, int *side)
{
    int t = 0;
    while (3 * 4 * (t + 8) * (t + 8) <= cache_bytes)
        t += 8;
    side[0] = t;
}
