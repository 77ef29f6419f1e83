/*
 * mutate.h: changes PTX text as a programmer might get it wrong, for fuzz_run.c.
 * mutate.c works on any text, word by word and line by line; generate.c writes new instructions
 * from the rows of ops.def, for the registers and variables that the seeds in corpus/run declare.
 */
#ifndef LOCKSTEP_TESTS_FUZZ_MUTATE_H
#define LOCKSTEP_TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

struct dice {
    uint64_t state;
};

static inline uint32_t roll(struct dice *dice, size_t sides)
{
    dice->state = dice->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return sides ? (uint32_t)((dice->state >> 33) % sides) : 0;
}

/* A text in a buffer of `most` bytes. */
struct text {
    char *data;
    size_t size, most;
};

/* Puts new characters in the place of `old` bytes at `at`, if there is room. */
void text_replace(struct text *text, size_t at, size_t old, const char *with, size_t size);

/* A number that is near a limit of something. */
size_t write_number(struct dice *dice, char *out, size_t most);

/* An instruction with its semicolon; some do not parse. */
size_t generate_instruction(struct dice *dice, char *out, size_t most);

/* One change; other: a text to take lines from, or NULL. */
void mutate_text(struct text *text, struct dice *dice, const struct text *other);

#endif
