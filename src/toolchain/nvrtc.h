/*
 * nvrtc.h: PTX from NVRTC, NVIDIA's compiler as a library, in a process of its own: a compiler may
 * crash, or take more time or memory than it is given.
 */
#ifndef LOCKSTEP_TOOLCHAIN_NVRTC_H
#define LOCKSTEP_TOOLCHAIN_NVRTC_H

/* What that process runs. words: the library, the .cu file, the PTX file to write, then the
 * compiler's options. What it says goes to stderr. Returns its exit status: 0, or 1 after a
 * message. */
int toolchain_nvrtc_worker(int count, char **words);

#endif
