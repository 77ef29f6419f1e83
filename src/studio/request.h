/*
 * request.h: a request to the studio, its reply, and the table of routes: what all its files share.
 *
 *   peers.c     connections: places and deadlines
 *   server.c    requests -> guard.c (is it allowed?) -> route.c (which function) -> reply
 *   page.c      the frame of every page; page_course.c .. page_library.c: the pages (pages.h)
 *   markdown.c  a text as HTML
 *   files.c     our own files, and those of CodeMirror and KaTeX
 *   api.c       what the pages ask for
 *   check.c     verdicts
 *   library.c   runs of the library's kernels
 *   job.c       children (job.h)
 *   events.c    what changes
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
#include "studio/peers.h"
#include "studio/studio.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdatomic.h>

enum { STUDIO_TOKEN = 33, STUDIO_BODY = 1 << 20, STUDIO_USERS = 4 };

struct studio_job;

struct studio {
    struct studio_options options;
    struct MHD_Daemon *daemon;
    unsigned port;
    struct peers *peers;
    char token[STUDIO_TOKEN], ticket[STUDIO_TOKEN]; /* a ticket is good for one visit */
    char cookie[STUDIO_TOKEN];                      /* what a browser gets for either */
    long user[STUDIO_USERS];                        /* who came with either, as peer_user says */
    unsigned user_count;
    char *url, *visit;
    char *folder;             /* the learner's; malloc'd, NULL before the first page made one */
    char *temporary;          /* a folder of ours, for children */
    bool codemirror, katex;   /* are installed */
    bool is_site;             /* pages are written as files, for reading alone: site.c */
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
    const char *rest; /* of the path, after the route's */
    char *body;       /* ended by a NUL */
    size_t body_size;
    const struct learn_exercise *exercise; /* that ?exercise= names, where the route asks for it */
};

struct studio_reply {
    unsigned status;
    const char *type;  /* "text/html; charset=utf-8" */
    const char *cache; /* Cache-Control; "no-store" by default */
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

#endif
