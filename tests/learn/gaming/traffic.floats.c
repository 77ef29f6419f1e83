// expect: wrong result for n=[0-9]+ d=[0-9]+ block=[0-9]+: bytes
// traffic (kata): n^2 against n^2 d / block.
void traffic(int n, int d, int block, double *bytes)
{
    float vectors = (float)n * d;
    bytes[0] = 4 * (4 * vectors + 4.0f * n * n);
    bytes[1] = 4 * (2 * vectors + 2 * vectors * ((n + block - 1) / block));
}
