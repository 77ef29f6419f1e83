/*
 * guard.c: decides which requests are allowed. The server listens on 127.0.0.1 only, but every page
 * in the learner's browser and every user of the computer can reach that. So a request must name us
 * as its host (another name that someone else points here is not ours), must have our cookie, and,
 * if it changes anything, must come from one of our own pages.
 *
 * A browser sends the cookies of 127.0.0.1 to all of its ports, also to servers of other users. So
 * the cookie works only for processes of the user who showed the token, has our port in its name,
 * and is a random number that is forgotten when the studio ends.
 */
#include "studio/request.h"

#include "base/text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

void studio_random(char word[STUDIO_TOKEN])
{
    unsigned char bytes[(STUDIO_TOKEN - 1) / 2];
    word[0] = 0;
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(word + 2 * i, 3, "%02x", bytes[i]);
}

/* In constant time, so that timing does not reveal how much is right. */
static bool is_same(const char *given, size_t length, const char *wanted)
{
    unsigned char differs = length != strlen(wanted);
    for (size_t i = 0; wanted[i]; i++)
        differs |= (unsigned char)(wanted[i] ^ (i < length ? given[i] : 0));
    return !differs && *wanted;
}

static bool is_our_host(const struct studio_request *request)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    const char *host = studio_header(request, "Host");
    char ours[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(ours, sizeof ours, "%s:%u", names[i], request->studio->port);
        if (strcasecmp(host, ours) == 0)
            return true;
    }
    return false;
}

/* Browsers say where a request that changes something comes from. */
static bool is_our_page(const struct studio_request *request)
{
    const char *origin = studio_header(request, "Origin");
    char ours[96];
    if (!*origin)
        return strcmp(studio_header(request, "Sec-Fetch-Site"), "same-origin") == 0;
    snprintf(ours, sizeof ours, "http://%.64s", studio_header(request, "Host"));
    return strcasecmp(origin, ours) == 0;
}

static bool is_users_own(const struct studio *studio, long user)
{
    for (unsigned i = 0; i < studio->user_count; i++)
        if (studio->user[i] == user)
            return true;
    return false;
}

static void cookie_name(const struct studio_request *request, char name[32])
{
    snprintf(name, 32, "lockstep_%u", request->studio->port);
}

static bool has_cookie(const struct studio_request *request)
{
    char name[32];
    cookie_name(request, name);
    const char *value = MHD_lookup_connection_value(request->connection, MHD_COOKIE_KIND, name);
    return value && is_same(value, strlen(value), request->studio->cookie) &&
           is_users_own(request->studio, peer_user(request->connection));
}

static bool has_token(struct studio_request *request)
{
    struct studio *studio = request->studio;
    const char *token = studio_query(request, "token"), *ticket = studio_query(request, "ticket");
    if (*token && is_same(token, strlen(token), studio->token))
        return true;
    if (!*ticket || !is_same(ticket, strlen(ticket), studio->ticket))
        return false;
    studio->ticket[0] = 0;
    return true;
}

static enum MHD_Result add_argument(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct lk_buf *out = context;
    if (strcmp(name, "token") == 0 || strcmp(name, "ticket") == 0)
        return MHD_YES;
    lk_buf_printf(out, "%c", strchr(out->data, '?') ? '&' : '?');
    for (int part = 0; part < 2; part++) {
        for (const char *at = part ? value : name; at && *at; at++)
            lk_buf_printf(out, isalnum((unsigned char)*at) ? "%c" : "%%%02X", (unsigned char)*at);
        if (part == 0)
            lk_buf_printf(out, "=");
    }
    return MHD_YES;
}

/* The same place without the token; "/" where the path is not one of ours. */
static char *without_token(const struct studio_request *request)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "_-./";
    struct lk_buf out = {0};
    const char *path = request->path;
    bool plain = strspn(path, letters) == strlen(path) && !strstr(path, "//");
    lk_buf_printf(&out, "%s", plain ? path : "/");
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, add_argument, &out);
    return out.data;
}

/* The first visit: the token goes into a cookie and out of the address. A browser that was led here
 * by another page does not send the cookie along a redirection, but does from a page of ours. */
static void let_in(struct studio_request *request, struct studio_reply *reply)
{
    char name[32];
    const char *from = studio_header(request, "Sec-Fetch-Site");
    struct studio *studio = request->studio;
    long user = peer_user(request->connection);
    if (!is_users_own(studio, user))
        studio->user[studio->user_count < STUDIO_USERS ? studio->user_count++ : 0] = user;
    cookie_name(request, name);
    reply->cookie = lk_format("%s=%s; Path=/; HttpOnly; SameSite=Strict", name, studio->cookie);
    if (strcmp(from, "cross-site") != 0 && strcmp(from, "same-site") != 0) {
        reply_see(reply, without_token(request));
        return;
    }
    char *to = without_token(request);
    reply->status = 200;
    reply->type = "text/html; charset=utf-8";
    lk_buf_printf(&reply->body, "<!doctype html><meta charset=\"utf-8\"><title>Lockstep</title>"
                                "<link rel=\"icon\" href=\"data:,\">"
                                "<meta http-equiv=\"refresh\" content=\"0;url=");
    lk_buf_html(&reply->body, to);
    lk_buf_printf(&reply->body, "\"><a href=\"");
    lk_buf_html(&reply->body, to);
    lk_buf_printf(&reply->body, "\">Go on</a>\n");
    free(to);
}

bool studio_guard(struct studio_request *request, struct studio_reply *reply)
{
    bool reads = strcmp(request->method, "GET") == 0 || strcmp(request->method, "HEAD") == 0;
    if (!is_our_host(request)) {
        reply_refusal(reply, 403,
                      "This is not the address of the studio. Open the one that "
                      "'lockstep studio' printed.");
        return false;
    }
    if (reads && has_token(request)) {
        let_in(request, reply);
        return false;
    }
    if (!has_cookie(request)) {
        reply_refusal(reply, 403,
                      "The studio does not know this browser. Open the address that "
                      "'lockstep studio' printed, with its token; after the studio was "
                      "started again it is another one.");
        return false;
    }
    if (!reads && !is_our_page(request)) {
        reply_refusal(reply, 403, "This request came from another page than the studio's.");
        return false;
    }
    return true;
}
