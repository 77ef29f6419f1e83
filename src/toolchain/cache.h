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
#include "base/buf.h"
#include "base/hash.h"
#include "base/list.h"

#include <stdbool.h>

/* ${XDG_CACHE_HOME:-~/.cache}/lockstep/run, made if needed; NULL if it cannot be written. */
char *cache_folder(struct lk_arena *arena);

/* The program called name for the key, or NULL if it must be built. */
char *cache_find(struct lk_arena *arena, const char *folder, struct lk_hash128 key,
                 const char *name);

/* Moves new_folder, which has the program, into the cache and returns the program's path there.
 * files is what it was built from. NULL, with new_folder left alone, if that fails. */
char *cache_keep(struct lk_arena *arena, const char *folder, struct lk_hash128 key,
                 const struct lk_list *files, const char *new_folder, const char *name);

/* Drops the least recently used above the limit: LOCKSTEP_CACHE_MIB, or 1024. */
void cache_trim(const char *folder);

/* A text that some other tool printed, at path in the folder; false if it is not there or damaged,
 * and has to be made again. */
bool cache_find_text(const char *path, struct lk_buf *text);
void cache_keep_text(const char *path, const struct lk_buf *text);

#endif
