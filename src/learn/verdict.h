/*
 * verdict.h: what the grader says about a learner's kernel: a stage, messages with the lines they
 * are about, counters, a picture. Terminal, studio and notebooks all show these fields.
 */
#ifndef LOCKSTEP_LEARN_VERDICT_H
#define LOCKSTEP_LEARN_VERDICT_H

#include "learn/lesson.h"

enum learn_stage {
    LEARN_PASSED,
    LEARN_COMPILE, /* it does not compile */
    LEARN_WRONG,   /* a wrong result */
    LEARN_FAULT,   /* it does not end, or cannot be launched */
    LEARN_CHECK,   /* out of bounds, a race .. */
    LEARN_LIMIT,   /* right, and too costly */
    LEARN_BROKEN,  /* no verdict: the machine's or the lesson's fault */
    LEARN_STAGES
};
extern const char *const learn_stage_names[LEARN_STAGES];

struct learn_counter {
    const char *name;
    double value, most;
    bool kept;
};

/* What was won: modelled times for the large size. */
struct learn_gain {
    const char *size;                    /* NULL: the lesson has no large size */
    double before_us, yours_us, best_us; /* 0: not known; of yours: it was stopped */
    double work;                         /* FLOPs or bytes; 0 if the lesson does not say */
    bool is_flops;
    bool is_given; /* "before" is the exercise as given */
};
/* "1.2 TFLOP/s", "830 GB/s": work in a time; "" if either is not known. */
const char *learn_rate(char text[32], double work, bool is_flops, double us);
/* "3.4 us", "5.0 ms". */
const char *learn_duration(char text[32], double us);

struct learn_message {
    unsigned line; /* of the learner's file; 0: of none */
    char *text;    /* malloc'd, one line, without file and line */
    char *detail;  /* malloc'd: more lines on it, or NULL */
};

struct learn_verdict {
    enum learn_stage stage;
    unsigned line; /* that the stage is due to; 0 if not known */
    struct learn_message *message;
    unsigned message_count;
    char *text; /* malloc'd: the compiler's own words, or the messages as "FILE:LINE: text" lines */
    unsigned sizes, right; /* how many there are, and how many of them were right */
    struct learn_counter counter[LEARN_LIMITS + LEARN_TOTALS];
    unsigned counter_count;
    char *picture; /* malloc'd: what warp 0 touched, as text; NULL if there is nothing to show */
    struct learn_totals totals; /* of the measured size */
    struct learn_gain gain;
    uint64_t seed;      /* what this check's sizes and values were drawn from */
    char *printed;      /* malloc'd: what the kernel printed, cut short; NULL: nothing */
    json_t *replay;     /* of the same run: docs/replay.md; NULL likewise */
    json_t *run;        /* the measured size's run for programs: run.c; NULL if it did not run */
    double modelled_us; /* of the measured size; 0 if it did not run to its end */
    char gpu_name[256]; /* of the real GPU that ran it too; "" if none was asked for */
    double measured_us; /* there, of the measured size; 0 if it was not right there */
    double seconds;     /* that the verdict took */
};

/* Stages are met in order; the first that is not passed stays. */
void verdict_stop(struct learn_verdict *verdict, enum learn_stage stage, unsigned line);

/* Adds a message on a line (0: of none), or a further line to the last message. */
void verdict_add_message(struct learn_verdict *verdict, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void verdict_add_detail(struct learn_verdict *verdict, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes what a compiler printed, "SHOWN:LINE:COLUMN: error: .." (clang) or "SHOWN(LINE): .."
 * (nvcc), as the text and as messages. */
void verdict_take_compiler(struct learn_verdict *verdict, char *said, const char *shown);
/* Of what it printed, the warnings about variables that are used without a value, as messages. */
void verdict_add_unset(struct learn_verdict *verdict, const char *said, const char *shown);
/* The text from the messages, unless the compiler gave it. */
void verdict_finish(struct learn_verdict *verdict, const char *shown);

void learn_verdict_free(struct learn_verdict *verdict);
json_t *learn_verdict_json(const struct learn_verdict *verdict);
json_t *learn_gain_json(const struct learn_gain *gain);           /* as in a verdict */
json_t *learn_messages_json(const struct learn_verdict *verdict); /* [{"line", "text", "detail"}] */

#endif
