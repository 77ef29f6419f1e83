/*
 * cache.c: the cache of built programs; see cache.h.
 * In the folder: KEY.files, the list of files that the key's build read, one a line;
 * CONTENT/NAME, the program, and CONTENT/NAME.hash, so that a damaged one is found out and built
 * again; new.XXXXXX, builds under way. Texts that others keep here begin with their hash.
 */
#include "toolchain/cache.h"

#include "base/buf.h"
#include "base/hash.h"
#include "base/text.h"
#include "host/files.h"
#include "host/terminal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char *hash_name(struct lk_arena *arena, struct lk_hash128 hash)
{
    return lk_arena_printf(arena, "%016llx%016llx", (unsigned long long)hash.high,
                           (unsigned long long)hash.low);
}

char *cache_folder(struct lk_arena *arena)
{
    char *path = host_cache_path("run"), *folder = NULL;
    if (path && host_make_folder(path, NULL) && access(path, W_OK | X_OK) == 0)
        folder = lk_arena_printf(arena, "%s", path);
    free(path);
    return folder;
}

static char *text_hash(struct lk_arena *arena, const char *data, size_t size)
{
    struct lk_hash128 hash = lk_hash128_start();
    lk_hash128_add(&hash, &size, sizeof size);
    lk_hash128_add(&hash, data, size);
    return hash_name(arena, hash);
}

/* The hash of a whole file; NULL if it cannot be read. */
static char *file_hash(struct lk_arena *arena, const char *path)
{
    struct lk_buf content = {0};
    bool read = host_read_file(path, &content, NULL);
    char *hash = read ? text_hash(arena, content.data ? content.data : "", content.size) : NULL;
    lk_buf_free(&content);
    return hash;
}

static bool hash_file(struct lk_hash128 *hash, const char *path)
{
    struct lk_buf content = {0};
    bool read = host_read_file(path, &content, NULL);
    lk_hash128_add_text(hash, path);
    lk_hash128_add(hash, &content.size, sizeof content.size);
    lk_hash128_add(hash, content.data, content.size);
    lk_buf_free(&content);
    return read;
}

/* The list of files that the key's build read, each hashed on top of the key. */
static bool hash_listed_files(const char *list_path, struct lk_hash128 *hash)
{
    struct lk_buf list = {0};
    bool known = host_read_file(list_path, &list, NULL) && list.size > 0;
    char *rest = list.data;
    for (char *path; known && (path = strsep(&rest, "\n"));)
        if (*path)
            known = hash_file(hash, path);
    lk_buf_free(&list);
    return known;
}

static char *list_path(struct lk_arena *arena, const char *folder, struct lk_hash128 key)
{
    return lk_arena_printf(arena, "%s/%s.files", folder, hash_name(arena, key));
}

static void touch(const char *path)
{
    (void)utimensat(AT_FDCWD, path, NULL, 0); /* only the order of removal depends on it */
}

/* Is the program as it was when it was built? */
static bool is_whole(struct lk_arena *arena, const char *entry, const char *name)
{
    struct lk_buf kept = {0};
    char *path = lk_arena_printf(arena, "%s/%s", entry, name);
    bool whole = access(path, X_OK) == 0 &&
                 host_read_file(lk_arena_printf(arena, "%s.hash", path), &kept, NULL) && kept.data;
    if (whole) {
        const char *now = file_hash(arena, path);
        whole = now && kept.size == strlen(now) && memcmp(kept.data, now, kept.size) == 0;
    }
    lk_buf_free(&kept);
    return whole;
}

char *cache_find(struct lk_arena *arena, const char *folder, struct lk_hash128 key,
                 const char *name)
{
    struct lk_hash128 content = key;
    char *list = list_path(arena, folder, key);
    if (!hash_listed_files(list, &content))
        return NULL;
    char *entry = lk_arena_printf(arena, "%s/%s", folder, hash_name(arena, content));
    if (access(entry, F_OK) != 0)
        return NULL;
    if (!is_whole(arena, entry, name)) {
        host_remove_tree(entry);
        return NULL;
    }
    touch(entry);
    touch(list);
    return lk_arena_printf(arena, "%s/%s", entry, name);
}

static bool write_list(const char *path, const struct lk_list *files)
{
    struct lk_buf text = {0};
    for (size_t i = 0; i < files->count; i++)
        lk_buf_printf(&text, "%s\n", files->items[i]);
    bool written = text.size && host_replace_file(path, text.data, text.size, NULL);
    lk_buf_free(&text);
    return written;
}

