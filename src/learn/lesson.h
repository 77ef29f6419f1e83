/*
 * lesson.h: a lesson as its files have it. course/WEEK/DAY_NAME/ has lesson.md, lesson.json and a
 * folder for each exercise; docs/learn.md says what each field means.
 *
 *   learn_course_open -> learn_course_find -> learn_lesson -> its exercises
 */
#ifndef LOCKSTEP_LEARN_LESSON_H
#define LOCKSTEP_LEARN_LESSON_H

#include "base/buf.h"
#include "learn/expression.h"
#include "zoo/zoo.h"

#include <jansson.h>

enum {
    LEARN_ARGUMENTS = 16,
    LEARN_LIMITS = 8,
    LEARN_RULES = 6,
    LEARN_HINTS = 3,
    LEARN_CONSTANTS = 6
};
/* Sizes that a lesson lists, those that are drawn for a check, those far beyond, two of these with
 * peaks, and with the large one all. */
enum {
    LEARN_SIZES = 16,
    LEARN_DRAWN = 3,
    LEARN_FAR = 3,
    LEARN_ALL_SIZES = LEARN_SIZES + LEARN_DRAWN + LEARN_FAR + 3
};
extern const char *const learn_hint_names[LEARN_HINTS]; /* concept, line, diff */

struct learn_lesson;

/* An argument of the kernel: a buffer, or a formula's value. */
struct learn_argument {
    enum { LEARN_BUFFER, LEARN_INT, LEARN_LONG, LEARN_FLOAT, LEARN_DOUBLE, LEARN_MAP } kind;
    unsigned buffer;
    struct expression *value;
    unsigned box[2];  /* LEARN_MAP: rows and columns of a tile, */
    bool is_swizzled; /* and whether its lines of 128 bytes are swizzled */
    const char *text; /* as the lesson has it */
};

struct learn_buffer {
    const char *name;
    enum zoo_role role;
    enum zoo_type type;
    double times; /* its values, if they are floats, are so many times the usual ones */
    double mean;  /* most rows of drawn sizes lie so far above 0, or below */
    double ties;  /* the largest code: some rows lie on codes and half-way between; 0: none do */
    bool is_fine; /* values of drawn sizes are no whole quarters */
    unsigned rank;
    struct expression *extent[EXPRESSION_RANK];
};

enum { LESSON_LISTED_SEED = 1 }; /* of the values of sizes that are listed */

/* A problem with its sizes: a family of the zoo, or one of the lesson's own. */
struct learn_problem {
    const struct zoo_family *family;   /* NULL: own */
    const char *size[LEARN_ALL_SIZES]; /* "n=1000 alpha=2.5" */
    unsigned size_count, measured;     /* the size whose counters are checked */
    unsigned listed;    /* the lesson's own; those after them are drawn for each check: draw.c */
    unsigned first_far; /* from here on they are far beyond what is listed */
    unsigned peaked, peaked_early; /* far sizes with peaks: peaks.h; 0: none */
    uint64_t
        seed[LEARN_ALL_SIZES]; /* of their values; LESSON_LISTED_SEED: as the lesson has them */
    json_t *hidden;            /* ranges to draw sizes from; NULL: from what is listed */
    json_t *far;               /* ranges of sizes beyond those; NULL: 2 to 16 times the largest */
    const char *large; /* a size for which only the time is modelled; NULL if there is none */
    const char *huge;  /* one beyond what a float counts, of which a few blocks run; or NULL */
    struct expression_names names; /* parameters and buffers */
    double value[LEARN_ALL_SIZES][EXPRESSION_VARIABLES];
    struct zoo_problem instance[LEARN_ALL_SIZES]; /* of a family */
    struct learn_buffer buffer[ZOO_BUFFERS + LEARN_RULES];
    unsigned buffer_count;
    struct expression_rule rule[LEARN_RULES];
    unsigned rule_count;
    /* Arrays of the reference alone, behind the buffers in .buffer, each with a rule of its own. */
    struct expression_rule step[LEARN_RULES];
    unsigned step_count;
    bool is_exact; /* sums and products alone: right results are the same in every order */
    bool has_exponentials;
    bool is_copy;     /* results are elements as they are, to the last bit */
    bool has_sums;    /* more terms than the eye can count: rounding adds up */
    bool is_plain;    /* each sum is of numbers or of products of two, and stands alone */
    double tolerance; /* of |expected|, or of floor if that is more */
    double floor;     /* 1, or less where results are small: weights of a softmax */
};

