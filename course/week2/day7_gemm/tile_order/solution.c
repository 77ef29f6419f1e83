// tile_order (kata): neighbours in time are neighbours in space, so they find each other's tiles in the L2.
void tile_order(int mt, int nt, int *rows, int *cols)
{
    for (int i = 0; i < mt * nt; i++) {
        int first = i / (8 * nt) * 8, rest = i % (8 * nt);
        int height = mt - first < 8 ? mt - first : 8;
        rows[i] = first + rest % height;
        cols[i] = rest / height;
    }
}
