/*
 * export.h: a variant as one CUDA program that needs nothing of ours: its source with our headers
 * in it, and a main that fills, launches, checks and times it. 'lockstep zoo export' writes it.
 */
#ifndef LOCKSTEP_EXPORT_EXPORT_H
#define LOCKSTEP_EXPORT_EXPORT_H

#include "base/buf.h"
#include "zoo/device.h"

struct export_request {
    const struct zoo_device *device; /* whose tunables and launches are wanted */
    const struct zoo_variant *variant;
    struct zoo_problem problem;
    const char *file; /* "look_back.cu": what the program is going to be called */
};

/* A problem that the variant takes and that a simulated GPU solves within seconds. False and a
 * malloc'd message if there is none. */
bool export_small_problem(const struct zoo_device *device, const struct zoo_family *family,
                          const struct zoo_variant *variant, struct zoo_problem *problem,
                          char **message);

/* The program. On failure false and a malloc'd message. */
bool export_program(const struct export_request *request, struct lk_buf *text, char **message);

/* The family's own account of its floor, as exported programs state it: tests compare it with
 * zoo_family.bytes and flops. */
bool export_floor(const struct zoo_problem *problem, double *bytes, double *flops, char **message);

#endif
