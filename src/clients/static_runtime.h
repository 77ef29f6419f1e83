/*
 * static_runtime.h: programs and packages that have NVIDIA's CUDA runtime linked into them.
 */
#ifndef LOCKSTEP_CLIENTS_STATIC_RUNTIME_H
#define LOCKSTEP_CLIENTS_STATIC_RUNTIME_H

#include <stdint.h>

/* Sends the runtime's functions inside a loaded object to our libcudart in `folder` (which ends in
 * a slash). Call it before the object's constructors run; objects without a runtime stay as they
 * are. `file` is what was mapped at `base`. */
void static_runtime_redirect(const char *file, uintptr_t base, const char *folder);

#endif
