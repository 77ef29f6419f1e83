/*
 * vendor.c: NVIDIA's own libraries; see vendor.h.
 */
#include "clients/vendor.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYSTEM_FOLDERS "/usr/local/cuda/lib64:/usr/lib/x86_64-linux-gnu:/usr/lib/aarch64-linux-gnu"

static const char own_place[] = ""; /* in this library, for dladdr */

/* "/./" in its path keeps audit.c from sending the loader back to ours. */
static void *open_in(const char *folder, const char *below, const char *name)
{
    char path[4096];
    int size = snprintf(path, sizeof path, "%s%s/./%s", folder, below, name);
    return size > 0 && (size_t)size < sizeof path
               ? dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND)
               : NULL;
}

/* For dl_iterate_phdr: finds paths like .../site-packages/cuda/core/_module.so. The loader may not
 * be called from there, so the folder is kept. */
struct packages {
    char folder[4096];
};

static int find_packages(struct dl_phdr_info *info, size_t size, void *context)
{
    static const char *const names[] = {"/site-packages/", "/dist-packages/"};
    struct packages *packages = context;
    (void)size;
    for (size_t i = 0; info->dlpi_name && i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(info->dlpi_name, names[i]);
        size_t length = at ? (size_t)(at - info->dlpi_name) + strlen(names[i]) : 0;
        if (!at || length >= sizeof packages->folder)
            continue;
        memcpy(packages->folder, info->dlpi_name, length);
        packages->folder[length] = 0;
        return 1;
    }
    return 0;
}

/* In a list of folders, but not this library itself. */
static void *open_in_list(const char *list, const char *name)
{
    void *library = NULL;
    while (!library && list && *list) {
        size_t length = strcspn(list, ":");
        char folder[4096], candidate[4096 + 64], path[PATH_MAX], own[PATH_MAX];
        Dl_info self;
        snprintf(folder, sizeof folder, "%.*s", (int)length, list);
        snprintf(candidate, sizeof candidate, "%s/%s", folder, name);
        list += length + (list[length] == ':');
        if (!*folder || !realpath(candidate, path))
            continue;
        if (!dladdr(own_place, &self) || !realpath(self.dli_fname, own) || strcmp(path, own) == 0)
            continue;
        library = open_in(folder, "", name);
    }
    return library;
}

void *vendor_open(const char *name, const char *const *wheels)
{
    struct packages packages = {""};
    void *library = NULL;
    if (dl_iterate_phdr(find_packages, &packages))
        for (; !library && *wheels; wheels++)
            library = open_in(packages.folder, *wheels, name);
    if (!library)
        library = open_in_list(getenv("LOCKSTEP_TOOLKIT"), name);
    if (!library)
        library = open_in_list(getenv("LD_LIBRARY_PATH"), name);
    return library ? library : open_in_list(SYSTEM_FOLDERS, name);
}
