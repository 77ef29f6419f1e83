/*
 * reader.h: fields of a lesson's JSON, with errors that name the file and the field; for lesson.c
 * and lesson_problem.c.
 */
#ifndef LOCKSTEP_LEARN_READER_H
#define LOCKSTEP_LEARN_READER_H

#include "learn/lesson.h"

struct lesson_reader {
    struct lk_arena *arena;
    const char *path; /* of lesson.json */
    char where[128];  /* "exercises[0].problem" */
    char *error;      /* the first one, malloc'd */
};

/* Notes the first error; field may be NULL. Always false. */
bool reader_fail(struct lesson_reader *reader, const char *field, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Errors are below this field until reader_leave gets what this returned. */
size_t reader_enter(struct lesson_reader *reader, const char *field);
void reader_leave(struct lesson_reader *reader, size_t place);
/* Are all keys of object among the words of allowed, which are set apart by blanks? */
bool reader_keys(struct lesson_reader *reader, json_t *object, const char *allowed);
/* NULL, and an error where it is needed, if it is missing or of another type. */
const char *reader_text(struct lesson_reader *reader, json_t *object, const char *field,
                        bool needed);
json_t *reader_array(struct lesson_reader *reader, json_t *object, const char *field, bool needed);
/* A text or a whole number, parsed. */
struct expression *reader_formula(struct lesson_reader *reader, json_t *value, const char *field,
                                  const struct expression_names *names, const char **text);

#endif
