/*
 * profile_html.c: a profile as one self-contained page.
 */
#include "report/report.h"

void report_profile_html(struct lk_buf *out, const struct profile *profile,
                         const struct report_run *run)
{
    lk_buf_printf(out, "<!doctype html>\n");
}
