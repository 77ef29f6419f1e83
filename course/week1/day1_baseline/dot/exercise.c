// dot (kata): s[0] is the sum of x[i] * y[i] over all n elements.
void dot(const float *x, const float *y, float *s, int n)
{
    // TODO: from memory. What does the sum begin with, and how often is s written?
}
