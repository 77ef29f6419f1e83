/*
 * record.h: what a variant's launch function does, recorded instead of done: a driver table that
 * records launches, tensor maps, clears and queries. Pointers are told apart by made-up addresses.
 */
#ifndef LOCKSTEP_EXPORT_RECORD_H
#define LOCKSTEP_EXPORT_RECORD_H

#include "export/fields.h"
#include "ptx/ptx.h"
#include "zoo/device.h"

#define EXPORT_STEPS 32
#define EXPORT_ARGUMENTS EXPORT_FIELDS
#define EXPORT_NUMBERS (EXPORT_STEPS * (7 + EXPORT_ARGUMENTS))

enum { EXPORT_WORKSPACE = ZOO_BUFFERS, EXPORT_SCALAR = -1, EXPORT_FLOAT = -2, EXPORT_MAPPED = -3 };

/* A step's numbers, in the order in which they lie in export_recording.number. */
enum export_step_kind {
    EXPORT_LAUNCH,   /* grid x, y, z; block x, y, z; shared bytes; then one for each argument */
    EXPORT_CLEAR,    /* offset in the buffer; bytes */
    EXPORT_RESIDENT, /* blocks on an SM, of: threads; shared bytes */
    EXPORT_MAP,      /* offset in the buffer; sizes, pitches, box: one for each dimension */
};
enum { EXPORT_GRID = 0, EXPORT_BLOCK = 3, EXPORT_DYNAMIC = 6, EXPORT_FIRST_ARGUMENT = 7 };

/* What a tensor map has besides its numbers. Elements are taken one by one, not interleaved. */
struct export_map {
    CUtensorMapDataType type;
    unsigned rank;
    CUtensorMapSwizzle swizzle;
    CUtensorMapL2promotion promotion;
    CUtensorMapFloatOOBfill fill;
};

struct export_step {
    enum export_step_kind kind;
    char kernel[64];
    bool cooperative, overlaps;
    unsigned cluster; /* blocks along x that form one; 0: none */
    struct export_map map;
    bool packed; /* the arguments are the fields of one structure */
    unsigned argument_count;
    /* What each argument points into: a buffer's index or EXPORT_WORKSPACE, its number is then the
     * offset in bytes; EXPORT_SCALAR: its number is its value; EXPORT_FLOAT: real is, its number
     * are its bits; EXPORT_MAPPED: its number is the step that made the map. */
    int target[EXPORT_ARGUMENTS];
    double real[EXPORT_ARGUMENTS];
    int buffer;     /* EXPORT_CLEAR, EXPORT_MAP: the buffer, as target */
    unsigned first; /* of its numbers */
};

struct export_recording {
    struct export_step step[EXPORT_STEPS];
    unsigned step_count;
    double number[EXPORT_NUMBERS];
    unsigned number_count;
    unsigned resident[EXPORT_STEPS]; /* the answers to EXPORT_RESIDENT, in order */
    unsigned resident_count;
    size_t workspace_bytes;
};

/* source: of the kernels, for export_read_fields. resident: the answers to EXPORT_RESIDENT, in
 * order; NULL: what the device's driver answers. False and a malloc'd message if the variant does
 * not launch. */
bool export_record(const struct zoo_device *device, const struct zoo_problem *problem,
                   const struct zoo_variant *variant, const struct zoo_tuning *tuning,
                   const struct ptx_module *ptx, const char *source, const unsigned *resident,
                   struct export_recording *recording, char **message);

/* The same steps with the same pointers, whatever their numbers. */
bool export_same_steps(const struct export_recording *a, const struct export_recording *b);

#endif
