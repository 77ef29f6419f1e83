/*
 * pages.h: the studio's pages, the files that they load, and what they ask for: the functions that
 * answer a route, and what these share.
 */
#ifndef LOCKSTEP_STUDIO_PAGES_H
#define LOCKSTEP_STUDIO_PAGES_H

#include "studio/request.h"

/* What the name of a picture beside a family's README is made of, before ".svg". */
#define PICTURE_LETTERS "abcdefghijklmnopqrstuvwxyz_"

/* A path with ~ for the home folder, as shells and people write it. */
void html_path(struct lk_buf *out, const char *path);
/* "week1" as "Week 1", "day4_first_kernel" as "Day 4 first kernel". */
void html_words(struct lk_buf *out, const char *name, size_t length);

struct studio_page {
    const char *title;
    const char *script; /* a module in web/, without .js; may be NULL */
    const char *style;  /* beside style.css, in web/, without .css; may be NULL */
    const char *body;   /* its class; may be NULL */
    const char *id;     /* of <main>; NULL: "main" */
    const char *data;   /* its further attributes; may be NULL */
    bool editor;        /* needs CodeMirror */
    bool math;          /* needs KaTeX */
};
void page_begin(struct studio_request *request, struct studio_reply *reply,
                const struct studio_page *page);
void page_end(struct studio_reply *reply);
/* What is not there, within the frame of the others: status 404. */
void page_missing(struct studio_request *request, struct studio_reply *reply, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));
/* "/lesson/week1/day4_first_kernel?exercise=add" */
void page_place(struct lk_buf *out, const struct learn_exercise *exercise);

studio_answer page_course, page_lesson, page_progress, page_interactives, page_interactive,
    page_begin_course, page_quiz, page_library, page_family, page_profile, page_replay,
    page_replay_variant;

/* A lesson's text as HTML. Links to lessons and exercises become ours, interactive:NAME is marked;
 * has_math: whether a formula was in it. */
void markdown_html(struct lk_buf *out, const struct learn_lesson *lesson, const char *text,
                   const char *key, bool *has_math);

/* A family's README: kernels/FAMILY/README.md. */
void markdown_readme(struct lk_buf *out, const struct zoo_family *family, const char *text);

/* Files and API ---------------------------------------------------------------------------------*/

studio_answer file_web, file_codemirror, file_katex;
/* Sends a file as it is; false if it cannot be read. */
bool file_send(struct studio_reply *reply, const char *path, const char *type, const char *cache);
#define STUDIO_CODEMIRROR "/usr/share/javascript/codemirror"
#define STUDIO_KATEX "/usr/share/javascript/katex"

studio_answer studio_api_file, studio_api_save, studio_api_check, studio_api_hint,
    studio_api_solution, studio_api_reset, studio_api_answer, studio_api_progress, studio_api_run,
    studio_api_events, studio_api_profile, studio_api_replay;
/* Where "what next" leads: {"key", "title", "url"} or null. */
json_t *studio_api_next(struct studio *studio, const struct learn_exercise *exercise);
/* A family's roofline as a picture: library.c. */
void library_roofline(struct studio_request *request, struct studio_reply *reply,
                      const struct zoo_family *family);

/* The weeks with their days, as one path; here: the learner's lesson, or NULL. page_path.c */
void page_path(struct studio_request *request, struct lk_buf *out, const struct learn_lesson *here);
/* Where the learner goes on: the current exercise, or the first open one after it. */
const struct learn_exercise *page_goal(struct studio_request *request);
/* What is done of a day; katas do not count. word: "solved", "tried" or "open". */
struct page_day {
    unsigned solved, tried, all, right; /* exercises; answers of its quiz */
    const char *word;
};
struct page_day page_day_of(struct studio_request *request, const struct learn_lesson *lesson);
/* Behind the last lesson of the week that begins with lesson number `first`. */
unsigned page_week_end(const struct learn_course *course, unsigned first);
/* "Week 1 · Day 5" */
void page_when(struct lk_buf *out, const struct learn_lesson *lesson);

/* Exercises and quiz for a reader, in a site: page_reading.c. */
void page_reading(struct lk_buf *out, const struct learn_lesson *lesson);
/* The picture, name and sentence of an interactive in its index: page_thumbs.c. */
void page_thumb(struct lk_buf *out, const char *name, const char *title);
void page_replay_card(struct lk_buf *out);
/* Where a lesson stands: page_turn.c. The line above its title, its sections, the neighbours. */
void page_where(struct studio_request *request, struct lk_buf *out,
                const struct learn_lesson *lesson);
void page_sections(struct lk_buf *out, const char *html, bool has_quiz);
void page_turns(struct studio_request *request, struct lk_buf *out,
                const struct learn_lesson *lesson);

/* What the kernels of a week reach, from its first lesson on; page_ladder.c. */
void page_ladder(struct studio_request *request, struct lk_buf *out, unsigned first);

#endif
