/*
 * target.h: the GPU that a program is to run on: a simulated one or a real one.
 */
#ifndef LOCKSTEP_CLI_TARGET_H
#define LOCKSTEP_CLI_TARGET_H

#include "cuda/driver.h"
#include "gpu/gpu.h"

#include <stdbool.h>

/* The GPUs that the real driver shows; none where there is no driver or no GPU. */
#define TARGET_DEVICES 16
struct target_devices {
    unsigned count;
    struct lk_driver_gpu device[TARGET_DEVICES];
};
void target_find_devices(struct target_devices *devices);

struct target {
    const struct gpu_info *simulated; /* NULL: a real one */
    unsigned count;                   /* of simulated ones */
    unsigned index;                   /* of the real one */
    unsigned cc_major, cc_minor;
};

/* "sim:h200", "sim:h200x2", "cuda:0"; false after printing an error. NULL or "" is the default: the
 * first real GPU, or sim:h200. */
bool target_parse(const char *text, struct target *target);

/* What zoo_device_open takes, or "cpu", from --gpu (NULL: not given) or LOCKSTEP_GPU; false after
 * printing an error. */
enum { TARGET_NAME = 32 };
bool target_choose(const char *gpu, char name[TARGET_NAME]);
/* As LOCKSTEP_GPU has it. */
void target_name(const struct target *target, char name[TARGET_NAME]);

/* Known by id or name; otherwise NULL, after printing an error that suggests the nearest. */
const struct gpu_info *target_find_gpu(const char *name);

#endif
