/*
 * folder.h: a temporary folder for the tests of a file, with the cmocka group's set-up and
 * tear-down. Include it after cmocka.h.
 */
#ifndef LOCKSTEP_TESTS_FOLDER_H
#define LOCKSTEP_TESTS_FOLDER_H

#include "base/arena.h"
#include "host/files.h"

#include <stdlib.h>

static char *folder; /* without links */
static struct lk_arena *arena;

static inline char *path_of(const char *name)
{
    return lk_arena_printf(arena, "%s/%s", folder, name);
}

static inline void check_file(const char *name, const char *expected)
{
    char *text = host_read_text(path_of(name), NULL);
    assert_non_null(text);
    assert_string_equal(text, expected);
    free(text);
}

static inline int folder_set_up(void **state)
{
    char *made = host_temporary_folder("test", NULL);
    folder = made ? realpath(made, NULL) : NULL;
    free(made);
    arena = lk_arena_create();
    return folder ? 0 : -1;
}

static inline int folder_tear_down(void **state)
{
    host_remove_tree(folder);
    free(folder);
    lk_arena_destroy(arena);
    return 0;
}

#endif
