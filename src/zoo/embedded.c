/*
 * embedded.c: the text of an embedded file by its path; the embedded headers written to files, so
 * that kernels can be compiled; see embedded.h.
 */
#include "zoo/embedded.h"

#include "base/buf.h"
#include "host/files.h"

#include <stdlib.h>
#include <string.h>

/* What follows the last folder called kernels; NULL if there is none. */
static const char *after_kernels(const char *path)
{
    static const char folder[] = "kernels/";
    const char *found = NULL;
    for (const char *at = path; (at = strstr(at, folder)); at++)
        if (at == path || at[-1] == '/')
            found = at + strlen(folder);
    return found;
}

static bool is_variant(const struct zoo_embedded *row, const char *path)
{
    size_t family = strlen(row->family), variant = strlen(row->variant);
    return strncmp(path, row->family, family) == 0 && path[family] == '/' &&
           strncmp(path + family + 1, row->variant, variant) == 0 &&
           strcmp(path + family + 1 + variant, ".cu") == 0;
}

const char *zoo_embedded_text(const char *path, size_t *size)
{
    const char *inside = after_kernels(path);
    for (size_t i = 0; inside && i < zoo_embedded_count; i++)
        if (is_variant(&zoo_embedded[i], inside)) {
            *size = (size_t)(zoo_embedded[i].text_end - zoo_embedded[i].text);
            return zoo_embedded[i].text;
        }
    for (size_t i = 0; inside && i < zoo_embedded_file_count; i++)
        if (strcmp(zoo_embedded_files[i].path, inside) == 0) {
            *size = (size_t)(zoo_embedded_files[i].text_end - zoo_embedded_files[i].text);
            return zoo_embedded_files[i].text;
        }
    return NULL;
}

bool zoo_write_headers(const char *of, const char *folder, char **message)
{
    size_t length = strlen(of);
    bool fine = true;
    for (size_t i = 0; fine && i < zoo_embedded_file_count; i++) {
        const struct zoo_embedded_file *file = &zoo_embedded_files[i];
        const char *ending = strrchr(file->path, '.');
        if (strncmp(file->path, of, length) != 0 || file->path[length] != '/' || !ending ||
            (strcmp(ending, ".h") != 0 && strcmp(ending, ".sh") != 0))
            continue;
        char *path = lk_format("%s%s", folder, file->path + length);
        fine = host_write_file(path, file->text, (size_t)(file->text_end - file->text), message);
        free(path);
    }
    return fine;
}
