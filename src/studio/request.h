/*
 * request.h: a request to the studio, its reply, and the table of routes: what its files share.
 *
 *   server.c   connections -> guard.c (who may ask) -> route.c (which function) -> reply
 *   page.c     the frame of every page;  page_course.c .. page_library.c the pages
 *   markdown.c a text as HTML;           files.c  our own files and those of CodeMirror and KaTeX
 *   api.c      what the pages ask for;   check.c  verdicts;  library.c  runs of the library's
 * kernels job.c      children;                 events.c what changes
 *
 * Invariants
 *   I1  One lock is held while a request is answered: course, progress and options need no other.
 *       check.c lets it go while a child runs, events.c while it waits.
 *   I2  No name of a file comes from a request. An exercise is found by its key in the course, one
 * of our files by words of letters, digits, '_', '-' and '.', none of which begins with a '.'.
 */
#ifndef LOCKSTEP_STUDIO_REQUEST_H
#define LOCKSTEP_STUDIO_REQUEST_H

#include "base/buf.h"
#include "studio/studio.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

enum { STUDIO_TOKEN = 33, STUDIO_BODY = 1 << 20 };

struct studio_job;

struct studio {
    struct studio_options options;
    struct MHD_Daemon *daemon;
    unsigned port;
    char token[STUDIO_TOKEN], ticket[STUDIO_TOKEN]; /* a ticket is good for one visit */
    char *url, *visit;
    char *folder;             /* the learner's; malloc'd, NULL before the first page made one */
    char *temporary;          /* a folder of ours, for children */
    bool codemirror, katex;   /* are installed */
    pthread_mutex_t lock;     /* I1 */
    pthread_cond_t changed;   /* a job has ended */
    struct studio_job *jobs;  /* that run or wait */
    unsigned running, serial; /* children now, and how many there were */
    atomic_bool stopping;
};

struct studio_request {
    struct studio *studio;
    struct MHD_Connection *connection;
    const char *method, *path;
    const char *rest; /* of the path, behind the route's */
    char *body;       /* ended by a NUL */
    size_t body_size;
    const struct learn_exercise *exercise; /* that ?exercise= names, where the route asks for it */
};

struct studio_reply {
    unsigned status;
    const char *type;  /* "text/html; charset=utf-8" */
    const char *cache; /* Cache-Control; "no-store" if not said */
    struct lk_buf body;
    char *location;              /* malloc'd; with a status of 303 */
    char *cookie;                /* malloc'd */
    char *download;              /* malloc'd name under which a browser saves it; or NULL */
    struct MHD_Response *stream; /* in place of body */
};

typedef void studio_answer(struct studio_request *request, struct studio_reply *reply);

struct studio_route {
    const char *method, *path; /* a path that ends in '/' stands for all below it */
    studio_answer *answer;
    bool exercise;     /* needs ?exercise=KEY */
    const char *title; /* in the navigation; NULL: not there */
};
extern const struct studio_route studio_routes[];
extern const size_t studio_route_count;
void studio_route(struct studio_request *request, struct studio_reply *reply);

/* May this request be answered? If not, or if it has the token with it, the reply is made. */
bool studio_guard(struct studio_request *request, struct studio_reply *reply);
void studio_random(char word[STUDIO_TOKEN]); /* hex digits; empty if there is no randomness */

/* "" where there is none. */
const char *studio_query(const struct studio_request *request, const char *name);
const char *studio_header(const struct studio_request *request, const char *name);
/* The value of a field of an HTML form in body; malloc'd, NULL if it has none. */
char *studio_field(const struct studio_request *request, const char *name);

/* Replies ---------------------------------------------------------------------------------------*/

void reply_json(struct studio_reply *reply, unsigned status, json_t *object); /* takes it */
void reply_error(struct studio_reply *reply, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4))); /* as JSON */
/* A plain page that says what is wrong. */
void reply_refusal(struct studio_reply *reply, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void reply_see(struct studio_reply *reply, char *location); /* 303; takes it */

/* Pages -----------------------------------------------------------------------------------------*/

/* A path with ~ for the home folder, as shells and people write it. */
void html_path(struct lk_buf *out, const char *path);
/* "week1" as "Week 1", "day4_first_kernel" as "Day 4 first kernel". */
void html_words(struct lk_buf *out, const char *name, size_t length);

struct studio_page {
    const char *title;
    const char *script; /* a module in web/, without .js; may be NULL */
    const char *style;  /* beside style.css, in web/, without .css; may be NULL */
    const char *body;   /* its class; may be NULL */
    const char *main;   /* attributes of <main>; may be NULL */
    bool editor;        /* needs CodeMirror */
    bool math;          /* needs KaTeX */
};
void page_begin(struct studio_request *request, struct studio_reply *reply,
                const struct studio_page *page);
void page_end(struct studio_reply *reply);
/* "/lesson/week1/day4_first_kernel?exercise=add" */
void page_place(struct lk_buf *out, const struct learn_exercise *exercise);

studio_answer page_course, page_lesson, page_progress, page_interactives, page_interactive,
    page_begin_course, page_quiz, page_library, page_family, page_profile;

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
    studio_api_events, studio_api_profile;
/* Where "what next" leads: {"key", "title", "url"} or null. */
json_t *studio_api_next(struct studio *studio, const struct learn_exercise *exercise);
/* A family's roofline as a picture: library.c. */
void library_roofline(struct studio_request *request, struct studio_reply *reply,
                      const struct zoo_family *family);

/* Children: job.c
 * --------------------------------------------------------------------------------*/

struct studio_job {
    const void *subject; /* a newer job of the same one ends an older; NULL: none does */
    struct studio_job *next;
    pid_t child; /* 0: not started, or ended */
    bool superseded;
    char *folder, *out, *log; /* its own place, and what it writes to */
};

enum { JOB_WORDS = 15 };
enum job_end { JOB_ENDED, JOB_SUPERSEDED, JOB_FAILED };
/* Fills in the command, JOB_WORDS at most; job->folder is known by then. */
typedef void job_words(const void *context, const struct studio_job *job, const char **words);
/* Runs it in folder, or in its own if that is NULL. The lock is held, and let go while it waits.
 * JOB_FAILED: with a malloc'd message. What it wrote can be read until job_end. */
enum job_end job_run(struct studio *studio, struct studio_job *job, job_words *words,
                     const void *context, const char *folder, char **message);
void job_end(struct studio *studio, struct studio_job *job);
void job_stop_all(struct studio *studio); /* the lock is held */

#endif
