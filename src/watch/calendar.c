/*
 * calendar.c: see calendar.h.
 */
#include "watch/calendar.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

static void open_slices(struct calendar *calendar)
{
    calendar->used = lk_alloc_zeroed(CALENDAR_SLICES * sizeof(*calendar->used));
    calendar->next = lk_alloc((CALENDAR_SLICES + 1) * sizeof(*calendar->next));
    calendar->shift = CALENDAR_SHIFT;
    for (unsigned i = 0; i <= CALENDAR_SLICES; i++)
        calendar->next[i] = (uint16_t)i;
}

/* Slices of twice the length, in the same memory. */
static void lengthen(struct calendar *calendar)
{
    float *used = calendar->used, most;
    calendar->shift++;
    most = (float)(1u << calendar->shift);
    for (unsigned i = 0; i < CALENDAR_SLICES / 2; i++)
        used[i] = used[2 * i] + used[2 * i + 1];
    memset(used + CALENDAR_SLICES / 2, 0, CALENDAR_SLICES / 2 * sizeof(*used));
    for (unsigned i = 0; i <= CALENDAR_SLICES; i++)
        calendar->next[i] = (uint16_t)(i < CALENDAR_SLICES / 2 && used[i] >= most ? i + 1 : i);
}

static unsigned find_room(struct calendar *calendar, unsigned slice)
{
    uint16_t *next = calendar->next;
    while (next[slice] != slice) {
        next[slice] = next[next[slice]];
        slice = next[slice];
    }
    return slice;
}

double calendar_take(struct calendar *calendar, double from, double cycles)
{
    if (cycles <= 0)
        return from;
    if (!calendar->used)
        open_slices(calendar);
    double ends = from + cycles;
    while (cycles > 0) {
        while (from >= (double)((uint64_t)CALENDAR_SLICES << calendar->shift))
            lengthen(calendar);
        unsigned slice = find_room(calendar, (unsigned)((uint64_t)from >> calendar->shift));
        if (slice == CALENDAR_SLICES) {
            lengthen(calendar);
            continue;
        }
        double length = (double)(1u << calendar->shift), begin = slice * length;
        double free = length - (double)calendar->used[slice];
        double taken = cycles < free ? cycles : free;
        calendar->used[slice] += (float)taken;
        cycles -= taken;
        if (taken >= free) {
            calendar->used[slice] = (float)length;
            calendar->next[slice] = (uint16_t)(slice + 1);
        }
        double now = begin + (double)calendar->used[slice];
        ends = now > ends ? now : ends;
        from = begin + length > from ? begin + length : from;
    }
    return ends;
}

void calendar_close(struct calendar *calendar)
{
    free(calendar->used);
    free(calendar->next);
    *calendar = (struct calendar){0};
}
