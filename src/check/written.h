/*
 * written.h: which bytes were ever written, a bit for each.
 */
#ifndef LOCKSTEP_CHECK_WRITTEN_H
#define LOCKSTEP_CHECK_WRITTEN_H

#include <stdbool.h>
#include <stdint.h>

/* The elements that nothing has written, as bits. Bytes that were never written are only wrong if
 * nothing of an element was: programs copy structs with their padding. */
static inline uint8_t written_not(const uint8_t *written, uint32_t first, uint32_t bytes,
                                  uint32_t element)
{
    uint8_t parts = 0;
    if (bytes == 4 && element >= 4)
        return !(written[first >> 3] >> (first & 4) & 15);
    for (uint32_t at = 0; at < bytes; at += element) {
        bool any = false;
        for (uint32_t i = at; i < at + element && i < bytes; i++)
            any |= written[(first + i) >> 3] >> ((first + i) & 7) & 1;
        parts |= (uint8_t)(!any << at / element);
    }
    return parts;
}

static inline void written_set(uint8_t *written, uint32_t first, uint32_t bytes)
{
    if (bytes == 4 && !(first & 3)) {
        written[first >> 3] |= (uint8_t)(15u << (first & 4));
        return;
    }
    for (uint32_t i = 0; i < bytes; i++)
        written[(first + i) >> 3] |= (uint8_t)(1u << ((first + i) & 7));
}

#endif
