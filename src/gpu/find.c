/*
 * find.c: a GPU by the name that a user typed, and the nearest known one for "did you mean".
 * Case and punctuation do not matter: "RTX 4090", "rtx-4090" and "rtx4090" are the same, and so
 * is the name that the device gives itself.
 */
#include "gpu/gpu.h"

#include "base/buf.h"
#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_CHARS 64

/* Letters and digits of text, in lower case; false if it is longer than any name. */
static bool plain_name(const char *text, char plain[NAME_MAX_CHARS])
{
    size_t length = 0;
    for (; *text; text++) {
        if (!isalnum((unsigned char)*text))
            continue;
        if (length + 1 == NAME_MAX_CHARS)
            return false;
        plain[length++] = (char)tolower((unsigned char)*text);
    }
    plain[length] = 0;
    return length > 0;
}

static bool same_name(const char *plain, const char *name)
{
    char other[NAME_MAX_CHARS];
    return plain_name(name, other) && strcmp(plain, other) == 0;
}

const struct gpu_info *gpu_find(const char *id)
{
    char plain[NAME_MAX_CHARS];
    if (!id || !plain_name(id, plain))
        return NULL;
    for (unsigned i = 0; i < gpu_info_count; i++)
        if (same_name(plain, gpu_infos[i].id) || same_name(plain, gpu_infos[i].name))
            return &gpu_infos[i];
    return NULL;
}

const struct gpu_info *gpu_nearest(const char *id)
{
    char plain[NAME_MAX_CHARS], other[NAME_MAX_CHARS];
    if (!id || !plain_name(id, plain))
        return NULL;
    const struct gpu_info *nearest = NULL;
    unsigned least = 4; /* this many edits make another name */
    for (unsigned i = 0; i < gpu_info_count; i++) {
        if (!plain_name(gpu_infos[i].id, other))
            continue;
        /* A part of the name ("4090") is one slip, however much is missing. */
        unsigned distance = strlen(plain) >= 2 && strstr(other, plain)
                                ? 1
                                : lk_edit_distance(plain, strlen(plain), other, strlen(other));
        bool all_differs = distance >= strlen(other);
        if (distance < least && !all_differs) {
            least = distance;
            nearest = &gpu_infos[i];
        }
    }
    return nearest;
}

const struct gpu_info *gpu_parse(const char *text, unsigned *count, char **message)
{
    bool prefixed = strncasecmp(text, "sim:", 4) == 0;
    const char *name = prefixed ? text + 4 : text, *times = strrchr(name, 'x');
    char id[NAME_MAX_CHARS];
    unsigned long long many;
    *count = 1;
    *message = NULL;
    const struct gpu_info *gpu = gpu_find(name);
    if (gpu)
        return gpu;
    bool counted = times && times != name && (size_t)(times - name) < sizeof id &&
                   times[1 + strspn(times + 1, "0123456789")] == 0 && times[1];
    snprintf(id, sizeof id, "%.*s", counted ? (int)(times - name) : (int)strlen(name), name);
    gpu = counted ? gpu_find(id) : NULL;
    if (gpu && lk_parse_number(times + 1, GPU_SIMULATED_MAX, &many) && many) {
        *count = (unsigned)many;
        return gpu;
    }
    const struct gpu_info *nearest = gpu_nearest(id);
    if (gpu)
        *message =
            lk_format("'%s': 1 to %d GPUs can be simulated at once", text, GPU_SIMULATED_MAX);
    else if (nearest)
        *message = lk_format("no GPU '%s' is known; did you mean '%s%s'?", name,
                             prefixed ? "sim:" : "", nearest->id);
    else
        *message = lk_format("no GPU '%s' is known; 'lockstep gpus' lists them", name);
    return NULL;
}
