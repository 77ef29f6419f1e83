/*
 * server.c: connections: a thread for each, the body of a request up to a limit, the reply with the
 * headers that every reply has.
 */
#include "studio/job.h"
#include "studio/pages.h"

#include "base/text.h"
#include "base/utf8.h"
#include "host/files.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CONNECTIONS = 128, IDLE_SECONDS = 120 };

/* Requests --------------------------------------------------------------------------------------*/

const char *studio_query(const struct studio_request *request, const char *name)
{
    if (!request->connection) /* a page of a site: site.c */
        return "";
    const char *value =
        MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
    return value ? value : "";
}

const char *studio_header(const struct studio_request *request, const char *name)
{
    const char *value = MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
    return value ? value : "";
}

char *studio_field(const struct studio_request *request, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = request->body; at && *at; at += strcspn(at, "&"), at += *at == '&') {
        if (strncmp(at, name, length) != 0 || at[length] != '=')
            continue;
        const char *value = at + length + 1;
        char *text = strndup(value, strcspn(value, "&"));
        for (char *plus = text; plus && (plus = strchr(plus, '+'));)
            *plus = ' ';
        if (text)
            MHD_http_unescape(text);
        return text;
    }
    return NULL;
}

/* The state of a request while its body arrives. */
struct incoming {
    struct lk_buf body;
};

/* Replies ---------------------------------------------------------------------------------------*/

void reply_json(struct studio_reply *reply, unsigned status, json_t *object)
{
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
    json_decref(object);
    if (!text) { /* text that is not UTF-8, or no memory */
        status = 500;
        text = strdup("{\"error\": \"the answer cannot be written as JSON\"}");
    }
    reply->status = status;
    reply->type = "application/json";
    lk_buf_free(&reply->body);
    lk_buf_printf(&reply->body, "%s\n", text);
    free(text);
}

void reply_error(struct studio_reply *reply, unsigned status, const char *format, ...)
{
    struct lk_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    lk_replace_bad_utf8(text.data);
    reply_json(reply, status, json_pack("{ss}", "error", text.data));
    lk_buf_free(&text);
}

void reply_refusal(struct studio_reply *reply, unsigned status, const char *format, ...)
{
    struct lk_buf text = {0};
    va_list arguments;
    va_start(arguments, format);
    lk_buf_vprintf(&text, format, arguments);
    va_end(arguments);
    reply->status = status;
    reply->type = "text/html; charset=utf-8";
    lk_buf_printf(
        &reply->body,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width\"><link rel=\"icon\" href=\"data:,\">" /* asks for none */
        "<title>Lockstep</title><main><h1>Lockstep studio</h1>" /* nor files: it is refused */
        "<p id=\"refusal\">");
    lk_buf_html(&reply->body, text.data);
    lk_buf_printf(&reply->body, "</p>\n</main>\n");
    lk_buf_free(&text);
}

void reply_see(struct studio_reply *reply, char *location)
{
    reply->status = 303;
    reply->type = "text/plain";
    reply->location = location;
    lk_buf_printf(&reply->body, "See %s\n", location);
}

static void add_headers(struct MHD_Response *response, const struct studio_reply *reply)
{
    static const char *const always[][2] = {
        {"Content-Security-Policy",
         "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
         "form-action 'self'; frame-ancestors 'self'"},
        {"X-Content-Type-Options", "nosniff"},
        {"Referrer-Policy", "same-origin"},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {"Cross-Origin-Opener-Policy", "same-origin"},
    };
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        MHD_add_response_header(response, always[i][0], always[i][1]);
    MHD_add_response_header(response, "Cache-Control", reply->cache ? reply->cache : "no-store");
    if (reply->type)
        MHD_add_response_header(response, "Content-Type", reply->type);
    if (reply->location)
        MHD_add_response_header(response, "Location", reply->location);
    if (reply->cookie)
        MHD_add_response_header(response, "Set-Cookie", reply->cookie);
    if (reply->download) {
        char *value = lk_format("attachment; filename=\"%s\"", reply->download);
        MHD_add_response_header(response, "Content-Disposition", value);
        free(value);
    }
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, struct studio_reply *reply)
{
    struct MHD_Response *response = reply->stream;
    if (!response)
        response = MHD_create_response_from_buffer(
            reply->body.size, reply->body.data ? reply->body.data : "", MHD_RESPMEM_MUST_COPY);
    enum MHD_Result result = MHD_NO;
    if (response) {
        add_headers(response, reply);
        result = MHD_queue_response(connection, reply->status, response);
        MHD_destroy_response(response);
    }
    lk_buf_free(&reply->body);
    free(reply->location);
    free(reply->cookie);
    free(reply->download);
    return result;
}

/* Connections -----------------------------------------------------------------------------------*/

/* Refused before a byte of the body is read: a peer that may not ask, and what is too large. */
static bool refuse(struct studio *studio, struct studio_request *request,
                   struct studio_reply *reply)
{
    pthread_mutex_lock(&studio->lock);
    bool may_ask = studio_guard(request, reply);
    pthread_mutex_unlock(&studio->lock);
    if (!may_ask)
        return true;
    peer_is_known(studio->peers, request->connection);
    if (strtoull(studio_header(request, "Content-Length"), NULL, 10) <= STUDIO_BODY)
        return false;
    reply_error(reply, 413, "more than %d bytes at once; nothing was saved", STUDIO_BODY);
    return true;
}

