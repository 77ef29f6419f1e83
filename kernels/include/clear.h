/*
 * clear.h: a kernel that sets a few words to zero before the kernel that needs them so: a launch of
 * one's own module follows another sooner than a launch follows a memset.
 */
#ifndef LOCKSTEP_KERNELS_CLEAR_H
#define LOCKSTEP_KERNELS_CLEAR_H

#include "device.h"

KERNEL clear_words(u64 *words, i64 count)
{
    for (i64 i = global_thread(); i < count; i += global_threads())
        words[i] = 0;
}

#endif
