/*
 * embedded.c: writes the embedded headers to files, so that kernels can be compiled; see
 * embedded.h.
 */
#include "zoo/embedded.h"

#include "base/buf.h"
#include "host/files.h"

#include <stdlib.h>
#include <string.h>

bool zoo_write_headers(const char *of, const char *folder, char **message)
{
    size_t length = strlen(of);
    bool fine = true;
    for (size_t i = 0; fine && i < zoo_embedded_file_count; i++) {
        const struct zoo_embedded_file *file = &zoo_embedded_files[i];
        const char *ending = strrchr(file->path, '.');
        if (strncmp(file->path, of, length) != 0 || file->path[length] != '/' || !ending ||
            strcmp(ending, ".h") != 0)
            continue;
        char *path = lk_format("%s%s", folder, file->path + length);
        fine = host_write_file(path, file->text, (size_t)(file->text_end - file->text), message);
        free(path);
    }
    return fine;
}
