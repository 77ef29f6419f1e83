/*
 * files.h: whole files, folders, temporary folders, and where this program and its data are.
 * What fails returns false or NULL, and a malloc'd "PATH: reason" in *message unless message is
 * NULL. Strings that are returned as char * are malloc'd.
 */
#ifndef LOCKSTEP_HOST_FILES_H
#define LOCKSTEP_HOST_FILES_H

#include "base/buf.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Appends the file's bytes to content, whose data is then NUL-terminated even if there are none. */
bool host_read_file(const char *path, struct lk_buf *content, char **message);
/* The file's text, of at most 4 MiB: for files that a learner may have put anything into. */
char *host_read_text(const char *path, char **message);
/* The line of that number, from 1, without its end; NULL if there is no such line. */
char *host_read_line(const char *path, unsigned long long number);

/* All of data to an open descriptor, however often that takes; false with errno. */
bool host_write_all(int file, const void *data, size_t size);
bool host_write_file(const char *path, const void *data, size_t size, char **message);
/* Writes the file whole or not at all, even on a full disk, and makes the folders it lies in. A
 * link stays a link, and permissions stay as they are. */
bool host_replace_file(const char *path, const void *data, size_t size, char **message);

bool host_make_folder(const char *path, char **message);  /* with its parents; fine if it exists */
bool host_make_parents(const char *path, char **message); /* only the folders that path lies in */
void host_remove_tree(const char *path);

/* Waits until no other process or thread holds the folder that path lies in, and holds it; for
 * host_unlock. On a file system without locks there is nothing to wait for. */
int host_lock_parent(const char *path);
void host_unlock(int lock);

/* A new folder $TMPDIR/lockstep-NAME-XXXXXX (or in /tmp), which only this user can enter. */
char *host_temporary_folder(const char *name, char **message);

/* NAME in ${XDG_DATA_HOME:-~/.local/share}/lockstep or ${XDG_CACHE_HOME:-~/.cache}/lockstep; NULL,
 * with no message, if there is no home folder. */
char *host_data_path(const char *name);
char *host_cache_path(const char *name);

/* The running program's file and the folder that it lies in; static storage, "" if not known. */
const char *host_program(void);
const char *host_program_folder(void);

#endif
