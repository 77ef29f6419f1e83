// tile_order (kata): tile i of mt x nt tiles, in groups of 8 rows. Within a group, go down the rows first, then on to
// the next column. The last group may have fewer rows.
void tile_order(int mt, int nt, int *rows, int *cols)
{
    // TODO: for every i: which group, how many rows it has, then row and column.
}
