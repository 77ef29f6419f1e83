/*
 * trial.h: variants by name, run on problems and compared with the reference; for 'zoo test' and
 * 'zoo run'.
 */
#ifndef LOCKSTEP_ZOO_TRIAL_H
#define LOCKSTEP_ZOO_TRIAL_H

#include "base/list.h"
#include "zoo/zoo.h"

/* The outcome for a variant. */
struct zoo_trial {
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    unsigned problems, failed;
    char *message; /* of the first failure */
};

struct zoo_trial_request {
    const struct lk_list *names; /* FAMILY[/VARIANT]; none: all that run there */
    const char *problems;        /* "n=1,2 op=sum"; NULL: the family's own */
    bool edges;                  /* those at the edges, else the one that is profiled */
    const char *ptx;   /* a folder of FAMILY/VARIANT.ptx in place of the built-in kernels */
    unsigned repeat;   /* times that each is run; deterministic variants must give equal bits */
    unsigned shift;    /* buffers begin this many elements after an aligned address */
    unsigned at_most;  /* of a variant's problems, this many, spread over all; 0: all */
    unsigned launches; /* instead: this many of one small problem, which must not leak memory */
    /* Called back after each problem and variant; each may be NULL. message: why it is wrong; NULL:
     * it is right. */
    void *context;
    void (*problem_done)(void *context, const struct zoo_trial *trial, const char *problem,
                         const char *message);
    void (*variant_done)(void *context, const struct zoo_trial *trial);
};

/* gpu as for zoo_device_open, or "cpu". False and a malloc'd message if it does not open or a name
 * or problem is not understood; there may be trials even then, for zoo_trials_free. */
bool zoo_try(const struct zoo_trial_request *request, const char *gpu, struct zoo_trial **trials,
             size_t *count, char **message);
void zoo_trials_free(struct zoo_trial *trials, size_t count);

#endif
