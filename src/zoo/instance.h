/*
 * instance.h: a problem with its data: inputs, what the reference expects of the outputs, the same
 * on a device, and the comparison. This is how a variant is run by tests, benchmarks and profiles.
 *
 *   zoo_instance_make -> zoo_run_open -> zoo_run_reset -> zoo_run_launch -> zoo_run_verify
 */
#ifndef LOCKSTEP_ZOO_INSTANCE_H
#define LOCKSTEP_ZOO_INSTANCE_H

#include "zoo/device.h"

struct zoo_instance {
    struct zoo_problem problem;
    unsigned count;
    struct zoo_buffer buffer[ZOO_BUFFERS];
    void *host[ZOO_BUFFERS]; /* what is given to the kernel; undefined for outputs */
    bool has_reference;
    /* On a device buffer i begins (i + 1) * shift elements into its allocation, or as many times 16
     * bytes where the variant is ZOO_ALIGNED. */
    unsigned shift;
    struct zoo_expected expected[ZOO_BUFFERS];
};

/* False and a malloc'd message if there is too little host memory. */
bool zoo_instance_make(struct zoo_instance *instance, const struct zoo_problem *problem,
                       bool with_reference, char **message);
void zoo_instance_free(struct zoo_instance *instance);

/* A variant of the CPU, run on copies and compared. */
bool zoo_instance_run_cpu(const struct zoo_instance *instance, const struct zoo_variant *variant,
                          char **message);

/* After each buffer, and the workspace, on a real GPU; the simulated one checks bounds itself. */
enum { ZOO_GUARD = 256 };

/* An instance on a device. */
struct zoo_run {
    const struct zoo_instance *instance;
    const struct zoo_variant *variant;
    struct zoo_call call;
    CUdeviceptr allocation[ZOO_BUFFERS + 1]; /* the last one is the workspace */
    size_t workspace_bytes;
    double leeway; /* so many times the bounds are allowed; 0: once */
};

bool zoo_run_open(struct zoo_run *run, const struct zoo_instance *instance,
                  const struct zoo_variant *variant, const struct zoo_device *device,
                  struct zoo_kernels *kernels, CUstream stream, char **message);
void zoo_run_close(struct zoo_run *run);
/* Inputs as they were, outputs and workspace full of 0xff, so that what is not written shows. */
CUresult zoo_run_reset(struct zoo_run *run);
/* The same, but buffers that are only read are taken to be as they were. */
CUresult zoo_run_reset_outputs(struct zoo_run *run);
/* Launches and waits. */
bool zoo_run_launch(struct zoo_run *run, char **message);
bool zoo_run_verify(struct zoo_run *run, char **message);

#endif
