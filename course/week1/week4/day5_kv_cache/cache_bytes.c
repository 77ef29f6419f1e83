// cache_bytes: the bytes of a KV cache. For every layer, head and token there are dim numbers of K and dim of V.
//   bytes[0]: both in f16
//   bytes[1]: both in FP8, with an f32 scale for each row
//   bytes[2]: K in FP8 with an f32 scale for each row, V in NVFP4: four bits, and an FP8 scale for every 16 numbers
void cache_bytes(int layers, int heads, int dim, long tokens, double *bytes)
{
    // TODO: for one row first, then times layers, heads and tokens. Mind the scales, and the size of an int.
    for (int i = 0; i < 3; i++)
        bytes[i] = layers * heads * tokens * 4 * dim;
}
