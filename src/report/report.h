/*
 * report.h: ways to show a profile: on a terminal, as JSON, as one HTML page; and the small
 * reports of other commands (occupancy, roofline).
 */
#ifndef LOCKSTEP_REPORT_REPORT_H
#define LOCKSTEP_REPORT_REPORT_H

#include "report/profile.h"
#include "report/timeline.h"

/* Escape sequences of a terminal, or "" each. */
struct report_paint {
    const char *plain, *bold, *dim, *green, *red, *yellow;
};

/* How the program ended, for the report. */
struct report_run {
    const char *program;
    int status; /* exit status, or 128 + a signal's number */
};

/* Terminal --------------------------------------------------------------------------------------*/
void report_profile_text(FILE *out, const struct report_paint *paint,
                         const struct profile *profile);
void report_timeline_text(FILE *out, const struct report_paint *paint,
                          const struct timelines *timelines);
void report_whatifs_text(FILE *out, const struct report_paint *paint, const struct gpu_info *gpu,
                         unsigned threads, unsigned registers, size_t shared);

/* JSON ------------------------------------------------------------------------------------------*/
json_t *report_profile_json(const struct profile *profile, const struct report_run *run);
json_t *report_occupancy_json(const struct gpu_info *gpu, unsigned threads, unsigned registers,
                              size_t shared);
json_t *report_trace_json(const struct profile *profile);  /* docs/trace.md */
json_t *report_replay_json(const struct profile *profile); /* docs/replay.md */

/* HTML ------------------------------------------------------------------------------------------*/
void report_profile_html(struct lk_buf *out, const struct profile *profile,
                         const struct report_run *run);
void report_timeline_html(struct lk_buf *out, const struct timelines *timelines);
extern const char report_timeline_style[];
extern const char report_page_style[]; /* the CSS of our pages */

/* Comparing two reports of report_profile_json --------------------------------------------------*/
void report_compare_text(FILE *out, const struct report_paint *paint, const char *names[2],
                         json_t *const reports[2]);
json_t *report_compare_json(const char *names[2], json_t *const reports[2]);

/* Roofline: a kernel's bytes and operations in seconds, against a GPU's peaks -------------------*/
struct report_roofline {
    double bytes, flops, seconds; /* asked about */
    double peak_flops;            /* of the kind of operation asked about */
    double intensity, ridge;      /* flops per byte: the kernel's, and where the roof bends */
    double memory_seconds, compute_seconds; /* what each would need at its peak */
    double roof_seconds;                    /* the larger */
    double fraction;                        /* of the roof */
    bool memory_bound;
    double by; /* how many times longer than the other */
};
struct report_roofline report_roofline(const struct gpu_info *gpu, double bytes, double flops,
                                       double seconds, double peak_tflops);
/* TFLOP/s of "f32", "tensor-bf16" ..; 0 if the GPU has no such units, below 0 if there is no such
 * type. */
double report_peak(const struct gpu_info *gpu, const char *type);
void report_roofline_text(FILE *out, const struct report_paint *paint, const struct gpu_info *gpu,
                          const char *type, const struct report_roofline *r);
json_t *report_roofline_json(const struct gpu_info *gpu, const char *type,
                             const struct report_roofline *r);

/* GPUs: all that is known, one of them, and what an SM holds of its blocks ----------------------*/
void report_gpus_text(FILE *out, const struct report_paint *paint);
void report_gpu_text(FILE *out, const struct report_paint *paint, const struct gpu_info *gpu);
json_t *report_gpu_json(const struct gpu_info *gpu);
void report_occupancy_text(FILE *out, const struct report_paint *paint, const struct gpu_info *gpu,
                           unsigned threads, unsigned registers, size_t shared);

/* Units: "3.4 us", "4.2 MB", "1.2 G"; the text is in buf. */
enum { REPORT_UNIT = 32 };
const char *report_seconds(char buf[REPORT_UNIT], double seconds);
const char *report_bytes(char buf[REPORT_UNIT], double bytes);
const char *report_count(char buf[REPORT_UNIT], double count);

#endif
