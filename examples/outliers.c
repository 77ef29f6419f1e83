/*
 * outliers.c: what calibration, rotation and channel scales save where a few channels of the inputs
 * are far larger than the others: the error of x w^T with x in 8 bits, with w in 4 bits, and with
 * both, relative to the exact product. On a GPU or a simulated one.
 *   cc outliers.c $(pkg-config --cflags --libs lockstep) -lm -o outliers && ./outliers
 */
#include <lockstep.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS = 64, OUT = 64, IN = 512, BLOCK = 512, OUTLIERS = 4 };

static void must(lk_status status)
{
    if (status == LK_OK)
        return;
    fprintf(stderr, "%s\n", lk_last_error());
    exit(1);
}

/* Nearly normal, the same in every run. */
static float number(void)
{
    static unsigned long long state = 1;
    double sum = 0;
    for (int i = 0; i < 12; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(state >> 40) * 0x1p-24;
    }
    return (float)(sum - 6);
}

static void *device(const void *data, size_t bytes)
{
    void *at;
    must(lk_malloc(&at, bytes));
    if (data)
        must(lk_copy_to(at, data, bytes));
    return at;
}

/* To the format and back, with these scales or, if method is below 0, with lk_quantise's own. */
static void round_trip(float *x, int64_t rows, lk_number_format format, lk_sharing sharing,
                       int method)
{
    lk_quantise_desc desc = LK_QUANTISE_DESC(LK_F32, format, sharing, rows, IN);
    size_t bytes = (size_t)rows * IN * sizeof *x, more = 0, needed = 0;
    void *on = device(x, bytes), *q = device(NULL, bytes), *scales = device(NULL, bytes);
    desc.given = method >= 0;
    must(lk_quantise_workspace(&desc, &needed));
    if (desc.given) {
        lk_calibrate_desc how =
            LK_CALIBRATE_DESC(LK_F32, format, sharing, (lk_calibration)method, rows, IN);
        how.percent = 99.5F;
        must(lk_calibrate_workspace(&how, &more));
        void *workspace = device(NULL, more + 1);
        must(lk_calibrate(NULL, &how, on, scales, workspace, more));
        must(lk_free(workspace));
    }
    void *workspace = device(NULL, needed + 1);
    must(lk_quantise(NULL, &desc, on, q, scales, NULL, workspace, needed));
    must(lk_dequantise(NULL, &desc, q, scales, NULL, on));
    must(lk_copy_from(x, on, bytes));
    void *all[] = {on, q, scales, workspace};
    for (int i = 0; i < 4; i++)
        must(lk_free(all[i]));
}

static void rotate(float *x, int64_t rows)
{
    lk_hadamard_desc desc = LK_HADAMARD_DESC(LK_F32, rows, IN, BLOCK);
    size_t bytes = (size_t)rows * IN * sizeof *x;
    void *on = device(x, bytes);
    must(lk_hadamard(NULL, &desc, on, on));
    must(lk_copy_from(x, on, bytes));
    must(lk_free(on));
}

/* The columns of w times AWQ's scales, those of x divided by them. */
static void scale_channels(float *x, float *w)
{
    lk_calibrate_desc desc =
        LK_CALIBRATE_DESC(LK_F32, LK_FORMAT_INT4, LK_PER_128, LK_CALIBRATE_ABSMAX, OUT, IN);
    float means[IN] = {0}, scales[IN];
    size_t bytes;
    for (int i = 0; i < TOKENS * IN; i++)
        means[i % IN] += fabsf(x[i]) / TOKENS;
    must(lk_awq_scales_workspace(&desc, &bytes));
    void *on = device(w, OUT * IN * sizeof *w), *of = device(means, sizeof means);
    void *to = device(NULL, sizeof scales), *workspace = device(NULL, bytes);
    must(lk_awq_scales(NULL, &desc, on, of, to, workspace, bytes));
    must(lk_copy_from(scales, to, sizeof scales));
    for (int i = 0; i < OUT * IN; i++)
        w[i] *= scales[i % IN];
    for (int i = 0; i < TOKENS * IN; i++)
        x[i] /= scales[i % IN];
    void *all[] = {on, of, to, workspace};
    for (int i = 0; i < 4; i++)
        must(lk_free(all[i]));
}

static double product(const float *x, const float *w, int token, int out)
{
    double sum = 0;
    for (int k = 0; k < IN; k++)
        sum += (double)x[token * IN + k] * w[out * IN + k];
    return sum;
}

/* In per cent: the root of the mean square of the difference, over that of the product. */
static double error(const float *x, const float *w, const float *qx, const float *qw)
{
    double off = 0, size = 0;
    for (int t = 0; t < TOKENS; t++)
        for (int o = 0; o < OUT; o++) {
            double exact = product(x, w, t, o), d = product(qx, qw, t, o) - exact;
            off += d * d;
            size += exact * exact;
        }
    return 100 * sqrt(off / size);
}

enum { LARGEST, PERCENTILE, MSE, ROTATED, CHANNELS, WAYS };
static const char *const names[WAYS] = {"largest number", "99.5 percentile", "least error",
                                        "Hadamard rotation", "AWQ channel scales"};

/* One way, for x in INT8 a row, w in INT4 a 128 numbers, or both. */
static double try(const float *x, const float *w, int way, int eight, int four)
{
    static float qx[TOKENS * IN], qw[OUT * IN];
    static const int methods[WAYS] = {-1, LK_CALIBRATE_PERCENTILE, LK_CALIBRATE_MSE, -1, -1};
    memcpy(qx, x, sizeof qx);
    memcpy(qw, w, sizeof qw);
    if (way == ROTATED) {
        rotate(qx, TOKENS);
        rotate(qw, OUT);
    }
    if (way == CHANNELS)
        scale_channels(qx, qw);
    if (eight)
        round_trip(qx, TOKENS, LK_FORMAT_INT8, LK_PER_ROW, methods[way]);
    if (four)
        round_trip(qw, OUT, LK_FORMAT_INT4, LK_PER_128, methods[way]);
    return error(x, w, qx, qw);
}

int main(void)
{
    static float x[TOKENS * IN], w[OUT * IN];
    must(lk_open(NULL));
    for (int outliers = 0; outliers < 2; outliers++) {
        for (int i = 0; i < TOKENS * IN; i++)
            x[i] = number() * (outliers && i % IN < OUTLIERS ? 50 : 1);
        for (int i = 0; i < OUT * IN; i++)
            w[i] = number();
        printf("%s\n",
               outliers ? "4 of 512 channels of x are 50 times as large" : "x and w are normal");
        printf("  %-20s %10s %10s %10s\n", "error in %", "x: INT8", "w: INT4", "both");
        for (int way = 0; way < WAYS; way++)
            printf("  %-20s %10.2f %10.2f %10.2f\n", names[way], try(x, w, way, 1, 0),
                   try(x, w, way, 0, 1), try(x, w, way, 1, 1));
    }
    return 0;
}