/* Called for the headers, for each piece of the body, and at its end. */
static enum MHD_Result take(void *context, struct MHD_Connection *connection, const char *path,
                            const char *method, const char *version, const char *data, size_t *size,
                            void **state)
{
    struct studio *studio = context;
    struct incoming *incoming = *state;
    struct studio_request request = {
        .studio = studio, .connection = connection, .method = method, .path = path, .body = ""};
    struct studio_reply reply = {0};
    if (!incoming) {
        *state = lk_alloc_zeroed(sizeof *incoming);
        bool refused = refuse(studio, &request, &reply);
        peer_enters(studio->peers, connection, refused ? PEER_IS_ANSWERED : PEER_SENDS_BODY);
        return refused ? send_reply(connection, &reply) : MHD_YES;
    }
    if (*size > 0) {
        if (incoming->body.size + *size > STUDIO_BODY)
            return MHD_NO; /* it had not said how much would come */
        lk_buf_add(&incoming->body, data, *size);
        *size = 0;
        return MHD_YES;
    }
    peer_enters(studio->peers, connection, PEER_IS_ANSWERED);
    request.body = incoming->body.data ? incoming->body.data : "";
    request.body_size = incoming->body.size;
    pthread_mutex_lock(&studio->lock);
    studio_route(&request, &reply);
    pthread_mutex_unlock(&studio->lock);
    return send_reply(connection, &reply);
}

static void forget(void *context, struct MHD_Connection *connection, void **state,
                   enum MHD_RequestTerminationCode code)
{
    struct studio *studio = context;
    struct incoming *incoming = *state;
    peer_enters(studio->peers, connection, PEER_SENDS_HEADERS); /* the next request's */
    if (incoming)
        lk_buf_free(&incoming->body);
    free(incoming);
    *state = NULL;
}

/* Starting and stopping -------------------------------------------------------------------------*/

static bool listen_here(struct studio *studio, char **message)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)studio->options.port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int one = 1, socket_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (socket_ < 0 || bind(socket_, (struct sockaddr *)&address, size) != 0 ||
        listen(socket_, 64) != 0 || getsockname(socket_, (struct sockaddr *)&address, &size) != 0) {
        *message =
            errno == EADDRINUSE
                ? lk_format("port %u is in use; without --port a free one is taken",
                            studio->options.port)
                : lk_format("port %u of 127.0.0.1: %s", studio->options.port, strerror(errno));
        if (socket_ >= 0)
            close(socket_);
        return false;
    }
    studio->port = ntohs(address.sin_port);
    studio->daemon = MHD_start_daemon(
        MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL, 0, NULL,
        NULL, take, studio, MHD_OPTION_LISTEN_SOCKET, socket_, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
        MHD_OPTION_NOTIFY_COMPLETED, forget, studio, MHD_OPTION_NOTIFY_CONNECTION, peers_notify,
        studio->peers, MHD_OPTION_END);
    if (!studio->daemon) {
        *message = lk_format("the server did not start");
        close(socket_);
    }
    return studio->daemon != NULL;
}

/* Signals are for studio_wait; threads and what they start must not take them. */
static void signals_to_wait_for(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

struct studio *studio_start(const struct studio_options *options, char **message)
{
    struct studio *studio = lk_alloc_zeroed(sizeof *studio);
    sigset_t set;
    studio->options = *options;
    studio->folder = options->folder ? strdup(options->folder) : NULL;
    studio->codemirror = access(STUDIO_CODEMIRROR "/codemirror.js", R_OK) == 0;
    studio->katex = access(STUDIO_KATEX "/katex.js", R_OK) == 0;
    pthread_mutex_init(&studio->lock, NULL);
    pthread_cond_init(&studio->changed, NULL);
    studio_random(studio->token);
    studio_random(studio->ticket);
    studio_random(studio->cookie);
    signals_to_wait_for(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    studio->peers = peers_create();
    signal(SIGPIPE, SIG_IGN);
    if (!studio->token[0] || !studio->ticket[0] || !studio->cookie[0]) {
        *message = lk_format("this computer gives no random numbers");
    } else if ((studio->temporary = host_temporary_folder("studio", message)) &&
               listen_here(studio, message)) {
        studio->url = lk_format("http://127.0.0.1:%u/?token=%s", studio->port, studio->token);
        studio->visit = lk_format("http://127.0.0.1:%u/?ticket=%s", studio->port, studio->ticket);
        return studio;
    }
    studio_stop(studio);
    return NULL;
}

const char *studio_url(const struct studio *studio)
{
    return studio->url;
}

const char *studio_visit(const struct studio *studio)
{
    return studio->visit;
}

void studio_wait(struct studio *studio)
{
    sigset_t set;
    int which;
    signals_to_wait_for(&set);
    sigwait(&set, &which);
}

void studio_stop(struct studio *studio)
{
    studio->stopping = true;
    pthread_mutex_lock(&studio->lock);
    job_stop_all(studio);
    pthread_mutex_unlock(&studio->lock);
    if (studio->daemon)
        MHD_stop_daemon(studio->daemon);
    peers_destroy(studio->peers);
    if (studio->temporary)
        host_remove_tree(studio->temporary);
    pthread_mutex_destroy(&studio->lock);
    pthread_cond_destroy(&studio->changed);
    free(studio->temporary);
    free(studio->folder);
    free(studio->url);
    free(studio->visit);
    free(studio);
}
