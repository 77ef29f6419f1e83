/*
 * cache.c: the cache of built programs; see cache.h.
 * In the folder: KEY.files, the list of files that the key's build read, one a line;
 * CONTENT/NAME, the program; new.XXXXXX, builds under way.
 */
#include "toolchain/cache.h"
#include "base/buf.h"
#include "base/text.h"
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

/* FNV-1a with 128 bits: no secret is kept, only accidents must not collide. */
struct cache_hash cache_hash_start(void)
{
    unsigned __int128 basis = (unsigned __int128)0x6c62272e07bb0142u << 64 | 0x62b821756295c58du;
    return (struct cache_hash){basis};
}

void cache_hash_add(struct cache_hash *hash, const void *data, size_t size)
{
    const unsigned __int128 prime = (unsigned __int128)1 << 88 | 0x13b;
    const unsigned char *bytes = data;
    unsigned __int128 value = hash->value;
    for (size_t i = 0; i < size; i++)
        value = (value ^ bytes[i]) * prime;
    hash->value = value;
}

void cache_hash_add_text(struct cache_hash *hash, const char *text)
{
    cache_hash_add(hash, text, strlen(text) + 1);
}

static char *hash_name(struct lk_arena *arena, struct cache_hash hash)
{
    return lk_arena_printf(arena, "%016llx%016llx", (unsigned long long)(hash.value >> 64),
                           (unsigned long long)hash.value);
}

static bool make_folders(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return (mkdir(path, 0777) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0;
}

char *cache_folder(struct lk_arena *arena)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *path = NULL;
    if (cache && *cache == '/')
        path = lk_arena_printf(arena, "%s/lockstep/run", cache);
    else if (home && *home == '/')
        path = lk_arena_printf(arena, "%s/.cache/lockstep/run", home);
    return path && make_folders(path) ? path : NULL;
}

static bool read_file(const char *path, struct lk_buf *content)
{
    char block[65536];
    ssize_t got = -1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while ((got = read(fd, block, sizeof block)) > 0)
        lk_buf_add(content, block, (size_t)got);
    close(fd);
    return got == 0;
}

static bool hash_file(struct cache_hash *hash, const char *path)
{
    struct lk_buf content = {0};
    bool read = read_file(path, &content);
    cache_hash_add_text(hash, path);
    cache_hash_add(hash, &content.size, sizeof content.size);
    cache_hash_add(hash, content.data, content.size);
    lk_buf_free(&content);
    return read;
}

/* The list of files that the key's build read, each hashed on top of the key. */
static bool hash_listed_files(const char *list_path, struct cache_hash *hash)
{
    struct lk_buf list = {0};
    bool known = read_file(list_path, &list) && list.size > 0;
    char *rest = list.data;
    for (char *path; known && (path = strsep(&rest, "\n"));)
        if (*path)
            known = hash_file(hash, path);
    lk_buf_free(&list);
    return known;
}

static char *list_path(struct lk_arena *arena, const char *folder, struct cache_hash key)
{
    return lk_arena_printf(arena, "%s/%s.files", folder, hash_name(arena, key));
}

static void touch(const char *path)
{
    (void)utimensat(AT_FDCWD, path, NULL, 0); /* only the order of removal hangs on it */
}

char *cache_find(struct lk_arena *arena, const char *folder, struct cache_hash key,
                 const char *name)
{
    struct cache_hash content = key;
    char *list = list_path(arena, folder, key);
    if (!hash_listed_files(list, &content))
        return NULL;
    char *entry = lk_arena_printf(arena, "%s/%s", folder, hash_name(arena, content));
    char *program = lk_arena_printf(arena, "%s/%s", entry, name);
    if (access(program, X_OK) != 0)
        return NULL;
    touch(entry);
    touch(list);
    return program;
}

static bool write_list(struct lk_arena *arena, const char *path, const struct lk_list *files)
{
    char *new_path = lk_arena_printf(arena, "%s.XXXXXX", path);
    int fd = mkstemp(new_path);
    if (fd < 0)
        return false;
    FILE *stream = fdopen(fd, "w");
    for (size_t i = 0; i < files->count; i++)
        fprintf(stream, "%s\n", files->items[i]);
    bool written = !ferror(stream);
    written = fclose(stream) == 0 && written && rename(new_path, path) == 0;
    if (!written)
        unlink(new_path);
    return written;
}

char *cache_keep(struct lk_arena *arena, const char *folder, struct cache_hash key,
                 const struct lk_list *files, const char *new_folder, const char *name)
{
    struct cache_hash content = key;
    for (size_t i = 0; i < files->count; i++)
        if (!hash_file(&content, files->items[i]))
            return NULL;
    char *entry = lk_arena_printf(arena, "%s/%s", folder, hash_name(arena, content));
    if (rename(new_folder, entry) != 0) {
        if (errno != ENOTEMPTY && errno != EEXIST)
            return NULL;
        cache_remove_tree(new_folder); /* another run was here first, with the same */
    }
    touch(entry);
    if (files->count == 0 || !write_list(arena, list_path(arena, folder, key), files))
        host_error("remark: %s cannot be written; the next run compiles again", folder);
    return lk_arena_printf(arena, "%s/%s", entry, name);
}

/* Removing --------------------------------------------------------------------------------------
 */

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    return remove(path);
}

void cache_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

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
        cache_remove_tree(entries[i].path);
        total -= entries[i].bytes;
    }
    free(entries);
    lk_arena_destroy(arena);
}
