/*
 * clear.h: a kernel that sets a few words to zero before the kernel that needs them so: a launch of
 * one's own module follows another sooner than a launch follows a memset. Where LETS_NEXT_BEGIN is
 * defined (sm_90), a launch behind it that overlaps comes to the GPU at once.
 */
#ifndef LOCKSTEP_KERNELS_CLEAR_H
#define LOCKSTEP_KERNELS_CLEAR_H

#include "device.h"

KERNEL clear_words(u64 *words, i64 count)
{
#ifdef LETS_NEXT_BEGIN
    let_next_begin();
#endif
    for (i64 i = global_thread(); i < count; i += global_threads())
        words[i] = 0;
}

#endif
