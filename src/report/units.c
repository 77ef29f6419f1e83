/*
 * units.c: numbers as a reader likes them, and the roofline's arithmetic.
 */
#include "report/report.h"

#include <math.h>

static const char *scaled(char buf[REPORT_UNIT], double value, double step,
                          const char *const *units, unsigned count)
{
    unsigned at = 0;
    while (at + 1 < count && value >= step) {
        value /= step;
        at++;
    }
    int digits = value >= 99.95 || value == floor(value) ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(buf, REPORT_UNIT, "%.*f%s%s", digits, value, *units[at] ? " " : "", units[at]);
    return buf;
}

const char *report_seconds(char buf[REPORT_UNIT], double seconds)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    return scaled(buf, seconds * 1e9, 1000, units, 4);
}

const char *report_bytes(char buf[REPORT_UNIT], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    return scaled(buf, bytes, 1024, units, 5);
}

const char *report_count(char buf[REPORT_UNIT], double count)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P"};
    return scaled(buf, count, 1000, units, 6);
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
