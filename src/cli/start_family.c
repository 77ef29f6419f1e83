/*
 * start_family.c: profile and check of a kernel family: this program once more, as 'zoo run' or
 * 'zoo test', with the environment that our libraries read.
 */
#include "cli/start.h"

#include "cli/request.h"
#include "cli/target.h"
#include "zoo/zoo.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The first word that is not an option names a family: it has no extension, and is not a file. */
bool start_is_family(int count, char **words)
{
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
        if (words[i][0] == '-') {
            static const char *const with_value[] = {"--gpu", "--threads", "--schedule", "--limit",
                                                     "--at-most"};
            for (size_t k = 0; k < sizeof with_value / sizeof with_value[0]; k++)
                i += strcmp(words[i], with_value[k]) == 0;
            continue;
        }
        return !strchr(words[i], '.') && access(words[i], F_OK) != 0;
    }
    return false;
}

static bool put_gpu(const struct start *start, const char *gpu, struct target *target)
{
    if (!gpu && start->only_simulated && !getenv("LOCKSTEP_GPU"))
        gpu = "sim:h200";
    if (!target_parse(gpu ? gpu : getenv("LOCKSTEP_GPU"), target))
        return false;
    if (!target->simulated) {
        host_error("a simulated GPU is needed, as in --gpu sim:h200");
        return false;
    }
    char name[TARGET_NAME];
    target_name(target, name);
    start_put("LOCKSTEP_GPU", name);
    return true;
}

bool start_prepare_family(struct lk_arena *arena, int count, char **words, struct start *start)
{
    static const struct {
        const char *option, *variable;
    } settings[] = {{"--threads", "LOCKSTEP_THREADS"},
                    {"--schedule", "LOCKSTEP_SCHEDULE"},
                    {"--limit", "LOCKSTEP_LIMIT"}};
    const struct zoo_family *family;
    const struct zoo_variant *variant;
    const char *gpu = NULL, *value;
    struct target target;
    char **arguments = lk_arena_alloc(arena, (size_t)(count + 4) * sizeof *arguments);
    int used = 0;
    arguments[used++] = "zoo";
    arguments[used++] = (char *)start->family_verb;
    for (int at = 0; at < count;) {
        size_t setting = 0;
        while (setting < 3 && !cli_option(count, words, &at, settings[setting].option, &value))
            setting++;
        if (setting < 3) {
            if (!value || !request_check_setting(settings[setting].option, value))
                return false;
            start_put(settings[setting].variable, value);
        } else if (cli_flag(words, &at, "--poison")) {
            start_put("LOCKSTEP_POISON", START_POISON);
        } else if (cli_option(count, words, &at, "--gpu", &gpu)) {
            if (!gpu)
                return false;
        } else if (strcmp(start->family_verb, "test") == 0 &&
                   cli_option(count, words, &at, "--at-most", &value)) {
            if (!value)
                return false;
            arguments[used++] = "--at-most";
            arguments[used++] = (char *)value;
        } else if (words[at][0] == '-') {
            host_error("there is no option '%s' for a family", words[at]);
            return false;
        } else {
            if (!strchr(words[at], '=') && !cli_find_family(words[at], &family, &variant))
                return false;
            arguments[used++] = words[at++];
        }
    }
    if (!put_gpu(start, gpu, &target))
        return false;
    start->path = "/proc/self/exe";
    start->name = "lockstep";
    start->arguments = arguments;
    start->gpu = target.simulated;
    return true;
}
