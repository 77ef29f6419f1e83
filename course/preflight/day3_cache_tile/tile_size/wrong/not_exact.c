// Refuses a tile that fits exactly.
void tile_size(int cache_bytes, int *side)
{
    int t = 0;
    while (3 * 4 * (t + 8) * (t + 8) < cache_bytes)
        t += 8;
    side[0] = t;
}
