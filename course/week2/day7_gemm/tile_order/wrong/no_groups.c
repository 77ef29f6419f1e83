// One column of all rows after the other.
void tile_order(int mt, int nt, int *rows, int *cols)
{
    for (int i = 0; i < mt * nt; i++) {
        int first = 0, rest = i;
        int height = mt;
        rows[i] = first + rest % height;
        cols[i] = rest / height;
    }
}
