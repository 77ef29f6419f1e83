/*
 * virtual.h: the pieces of virtual memory management: addresses that are reserved, physical memory,
 * and the mapping of one to the other. driver/virtual.c knows the program's handles and the rules;
 * ordinary allocations (simt_alloc) are both at once, and need none of this.
 */
#ifndef LOCKSTEP_SIMT_VIRTUAL_H
#define LOCKSTEP_SIMT_VIRTUAL_H

#include "simt/simt.h"

#define SIMT_PHYSICAL_UNIT ((size_t)2 << 20) /* sizes of physical memory are multiples of it */

/* Bytes of a file, so that they can be seen at several addresses. */
struct simt_physical {
    size_t size;
    uint64_t offset;
    int file;
    bool own_file; /* which another process may be given; else it is the machine's */
    bool counts;   /* is memory of the GPU */
    bool was_seen; /* was mapped before: may have been written */
};

/* false if the GPU, or the host, has not so much. */
bool simt_physical_open(struct simt_machine *machine, struct simt_physical *physical, size_t size,
                        enum simt_memory_kind kind, bool own_file);
/* Memory that another process has opened with a file of its own, by a descriptor, of which a
 * duplicate is kept. false if it is something else. host: it is host memory. */
bool simt_physical_import(struct simt_physical *physical, int file, unsigned *device, bool *host);
/* An ordinary allocation of device memory, for other processes: moves its bytes to where the file
 * has them, at the offset that the allocation has in the arena. The second: that file, or -1. */
bool simt_export(struct simt_machine *machine, uint64_t address, size_t size, uint64_t *offset);
int simt_export_file(struct simt_machine *machine);
bool simt_is_export_file(int file); /* of any process */
void simt_physical_close(struct simt_machine *machine, struct simt_physical *physical);

/* Addresses; multiples of SIMT_PHYSICAL_UNIT. Those wanted, if they are free. 0: there are none. */
uint64_t simt_reserve(struct simt_machine *machine, size_t size, uint64_t align, uint64_t wanted);
void simt_unreserve(struct simt_machine *machine, uint64_t address);

/* Puts the first bytes of physical memory at reserved addresses of this machine, where nobody can
 * use them yet; and takes them away. */
bool simt_map(struct simt_machine *machine, uint64_t address, size_t size,
              const struct simt_physical *physical);
void simt_unmap(uint64_t address, size_t size);

enum simt_access { SIMT_ACCESS_NONE, SIMT_ACCESS_READ, SIMT_ACCESS_WRITE };
/* What the machine's kernels may do with a whole mapping, at addresses of any machine. was_seen:
 * its bytes may have been written already. */
void simt_show(struct simt_machine *machine, uint64_t address, size_t size, bool was_seen,
               enum simt_memory_kind kind, enum simt_access access);
/* And the host's own code, at these addresses. */
bool simt_show_host(uint64_t address, size_t size, const struct simt_physical *physical,
                    enum simt_access access);

#endif
