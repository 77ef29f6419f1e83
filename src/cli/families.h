/*
 * families.h: running variants of families by name on a GPU chosen on the command line, and
 * comparing with the reference; for 'zoo test' and 'zoo run'.
 */
#ifndef LOCKSTEP_CLI_FAMILIES_H
#define LOCKSTEP_CLI_FAMILIES_H

#include "base/buf.h"
#include "cli/cli.h"
#include "zoo/zoo.h"

struct families_request {
    struct lk_list names;  /* FAMILY[/VARIANT]; none: all */
    struct lk_buf problems; /* "n=1,2 op=sum" */
    const char *gpu, *ptx;
    unsigned repeat, shift, every, launches;
    bool verbose, quiet, edges;
};

struct families_result {
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    unsigned problems, failed;
    char *message; /* of the first failure */
};

/* An option or a word of ours at *at, which moves on; *bad if it is wrong and that was said. */
bool families_option(struct families_request *request, int count, char **words, int *at, bool *bad);
void families_request_free(struct families_request *request);

/* zoo_find, with its error said. */
bool families_find(const char *name, const struct zoo_family **family,
                   const struct zoo_variant **variant);

/* What zoo_device_open takes, or "cpu", from --gpu or LOCKSTEP_GPU; false after an error was said.
 */
enum { FAMILIES_GPU = 32 };
bool families_gpu(const char *gpu, char name[FAMILIES_GPU]);

/* False after an error was said; results are malloc'd, for families_free. */
bool families_run(const struct families_request *request, struct families_result **results,
                  size_t *count);
void families_free(struct families_result *results, size_t count);

#endif
