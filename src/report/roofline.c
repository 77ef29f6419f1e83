/*
 * roofline.c: a kernel's bytes, operations and time against a GPU's peaks: the arithmetic, and its
 * answer in words and as JSON.
 */
#include "report/report.h"

#include <math.h>
#include <string.h>

double report_peak(const struct gpu_info *gpu, const char *type)
{
    const struct {
        const char *name;
        double tflops;
    } types[] = {{"f32", gpu->f32_tflops},        {"f64", gpu->f64_tflops},
                 {"f16", gpu->f16_tflops},        {"bf16", gpu->bf16_tflops},
                 {"tensor-f64", gpu->tensor_f64}, {"tensor-tf32", gpu->tensor_tf32},
                 {"tensor-f16", gpu->tensor_f16}, {"tensor-bf16", gpu->tensor_bf16},
                 {"tensor-f8", gpu->tensor_f8},   {"tensor-int8", gpu->tensor_int8}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].tflops;
    return -1;
}

struct report_roofline report_roofline(const struct gpu_info *gpu, double bytes, double flops,
                                       double seconds, double peak_tflops)
{
    struct report_roofline r = {.bytes = bytes, .flops = flops, .seconds = seconds};
    r.peak_flops = peak_tflops * 1e12;
    r.memory_seconds = bytes / (gpu->memory_gb_s * 1e9);
    r.compute_seconds = r.peak_flops > 0 ? flops / r.peak_flops : 0;
    r.intensity = bytes > 0 ? flops / bytes : INFINITY;
    r.ridge = r.peak_flops / (gpu->memory_gb_s * 1e9);
    r.memory_bound = r.memory_seconds >= r.compute_seconds;
    r.roof_seconds = r.memory_bound ? r.memory_seconds : r.compute_seconds;
    double other = r.memory_bound ? r.compute_seconds : r.memory_seconds;
    r.by = other > 0 ? r.roof_seconds / other : INFINITY;
    r.fraction = seconds > 0 ? r.roof_seconds / seconds : 0;
    return r;
}

void report_roofline_text(FILE *out, const struct report_paint *paint, const struct gpu_info *gpu,
                          const char *type, const struct report_roofline *r)
{
    char a[REPORT_UNIT], b[REPORT_UNIT];
    const char *bold = paint->bold, *plain = paint->plain;
    fprintf(out, "%s%s-bound%s", bold, r->memory_bound ? "memory" : "compute", plain);
    if (isfinite(r->by))
        fprintf(out, ", by a factor of %.3g", r->by);
    fprintf(out, ", on %s\n", gpu->name);
    fprintf(out, "  intensity   %.3g operations a byte; the roof bends at %.3g (%s)\n",
            r->intensity, r->ridge, type);
    fprintf(out, "  memory      %s at %.0f GB/s\n", report_seconds(a, r->memory_seconds),
            gpu->memory_gb_s);
    fprintf(out, "  arithmetic  %s at %.4g TFLOP/s\n", report_seconds(a, r->compute_seconds),
            r->peak_flops / 1e12);
    if (r->seconds > 0)
        fprintf(
            out,
            "  time        %s: %s%.1f %% of the roof%s (%.4g GB/s, %.4g TFLOP/s), %.3gx from it\n",
            report_seconds(b, r->seconds), bold, 100 * r->fraction, plain,
            r->bytes / r->seconds / 1e9, r->flops / r->seconds / 1e12,
            r->fraction > 0 ? 1 / r->fraction : INFINITY);
    if (r->fraction > 1)
        fprintf(
            out,
            "  that is faster than the datasheet allows: are the bytes served by a cache, or the "
            "figures wrong?\n");
}

static json_t *or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *report_roofline_json(const struct gpu_info *gpu, const char *type,
                             const struct report_roofline *r)
{
    return json_pack("{ss ss sf sf sf ss so so sf sf sf sf}", "gpu", gpu->id, "type", type, "bytes",
                     r->bytes, "flops", r->flops, "time_us", r->seconds * 1e6, "bound_by",
                     r->memory_bound ? "memory" : "compute", "by", or_null(r->by), "intensity",
                     or_null(r->intensity), "ridge", r->ridge, "memory_us", r->memory_seconds * 1e6,
                     "compute_us", r->compute_seconds * 1e6, "roof", r->fraction);
}
