/*
 * chosen.h: which launches, blocks and warps a trace or a replay is of: words of an environment
 * variable, as in LOCKSTEP_TRACE=blocks:0-1,warps:0-3,records:4096.
 */
#ifndef LOCKSTEP_WATCH_CHOSEN_H
#define LOCKSTEP_WATCH_CHOSEN_H

#include <stdbool.h>
#include <stdint.h>

struct chosen_range {
    uint64_t first, last;
};

/* "3" or "0-3" */
struct chosen_range chosen_range(const char *text);

static inline bool chosen_has(struct chosen_range range, uint64_t number)
{
    return number >= range.first && number <= range.last;
}

/* Calls take for each "NAME:VALUE" of the variable; false if it is not set. take ignores names that
 * it does not know. */
typedef void chosen_take(void *context, const char *name, const char *value);
bool chosen_read(const char *variable, chosen_take *take, void *context);

#endif
