// Goes along the columns first.
void tile_order(int mt, int nt, int *rows, int *cols)
{
    for (int i = 0; i < mt * nt; i++) {
        int first = i / (8 * nt) * 8, rest = i % (8 * nt);
        int height = mt - first < 8 ? mt - first : 8;
        rows[i] = first + rest / nt;
        cols[i] = rest % nt;
    }
}
