/*
 * activations.h: GELU, SiLU and their slopes, in f32 from two approximate instructions: 2^x and a
 * quotient. kernels/activation/README.md has their errors, and its tests hold them to that.
 */
#ifndef LOCKSTEP_KERNELS_ACTIVATIONS_H
#define LOCKSTEP_KERNELS_ACTIVATIONS_H

#include "device.h"

/* 1 / (1 + e^-x) with x in units of log2(e). */
static __device__ __forceinline__ float logistic(float x)
{
    return __fdividef(1.0f, 1 + power_of_two(-x));
}

static __device__ __forceinline__ float relu(float x)
{
    return x < 0 ? 0.0f : x; /* NaN stays */
}

static __device__ __forceinline__ float silu(float x)
{
    return __fdividef(x, 1 + power_of_two(-1.44269504f * x));
}
static __device__ __forceinline__ float silu_slope(float x)
{
    float s = logistic(1.44269504f * x);
    return s * fmaf(x, 1 - s, 1.0f);
}

/* The normal distribution function is 1 / (1 + 2^-(x p(x^2))): p is nearly constant, and a
 * polynomial that was fitted up to |x| = 5.6 makes an error of the function below 1.5e-7. Beyond, x
 * p is continued by a line. */
static __device__ __forceinline__ float normal_polynomial(float t)
{
    float p = 5.06723552e-9f;
    p = fmaf(p, t, -3.81631281e-7f);
    p = fmaf(p, t, 1.14398335e-5f);
    p = fmaf(p, t, -1.5957994e-4f);
    p = fmaf(p, t, -9.40492246e-5f);
    p = fmaf(p, t, 0.104835123f);
    return fmaf(p, t, 2.30220938f);
}
static __device__ __forceinline__ float normal_exponent(float x)
{
    return x * normal_polynomial(fminf(x * x, 31.36f));
}
/* x times the normal distribution function. */
static __device__ __forceinline__ float gelu(float x)
{
    return __fdividef(x, 1 + power_of_two(-normal_exponent(x)));
}
/* The distribution function, and x times the density, which is 2^(-x^2 log2(e) / 2) / sqrt(2 pi).
 */
static __device__ __forceinline__ float gelu_slope(float x)
{
    float density = 0.398942280f * power_of_two(-0.721347520f * x * x);
    return fmaf(x, density, logistic(normal_exponent(x)));
}

/* 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) = x / (1 + e^-z) with z = 2 sqrt(2 / pi) (..).
 * From |x| = 10 on the quotient is 0 or x: the cube goes on as a line, so that it does not
 * overflow. */
static __device__ __forceinline__ float tanh_exponent(float x, float square)
{
    return x * fmaf(square, 0.102943240f, 2.30220819f); // z log2(e)
}
static __device__ __forceinline__ float gelu_tanh(float x)
{
    return __fdividef(x, 1 + power_of_two(-tanh_exponent(x, fminf(x * x, 100.0f))));
}
static __device__ __forceinline__ float gelu_tanh_slope(float x)
{
    float square = fminf(x * x, 100.0f), s = logistic(tanh_exponent(x, square));
    float z_slope = fmaf(square, 0.214064449f, 1.59576912f);
    return s * fmaf(x * z_slope, 1 - s, 1.0f);
}

#endif
