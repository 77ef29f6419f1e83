/*
 * ptxlink.h: several PTX texts into one, as a linker does: what programs built with -rdc=true bring
 * (one text for each source file), and what cuLinkAddData collects.
 */
#ifndef LOCKSTEP_DRIVER_PTXLINK_H
#define LOCKSTEP_DRIVER_PTXLINK_H

#include <stdbool.h>
#include <stddef.h>

/* malloc'd, NUL-terminated; always some text. What is wrong with it, the PTX parser will say. */
char *ptxlink_merge(const char *const *texts, const size_t *sizes, size_t count, size_t *size);

/* Is it NVIDIA's device runtime, which cannot run here? A merge leaves it out. */
bool ptxlink_is_device_runtime(const char *text, size_t size);

#endif