struct learn_limit {
    const char *counter; /* of gpu/counters.def, or NAME_per_request of limits.c */
    struct expression *most;
    const char *text; /* of most */
    const char *why;  /* shown to the learner; may be NULL */
    double far;       /* so many times as much at the first far size; 0: no limit there */
};

/* What a kernel costs in all, at the measured size: against these, a kernel that keeps every ratio
 * by leaving most threads idle is found out. */
enum learn_total {
#define TOTAL(name, factor, slack, words) LEARN_TOTAL_##name,
#include "learn/totals.def"
#undef TOTAL
    LEARN_TOTALS
};
struct learn_totals {
    double value[LEARN_TOTALS];
    double lanes;    /* that work on average, of 32 */
    double warps;    /* of the launch */
    double passes;   /* through shared memory, without bank conflicts */
    double sectors;  /* of global memory: loads and stores */
    double large_us; /* modelled, for the large size; 0 if there is none or it takes too long */
    double large_instructions, large_requests; /* there, of all warps */
};

struct learn_wrong {
    const char *file;    /* in wrong/ */
    const char *verdict; /* an extended regular expression that its verdict must match */
};

struct learn_exercise {
    const struct learn_lesson *lesson;
    const char *key;   /* "week1/day4_first_kernel/add" */
    const char *name;  /* its folder */
    const char *title; /* a line: what is to be done */
    const char *kernel;
    bool is_c;           /* plain C, run by one thread; files end in .c */
    bool is_python;      /* a Triton kernel; files end in .py */
    const char *package; /* "numpy" or "cupy": a function in Python that is called; else NULL */
    bool is_aside;       /* of a day that goes on in Python without it: learn_course_speak */
    struct learn_exercise *twin; /* the same problem in the other language; NULL if there is none */
    bool is_kata;                /* to be done again any day; a day is finished without it */
    const char *arch;            /* the oldest GPU that it is compiled for: "75" */
    struct expression *grid[3], *block[3], *shared; /* NULL: 1, or 0 */
    unsigned cluster; /* blocks along x that share their shared memory; 0 or 1: none */
    const char *constant[LEARN_CONSTANTS]; /* of a file in Python, which the grid may name */
    unsigned constant_count;
    struct learn_argument argument[LEARN_ARGUMENTS];
    unsigned argument_count;
    struct learn_problem problem;
    struct learn_limit limit[LEARN_LIMITS];
    unsigned limit_count;
    double total_most[LEARN_TOTALS]; /* times the solution's; 0: no limit */
    json_t *several_writers; /* buffers that several threads may write; "*": all. NULL: none */
    const char *before;      /* the file that the gain is told against */
    struct expression *work; /* FLOPs, or bytes, of a size; NULL if the lesson does not say */
    bool work_is_flops;
    bool has_figures;         /* figures.json has it: */
    struct learn_totals best; /* the solution's */
    double before_us;         /* of `before`, for the large size; 0 if it is not known */
    const char *shipped;      /* what the exercise as it is must get */
    struct learn_wrong *wrong;
    unsigned wrong_count;
    json_t *equivalent; /* mutants as good as the solution, and why: mutate.h; NULL if none */
    const char *hint[LEARN_HINTS];
};

struct learn_question {
    const char *question, *why;
    const char **choices;
    unsigned choice_count, answer; /* answer counts from 0 */
};

