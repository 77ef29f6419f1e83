/*
 * arena.h: memory that is freed all at once.
 * For what is built piece by piece and dropped whole (a parsed module, a decoded kernel).
 */
#ifndef LOCKSTEP_BASE_ARENA_H
#define LOCKSTEP_BASE_ARENA_H

#include <stddef.h>

struct lk_arena;

struct lk_arena *lk_arena_create(void);
void lk_arena_destroy(struct lk_arena *arena);

/* Zeroed, aligned to 16. Never NULL: running out of host memory ends the program with a message. */
void *lk_arena_alloc(struct lk_arena *arena, size_t size);
void *lk_arena_alloc_aligned(struct lk_arena *arena, size_t size, size_t align);
char *lk_arena_strndup(struct lk_arena *arena, const char *text, size_t length);
char *lk_arena_printf(struct lk_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void *lk_arena_dup(struct lk_arena *arena, const void *data, size_t size);

/* malloc that ends the program with a message and this status instead of returning NULL. */
enum { LK_EXIT_NO_MEMORY = 71 }; /* EX_OSERR of sysexits.h */
void *lk_alloc(size_t size);
void *lk_alloc_zeroed(size_t size);
void *lk_realloc(void *data, size_t size);

#endif
