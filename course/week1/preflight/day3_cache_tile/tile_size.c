// tile_size: the largest side of a square tile, in whole multiples of 8 floats, such that three
// tiles of f32 (of a, of b and of c) fit into a cache of this many bytes. 0 if not even 8 x 8 fits.
void tile_size(int cache_bytes, int *side)
{
    // TODO: this is the side of a single tile of bytes.
    int t = 0;
    while ((t + 8) * (t + 8) <= cache_bytes)
        t += 8;
    side[0] = t;
}
