/*
 * cache.h: built programs, kept by what they were built from.
 * A key names a command line; the files it read are only known after it ran. So the cache keeps,
 * per key, the list of files read, and the program under the hash of key and files' contents.
 * Entries appear whole (rename) and the least recently used go when there are too many bytes, so
 * any number of runs can share it.
 */
#ifndef LOCKSTEP_TOOLCHAIN_CACHE_H
#define LOCKSTEP_TOOLCHAIN_CACHE_H

#include "base/arena.h"
#include "base/list.h"

#include <stdint.h>

#include <stdbool.h>

struct cache_hash {
    unsigned __int128 value;
};
struct cache_hash cache_hash_start(void);
void cache_hash_add(struct cache_hash *hash, const void *data, size_t size);
void cache_hash_add_text(struct cache_hash *hash, const char *text); /* with its end */

/* ${XDG_CACHE_HOME:-~/.cache}/lockstep/run, made if needed; NULL if it cannot be written. */
char *cache_folder(struct lk_arena *arena);

/* The program called name for the key, or NULL if it must be built. */
char *cache_find(struct lk_arena *arena, const char *folder, struct cache_hash key,
                 const char *name);

/* Moves new_folder, which has the program, into the cache and returns the program's path there.
 * files is what it was built from. NULL, with new_folder left alone, if that fails. */
char *cache_keep(struct lk_arena *arena, const char *folder, struct cache_hash key,
                 const struct lk_list *files, const char *new_folder, const char *name);

/* Drops the least recently used above the limit: LOCKSTEP_CACHE_MIB, or 1024. */
void cache_trim(const char *folder);
void cache_remove_tree(const char *path);

#endif
