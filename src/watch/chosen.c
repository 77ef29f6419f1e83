/*
 * chosen.c: reads the environment variables that choose what is traced; see chosen.h.
 */
#include "watch/chosen.h"

#include <stdlib.h>
#include <string.h>

struct chosen_range chosen_range(const char *text)
{
    char *end;
    struct chosen_range range = {strtoull(text, &end, 10), 0};
    range.last = *end == '-' ? strtoull(end + 1, NULL, 10) : range.first;
    return range;
}

bool chosen_read(const char *variable, chosen_take *take, void *context)
{
    const char *wanted = getenv(variable);
    char *place = NULL;
    if (!wanted || !*wanted)
        return false;
    char *words = strdup(wanted);
    for (char *word = strtok_r(words, ",", &place); word; word = strtok_r(NULL, ",", &place)) {
        char *value = strchr(word, ':');
        if (!value)
            continue;
        *value = 0;
        take(context, word, value + 1);
    }
    free(words);
    return true;
}