struct learn_lesson {
    struct lk_arena *arena; /* owns all of it */
    json_t *json;           /* owns the texts */
    json_t *python;         /* python.json; NULL if the day is not in Python */
    const char *id;         /* "week1/day4_first_kernel" */
    const char *folder;
    const char *title;
    unsigned minutes;
    struct learn_exercise *exercise;
    unsigned exercise_count;
    struct learn_question *question;
    unsigned question_count;
};

/* NULL and a malloc'd message that names file and field. */
struct learn_lesson *learn_lesson_read(const char *folder, const char *id, char **message);
void learn_lesson_free(struct learn_lesson *lesson);
json_t *learn_quiz_json(const struct learn_lesson *lesson); /* questions, without the answers */
/* By lesson.c, of one exercise's "problem": lesson_problem.c. */
struct lesson_reader;
bool lesson_read_problem(struct lesson_reader *reader, json_t *object,
                         struct learn_problem *problem);
/* Parts of an exercise that both languages have; lesson.c. */
bool lesson_read_grid(struct lesson_reader *reader, json_t *object,
                      const struct expression_names *names, struct learn_exercise *exercise);
bool lesson_read_verdicts(struct lesson_reader *reader, json_t *object,
                          struct learn_exercise *exercise);
/* python.json, if there is one: each exercise's twin; lesson_python.c. */
bool lesson_read_python(struct lesson_reader *reader, struct learn_lesson *lesson);
/* What limits totals and tells the gain, and figures.json: lesson_totals.c. */
bool lesson_read_totals(struct lesson_reader *reader, json_t *object,
                        struct learn_exercise *exercise);
bool lesson_read_figures(struct lesson_reader *reader, struct learn_lesson *lesson);
/* Its name among a lesson's figures, and for the worker: "add", or "add.py". */
const char *learn_figures_name(const struct learn_exercise *exercise);
/* Further parameters of a problem, as one of its size lines has them: lesson_problem.c. */
bool lesson_add_size(struct lesson_reader *reader, struct learn_problem *problem, const char *line);
/* "far" and "large", as far as they are there: sizes beyond the listed ones. */
bool lesson_read_beyond(struct lesson_reader *reader, json_t *object,
                        struct learn_problem *problem);
/* One question of a quiz: lesson.c. */
bool lesson_read_question(struct lesson_reader *reader, json_t *object,
                          struct learn_question *question);

/* A path inside an exercise's folder, in the lesson's arena. */
const char *learn_path(const struct learn_exercise *exercise, const char *file);
const char *learn_extension(const struct learn_exercise *exercise); /* "cu", "c", "py" */
/* The files that a lesson has for it. */
const char *learn_given(const struct learn_exercise *exercise);    /* "exercise.cu" */
const char *learn_solution(const struct learn_exercise *exercise); /* "solution.cu" */

/* A course: its lessons in order --------------------------------------------------------------*/

struct learn_course {
    char *folder;
    struct learn_lesson **lesson;
    unsigned count;
};

/* Reads every lesson below folder. False and a malloc'd message, of the first that is wrong. */
bool learn_course_open(const char *folder, struct learn_course *course, char **message);
void learn_course_free(struct learn_course *course);

/* From now on the lessons' exercises are those in Python where there are such, or in C and CUDA.
 * The others are their twins. */
void learn_course_speak(struct learn_course *course, bool python);

/* Is it outside the weeks: optional preparation before the course itself? */
bool learn_is_before(const struct learn_lesson *lesson);
/* The lesson to begin with: start, if it exists, or the first of the first week. */
unsigned learn_course_begin(const struct learn_course *course, const char *start);

/* What a word names: a lesson (week1/day4_first_kernel, day4_first_kernel, day4) or an exercise
 * (.../add, add); exercise is NULL for a lesson. False and a malloc'd message that suggests. */
bool learn_course_find(const struct learn_course *course, const char *word,
                       const struct learn_lesson **lesson, const struct learn_exercise **exercise,
                       char **message);

/* The kata of a day, counted from any fixed day: all katas of the lessons up to and with this one
 * take turns. NULL if there is none. */
const struct learn_exercise *learn_course_kata(const struct learn_course *course,
                                               const struct learn_lesson *last, long day);

#endif
