/*
 * samples.h: recordings of one variant in many settings, side by side: the problem that is
 * exported, and others, with other tunables, on other GPUs. Of every number of a launch (a slot)
 * there is a value in every sample, and so there is of every name that an expression may use.
 */
#ifndef LOCKSTEP_EXPORT_SAMPLES_H
#define LOCKSTEP_EXPORT_SAMPLES_H

#include "export/export.h"
#include "export/fit.h"
#include "export/record.h"

struct export_setting {
    struct zoo_problem problem;
    struct zoo_tuning tuning;
    struct zoo_device device;
    unsigned resident[EXPORT_STEPS]; /* as in export_record */
};

struct export_samples {
    const struct export_request *request;
    const struct zoo_source *source;
    const struct ptx_module *ptx;
    const char *kernels;                 /* their source */
    struct export_setting setting;       /* what is exported */
    struct export_recording base;        /* and what it launches */
    struct export_fit fit;               /* names, and their values in each sample */
    unsigned char pair[EXPORT_ATOMS][2]; /* what names of two others are made of */
    double (*value)[EXPORT_SAMPLES];     /* [slot][sample] */
    bool is_size[ZOO_PARAMETERS];        /* the exported program has the parameter as a constant */
    /* The slots: the numbers of base, the bytes of the workspace, and each buffer's elements. */
    unsigned slot_count, workspace, buffers;
};

/* With the exported setting as the only sample. On failure false and a malloc'd message; in both
 * cases export_samples_close. */
bool export_samples_open(struct export_samples *samples, const struct export_request *request,
                         const struct zoo_tuning *tuning, const struct ptx_module *ptx,
                         const char *kernels, char **message);
void export_samples_close(struct export_samples *samples);

/* One more. EXPORT_OTHER: the variant launches other kernels there, and nothing was added. */
enum export_added { EXPORT_ADDED, EXPORT_OTHER, EXPORT_IMPOSSIBLE };
enum export_added export_add_sample(struct export_samples *samples,
                                    const struct export_setting *setting);

#endif
