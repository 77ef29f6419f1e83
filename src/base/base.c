/*
 * base.c: arena, buffer, map and clock.
 * The small things that every other folder uses; see arena.h, buf.h, map.h and clock.h.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/map.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void *lk_realloc(void *data, size_t size)
{
    void *grown = realloc(data, size ? size : 1);
    if (!grown) {
        fprintf(stderr, "lockstep: out of host memory (%zu bytes asked for)\n", size);
        _exit(LK_EXIT_NO_MEMORY);
    }
    return grown;
}

void *lk_alloc(size_t size)
{
    return lk_realloc(NULL, size);
}

void *lk_alloc_zeroed(size_t size)
{
    return memset(lk_alloc(size), 0, size);
}

/* Arena ------------------------------------------------------------------------------------- */

#define ARENA_CHUNK ((size_t)64 * 1024)

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size;
};

struct lk_arena {
    struct arena_chunk *chunks;
};

struct lk_arena *lk_arena_create(void)
{
    return lk_alloc_zeroed(sizeof(struct lk_arena));
}

void lk_arena_destroy(struct lk_arena *arena)
{
    if (!arena)
        return;
    for (struct arena_chunk *chunk = arena->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(arena);
}

void *lk_arena_alloc_aligned(struct lk_arena *arena, size_t size, size_t align)
{
    struct arena_chunk *chunk = arena->chunks;
    for (int attempt = 0; attempt < 2; attempt++) {
        if (chunk) {
            uintptr_t start = (uintptr_t)(chunk + 1) + chunk->used;
            uintptr_t place = (start + align - 1) & ~(uintptr_t)(align - 1);
            size_t end = place + size - (uintptr_t)(chunk + 1);
            if (end <= chunk->size) {
                chunk->used = end;
                return memset((void *)place, 0, size);
            }
        }
        size_t room = size + align > ARENA_CHUNK ? size + align : ARENA_CHUNK;
        chunk = lk_alloc(sizeof(*chunk) + room);
        chunk->used = 0;
        chunk->size = room;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    abort(); /* a fresh chunk always has the room */
}

void *lk_arena_alloc(struct lk_arena *arena, size_t size)
{
    return lk_arena_alloc_aligned(arena, size, 16);
}

void *lk_arena_dup(struct lk_arena *arena, const void *data, size_t size)
{
    void *copy = lk_arena_alloc(arena, size);
    return size ? memcpy(copy, data, size) : copy;
}

char *lk_arena_strndup(struct lk_arena *arena, const char *text, size_t length)
{
    char *copy = lk_arena_alloc_aligned(arena, length + 1, 1);
    memcpy(copy, text, length);
    return copy;
}

/* Buffer ------------------------------------------------------------------------------------ */

static void buf_reserve(struct lk_buf *buf, size_t more)
{
    if (buf->size + more + 1 <= buf->capacity)
        return;
    size_t capacity = buf->capacity ? buf->capacity * 2 : 128;
    while (capacity < buf->size + more + 1)
        capacity *= 2;
    buf->data = lk_realloc(buf->data, capacity);
    buf->capacity = capacity;
}

void lk_buf_add(struct lk_buf *buf, const void *data, size_t size)
{
    buf_reserve(buf, size);
    if (size)
        memcpy(buf->data + buf->size, data, size);
    buf->size += size;
    buf->data[buf->size] = 0;
}

void lk_buf_vprintf(struct lk_buf *buf, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0)
        return;
    buf_reserve(buf, (size_t)length);
    vsnprintf(buf->data + buf->size, (size_t)length + 1, format, arguments);
    buf->size += (size_t)length;
}

void lk_buf_printf(struct lk_buf *buf, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(buf, format, arguments);
    va_end(arguments);
}

/* Bytes that are no UTF-8 become the replacement character: readers take nothing else. */
void lk_buf_json(struct lk_buf *buf, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    lk_buf_add(buf, "\"", 1);
    while (*at) {
        unsigned length = *at < 0x80 ? 1 : *at >= 0xf0 ? 4 : *at >= 0xe0 ? 3 : *at >= 0xc2 ? 2 : 0;
        for (unsigned i = 1; i < length; i++)
            if ((at[i] & 0xc0) != 0x80)
                length = 0;
        if (*at == '"' || *at == '\\')
            lk_buf_printf(buf, "\\%c", *at);
        else if (*at < 0x20)
            lk_buf_printf(buf, "\\u%04x", *at);
        else if (length)
            lk_buf_add(buf, at, length);
        else
            lk_buf_printf(buf, "\\ufffd");
        at += length ? length : 1;
    }
    lk_buf_add(buf, "\"", 1);
}

/* How many bytes the character at text has; 0 if it is none. */
static unsigned utf8_length(const unsigned char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned length = *text < 0x80             ? 1
                      : (*text & 0xe0) == 0xc0 ? 2
                      : (*text & 0xf0) == 0xe0 ? 3
                      : (*text & 0xf8) == 0xf0 ? 4
                                               : 0;
    uint32_t code = length > 1 ? *text & (0xffu >> (length + 1)) : *text;
    for (unsigned i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    if (length && (code < least[length] || code > 0x10ffff || (code & ~0x7ffu) == 0xd800))
        return 0;
    return length;
}

void lk_mend_utf8(char *text)
{
    while (text && *text) {
        unsigned length = utf8_length((const unsigned char *)text);
        if (!length)
            *text = '?';
        text += length ? length : 1;
    }
}

void lk_buf_free(struct lk_buf *buf)
{
    free(buf->data);
    memset(buf, 0, sizeof(*buf));
}

void lk_buf_place(struct lk_buf *buf, const char *name, const char *text, size_t text_size,
                  size_t offset, const char *message)
{
    if (offset > text_size)
        offset = text_size;
    size_t line = 1, start = 0;
    for (size_t i = 0; i < offset; i++)
        if (text[i] == '\n') {
            line++;
            start = i + 1;
        }
    size_t end = offset;
    while (end < text_size && text[end] != '\n' && text[end] != 0)
        end++;
    /* A line may be megabytes long (hostile or machine-made input): show a window of it. */
    enum { WINDOW = 120 };
    size_t from = offset - start > WINDOW / 2 ? offset - WINDOW / 2 : start;
    size_t shown = end - from > WINDOW ? WINDOW : end - from;
    lk_buf_printf(buf, "%s:%zu:%zu: %s\n  ", name, line, offset - start + 1, message);
    for (size_t i = from; i < from + shown; i++)
        lk_buf_printf(buf, "%c", text[i] >= 32 && text[i] != 127 ? text[i] : ' ');
    lk_buf_printf(buf, "\n  %*s^\n", (int)(offset - from), "");
}

/* Map --------------------------------------------------------------------------------------- */

struct lk_map_entry {
    const char *key;
    size_t key_size;
    uint64_t hash;
    void *value;
};

static uint64_t map_hash(const char *key, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)key[i]) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

static struct lk_map_entry *map_slot(const struct lk_map *map, const char *key, size_t size,
                                     uint64_t hash)
{
    size_t index = hash & (map->capacity - 1);
    for (;; index = (index + 1) & (map->capacity - 1)) {
        struct lk_map_entry *entry = &map->entries[index];
        if (!entry->key ||
            (entry->hash == hash && entry->key_size == size && memcmp(entry->key, key, size) == 0))
            return entry;
    }
}

void *lk_map_get(const struct lk_map *map, const char *key, size_t key_size)
{
    if (!map->count)
        return NULL;
    return map_slot(map, key, key_size, map_hash(key, key_size))->value;
}

void lk_map_put(struct lk_map *map, const char *key, size_t key_size, void *value)
{
    if ((map->count + 1) * 2 > map->capacity) {
        struct lk_map grown = {NULL, map->count, map->capacity ? map->capacity * 2 : 32};
        grown.entries = lk_alloc_zeroed(grown.capacity * sizeof(*grown.entries));
        for (size_t i = 0; i < map->capacity; i++)
            if (map->entries[i].key) {
                struct lk_map_entry *from = &map->entries[i];
                *map_slot(&grown, from->key, from->key_size, from->hash) = *from;
            }
        free(map->entries);
        *map = grown;
    }
    uint64_t hash = map_hash(key, key_size);
    struct lk_map_entry *entry = map_slot(map, key, key_size, hash);
    if (!entry->key)
        map->count++;
    *entry = (struct lk_map_entry){key, key_size, hash, value};
}

void lk_map_free(struct lk_map *map)
{
    free(map->entries);
    memset(map, 0, sizeof(*map));
}

char *lk_say(const char *format, ...)
{
    struct lk_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    return text.data;
}

char *lk_arena_printf(struct lk_arena *arena, const char *format, ...)
{
    struct lk_buf buf = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&buf, format, arguments);
    va_end(arguments);
    char *text = lk_arena_strndup(arena, buf.data ? buf.data : "", buf.size);
    lk_buf_free(&buf);
    return text;
}

/* Clock -----------------------------------------------------------------------------------------*/

double lk_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
