void tile_order(int mt, int nt, int *rows, int *cols)
{
    int i = 0;
    for (int top = 0; top < mt; top += 8)
        for (int c = 0; c < nt; c++)
            for (int r = top; r < mt && r < top + 8; r++, i++) {
                rows[i] = r;
                cols[i] = c;
            }
}
