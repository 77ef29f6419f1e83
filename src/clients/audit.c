/*
 * audit.c: liblockstep_audit.so: sends the dynamic loader to our libraries, whatever folder the
 * program or a package asks for. 'lockstep run' names it in LD_AUDIT for programs that load CUDA
 * while they run, as Python does: packages open their own copies of libcudart, libnvrtc and
 * libnvJitLink by absolute path or RPATH, where LD_LIBRARY_PATH has no say. See rtld-audit(7).
 *
 * The loader keeps it apart from the program, with a C library of its own: nothing here may depend
 * on the rest of Lockstep.
 */
#include "clients/static_runtime.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* Files beside this library that take the place of others of their name. */
static const char *const ours[] = {
#define STAND_IN(name) name,
#include "clients/standins.def"
};

static char folder[4096]; /* ends in a slash; empty: nothing is replaced */
static char place[4096 + 64];

EXPORT unsigned la_version(unsigned version);
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag);
EXPORT unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie);

unsigned la_version(unsigned version)
{
    const char *from = getenv("LOCKSTEP_LIBRARIES");
    if (from && strlen(from) + 2 < sizeof folder)
        snprintf(folder, sizeof folder, "%s/", from);
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

/* A path with "/./" in it is meant as it is: so our libraries open NVIDIA's. */
static int is_meant(const char *name)
{
    return strstr(name, "/./") != NULL;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag)
{
    (void)cookie, (void)flag;
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    for (size_t i = 0; *folder && i < sizeof ours / sizeof *ours; i++)
        if (strcmp(base, ours[i]) == 0 && !is_meant(name)) {
            snprintf(place, sizeof place, "%s%s", folder, base);
            return access(place, R_OK) == 0 ? place : (char *)name;
        }
    return (char *)name;
}

/* The main program has no name here; our own libraries stay as they are. */
unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
    (void)cookie;
    if (*folder && space == LM_ID_BASE && strncmp(map->l_name, folder, strlen(folder)) != 0) {
        static_runtime_redirect(*map->l_name ? map->l_name : "/proc/self/exe", map->l_addr, folder);
        machine_code_stop(map->l_name, map->l_addr);
    }
    return 0; /* of bindings the loader need not report */
}
