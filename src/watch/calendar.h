/*
 * calendar.h: when a unit of the GPU is free. Time is cut into slices; each knows how many of its
 * cycles are taken. Work asks for so many cycles from a moment on and gets the first free ones, in
 * whatever order it comes: blocks are run one after the other, and each finds the gaps that those
 * before it have left.
 */
#ifndef LOCKSTEP_WATCH_CALENDAR_H
#define LOCKSTEP_WATCH_CALENDAR_H

#include <stdint.h>

enum { CALENDAR_SLICES = 8192, CALENDAR_SHIFT = 6 }; /* slices of 64 cycles, then longer ones */

struct calendar {
    float *used;    /* [CALENDAR_SLICES]: cycles; NULL until it is first used */
    uint16_t *next; /* [CALENDAR_SLICES + 1]: a slice with room, or one that is nearer to it */
    unsigned shift; /* log2 of a slice's cycles */
};

/* Takes cycles of the unit from `from` on; returns when the last of them ends. */
double calendar_take(struct calendar *calendar, double from, double cycles);
void calendar_close(struct calendar *calendar);

#endif
