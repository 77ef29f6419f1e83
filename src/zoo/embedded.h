/*
 * embedded.h: the kernels' sources and PTX as they lie in the library, their headers and the tables
 * of choices; scripts/embed-kernels makes the lists from kernels/.
 */
#ifndef LOCKSTEP_ZOO_EMBEDDED_H
#define LOCKSTEP_ZOO_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>

struct zoo_embedded {
    const char *family, *variant;
    const char *text, *text_end; /* followed by a zero byte */
    const char *ptx, *ptx_end;   /* a zstd frame */
};

extern const struct zoo_embedded zoo_embedded[];
extern const size_t zoo_embedded_count;

/* Under kernels/: "include/device.h", "reduction/sums.h", "reduction/tuned.json". */
struct zoo_embedded_file {
    const char *path;
    const char *text, *text_end;
};

extern const struct zoo_embedded_file zoo_embedded_files[];
extern const size_t zoo_embedded_file_count;

/* The text of "kernels/FAMILY/VARIANT.cu" or of a header, as it was built in; NULL if path is not
 * one of them. Folders before "kernels" do not matter. */
const char *zoo_embedded_text(const char *path, size_t *size);

/* Writes the files of "include" or of a family into folder, which is there. False and a malloc'd
 * message if that fails. */
bool zoo_write_headers(const char *of, const char *folder, char **message);

#endif
