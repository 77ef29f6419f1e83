// median (kata): out[0] = the median of the samples x[warm] .. x[n - 1]; the first `warm` ones are for warming up. Of an even number, the lower
// one of the two in the middle. x must not be changed.
void median(const float *x, float *out, int n, int warm)
{
    // TODO: without sorting: which sample has as many below it as the middle has?
}
