void median(const float *x, float *out, int n, int warm)
{
    for (int i = warm; i < n; i++) {
        int less = 0, same = 0;
        for (int j = warm; j < n; j++) {
            less += x[j] < x[i];
            same += x[j] == x[i];
        }
        int k = (n - warm - 1) / 2;
        if (less <= k && k < less + same) {
            out[0] = x[i];
            return;
        }
    }
}
