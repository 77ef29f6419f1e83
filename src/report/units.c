/*
 * units.c: numbers formatted for readers.
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
