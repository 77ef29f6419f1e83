/*
 * arena.c: memory in chunks that are freed together, and malloc that does not fail; see arena.h.
 */
#include "base/arena.h"

#include "base/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Arena -----------------------------------------------------------------------------------------*/

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
