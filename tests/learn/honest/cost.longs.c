void cost(double *out, int m, int n, int k)
{
    long flops = 2L * m * n * k, bytes = 4L * ((long)m * k + (long)k * n + (long)m * n);
    out[0] = flops;
    out[1] = bytes;
    out[2] = (double)flops / bytes;
}
