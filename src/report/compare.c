/*
 * compare.c: two profiles side by side, launch by launch.
 */
#include "report/report.h"

void report_compare_text(FILE *out, const struct report_paint *paint, const char *names[2],
                         json_t *const reports[2])
{
}

json_t *report_compare_json(const char *names[2], json_t *const reports[2])
{
    return json_object();
}
