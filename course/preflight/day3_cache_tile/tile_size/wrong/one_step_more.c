// Goes one step too far: the test comes too late.
void tile_size(int cache_bytes, int *side)
{
    int t = 0;
    while (3 * 4 * t * t <= cache_bytes)
        t += 8;
    side[0] = t;
}
