/*
 * svg.h: the pictures of the HTML report, each one <svg> element. Colours come from the page's CSS.
 */
#ifndef LOCKSTEP_REPORT_SVG_H
#define LOCKSTEP_REPORT_SVG_H

#include "report/profile.h"

/* Where the launch stands under the GPU's roof. */
void svg_roofline(struct lk_buf *out, const struct profile_launch *launch);

/* Several kernels under one roof: operations a byte, operations a second. */
/* Where the plot begins: also the place of what does no operations. */
#define SVG_LEAST_INTENSITY (1.0 / 32)
struct svg_point {
    double intensity, rate;
    const char *label;
};
struct svg_roof {
    const char *unit;
    double peak; /* operations a second */
};
/* A file of its own, with its style. */
void svg_roofline_points(struct lk_buf *out, const struct gpu_info *gpu,
                         const struct svg_roof *roofs, size_t roof_count,
                         const struct svg_point *points, size_t count);

/* What a warp's access touched: a record of the trace. Global: memory in rows of 128 bytes with
 * their sectors; shared: the banks, and which lanes wait for which. */
struct svg_access {
    uint32_t mask;
    unsigned bytes;
    uint64_t addresses[32];
};
void svg_global(struct lk_buf *out, const struct svg_access *access);
void svg_shared(struct lk_buf *out, const struct svg_access *access);

#endif