char *cache_keep(struct lk_arena *arena, const char *folder, struct lk_hash128 key,
                 const struct lk_list *files, const char *new_folder, const char *name)
{
    struct lk_hash128 content = key;
    for (size_t i = 0; i < files->count; i++)
        if (!hash_file(&content, files->items[i]))
            return NULL;
    char *program = lk_arena_printf(arena, "%s/%s", new_folder, name);
    char *hash = file_hash(arena, program);
    char *entry = lk_arena_printf(arena, "%s/%s", folder, hash_name(arena, content));
    if (!hash ||
        !host_write_file(lk_arena_printf(arena, "%s.hash", program), hash, strlen(hash), NULL))
        return NULL;
    if (access(entry, F_OK) == 0 && !is_whole(arena, entry, name))
        host_remove_tree(entry);
    if (rename(new_folder, entry) != 0) {
        if (errno != ENOTEMPTY && errno != EEXIST)
            return NULL;
        host_remove_tree(new_folder); /* another run has kept the same before us */
    }
    touch(entry);
    if (!write_list(list_path(arena, folder, key), files))
        host_error("remark: %s cannot be written; the next run compiles again", folder);
    return lk_arena_printf(arena, "%s/%s", entry, name);
}

/* Texts ------------------------------------------------------------------------------------------
 */

bool cache_find_text(const char *path, struct lk_buf *text)
{
    struct lk_buf kept = {0};
    struct lk_arena *arena = lk_arena_create();
    bool whole = host_read_file(path, &kept, NULL) && kept.data;
    char *rest = whole ? memchr(kept.data, '\n', kept.size) : NULL;
    whole = rest != NULL;
    if (whole) {
        size_t size = kept.size - (size_t)(rest + 1 - kept.data);
        *rest = 0;
        whole = strcmp(kept.data, text_hash(arena, rest + 1, size)) == 0;
        if (whole)
            lk_buf_add(text, rest + 1, size);
    }
    lk_arena_destroy(arena);
    lk_buf_free(&kept);
    return whole;
}

void cache_keep_text(const char *path, const struct lk_buf *text)
{
    struct lk_arena *arena = lk_arena_create();
    struct lk_buf kept = {0};
    const char *data = text->data ? text->data : "";
    lk_buf_printf(&kept, "%s\n", text_hash(arena, data, text->size));
    lk_buf_add(&kept, data, text->size);
    (void)host_replace_file(path, kept.data, kept.size, NULL); /* made again if it fails */
    lk_buf_free(&kept);
    lk_arena_destroy(arena);
}

/* Removing --------------------------------------------------------------------------------------
 */

static unsigned long long tree_bytes; /* nftw passes no context */

static int add_bytes(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    tree_bytes += (unsigned long long)status->st_blocks * 512;
    return 0;
}

struct entry {
    char *path;
    time_t used;
    unsigned long long bytes;
};

static int by_use(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    return (a->used > b->used) - (a->used < b->used);
}

static struct entry *list_entries(struct lk_arena *arena, const char *folder, size_t *count)
{
    struct entry *entries = NULL;
    size_t capacity = 0;
    *count = 0;
    DIR *stream = opendir(folder);
    for (struct dirent *each; stream && (each = readdir(stream));) {
        struct stat status;
        if (each->d_name[0] == '.')
            continue;
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            entries = lk_realloc(entries, capacity * sizeof *entries);
        }
        char *path = lk_arena_printf(arena, "%s/%s", folder, each->d_name);
        if (lstat(path, &status) != 0)
            continue;
        tree_bytes = 0;
        nftw(path, add_bytes, 16, FTW_PHYS);
        entries[(*count)++] = (struct entry){path, status.st_mtime, tree_bytes};
    }
    if (stream)
        closedir(stream);
    return entries;
}

void cache_trim(const char *folder)
{
    const char *limit_text = getenv("LOCKSTEP_CACHE_MIB");
    unsigned long long limit_mib = 1024, total = 0;
    if (limit_text && *limit_text && !lk_parse_number(limit_text, 1u << 30, &limit_mib)) {
        host_error("LOCKSTEP_CACHE_MIB takes a whole number up to %u, not '%s'", 1u << 30,
                   limit_text);
        limit_mib = 1024;
    }
    struct lk_arena *arena = lk_arena_create();
    size_t count;
    struct entry *entries = list_entries(arena, folder, &count);
    for (size_t i = 0; i < count; i++)
        total += entries[i].bytes;
    if (count > 0)
        qsort(entries, count, sizeof *entries, by_use);
    /* What was used within the last minute may be about to start: it stays. */
    time_t recent = time(NULL) - 60;
    for (size_t i = 0; i < count && total > limit_mib << 20 && entries[i].used < recent; i++) {
        host_remove_tree(entries[i].path);
        total -= entries[i].bytes;
    }
    free(entries);
    lk_arena_destroy(arena);
}
