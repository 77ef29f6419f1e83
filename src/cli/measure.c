/*
 * measure.c: from words to a run of src/bench; see measure.h.
 */
#include "cli/measure.h"

#include "cli/target.h"
#include "zoo/zoo.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool parse_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    if (end != text && !*end && isfinite(*seconds) && *seconds > 0 && *seconds <= 3600)
        return true;
    host_error("--time takes seconds above 0 and up to 3600, not '%s'", text);
    return false;
}

bool cli_measure_option(struct cli_measure *measure, int count, char **words, int *at, bool *bad)
{
    const char *value;
    if (cli_option(count, words, at, "--gpu", &measure->gpu)) {
        *bad = !measure->gpu;
    } else if (cli_option(count, words, at, "--time", &value)) {
        *bad = !value || !parse_seconds(value, &measure->request.seconds);
    } else if (cli_flag(words, at, "--no-peers")) {
        measure->request.no_peers = true;
    } else if (cli_flag(words, at, "--only-peers")) {
        measure->request.only_peers = true;
    } else if (words[*at][0] == '-') {
        return false;
    } else if (strchr(words[*at], '=')) {
        lk_buf_printf(&measure->problems, "%s ", words[(*at)++]);
    } else {
        lk_list_add(&measure->names, words[(*at)++]);
    }
    return true;
}

bool cli_measure_check(struct cli_measure *measure)
{
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    if (measure->request.no_peers && measure->request.only_peers) {
        host_error("--no-peers and --only-peers leave nothing to measure");
        return false;
    }
    for (size_t i = 0; i < measure->names.count; i++)
        if (!cli_find_family(measure->names.items[i], &family, &variant))
            return false;
    measure->request.names = &measure->names;
    measure->request.problems = measure->problems.size ? measure->problems.data : NULL;
    measure->request.progress = cli_progress;
    return true;
}

bool cli_measure_run(struct cli_measure *measure, struct bench_run *run)
{
    char gpu[TARGET_NAME], *message = NULL;
    *run = (struct bench_run){0};
    if (!target_choose(measure->gpu, gpu))
        return false;
    bool fine = bench_run(&measure->request, gpu, run, &message);
    if (!fine)
        host_error("%s", message);
    free(message);
    return fine && !run->refused;
}

void cli_measure_free(struct cli_measure *measure)
{
    lk_list_free(&measure->names);
    lk_buf_free(&measure->problems);
}
