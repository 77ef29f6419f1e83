/*
 * fatbin.h: reads NVIDIA's fat binaries, as nvcc 11 to 13 embed them in programs, and finds the PTX
 * in them. Hostile input gives an error, never a crash: all offsets and sizes are checked against
 * the size given, and what is unpacked is bounded.
 */
#ifndef LOCKSTEP_DRIVER_FATBIN_H
#define LOCKSTEP_DRIVER_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FATBIN_WRAPPER_MAGIC 0x466243b1u /* what __cudaRegisterFatBinary gets */
#define FATBIN_MAGIC 0xba55ed50u         /* the container itself */

struct fatbin_wrapper { /* .nvFatBinSegment; version 2: more points to a list of containers that
                           -rdc=true objects brought, ended by NULL */
    uint32_t magic, version;
    const void *data;
    void *more;
};

enum fatbin_kind { FATBIN_PTX = 1, FATBIN_ELF = 2 };

struct fatbin_entry {
    unsigned kind; /* enum fatbin_kind, or something else */
    unsigned arch; /* 90 for sm_90 */
    char suffix;   /* 'a', 'f' or 0 */
    bool compressed;
    const uint8_t *data; /* as stored */
    size_t size;         /* as stored, without padding */
    size_t full_size;    /* unpacked; 0: as stored */
    uint64_t flags;
};

/* The size of a container according to its header, header included; 0 if it is not one. Reads 16
 * bytes. */
size_t fatbin_size(const void *data);

/* Goes through the containers in [data, data + size); *offset begins at 0. False at the end, or
 * with *message (a constant) where the data is broken. */
bool fatbin_next(const void *data, size_t size, size_t *offset, struct fatbin_entry *entry,
                 const char **message);

/* Can a device of this compute capability run PTX made for the entry's target? */
bool fatbin_runs_on(const struct fatbin_entry *entry, unsigned cc_major, unsigned cc_minor);

/* The best PTX entry for the device; false if there is none. Counts what there is instead. Where
 * machine code fits the device and all PTX is for newer ones, the lowest of that is taken: it comes
 * from the same source, as packages from PyPI are built. */
struct fatbin_content {
    unsigned ptx, elf, other;
    unsigned lowest_ptx; /* target of the lowest PTX that does not fit */
    unsigned elf_arch;   /* target of the newest machine code */
    char elf_suffix;
    bool newer; /* the PTX taken is for a newer GPU */
};
bool fatbin_best_ptx(const void *data, size_t size, unsigned cc_major, unsigned cc_minor,
                     struct fatbin_entry *best, struct fatbin_content *content,
                     const char **message);

/* The entry unpacked, malloc'd and NUL-terminated; NULL with a constant message. */
char *fatbin_unpack(const struct fatbin_entry *entry, size_t *size, const char **message);

#endif
