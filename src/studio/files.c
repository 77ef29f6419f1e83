/*
 * files.c: files as they are: ours, and those of Debian's CodeMirror and KaTeX. See I2 in request.h
 * for what a name may be.
 */
#include "studio/pages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *ending, *type;
} types[] = {{".js", "text/javascript; charset=utf-8"},
             {".mjs", "text/javascript; charset=utf-8"},
             {".css", "text/css; charset=utf-8"},
             {".json", "application/json"},
             {".svg", "image/svg+xml"},
             {".png", "image/png"},
             {".woff2", "font/woff2"},
             {".woff", "font/woff"},
             {".ttf", "font/ttf"}};

static const char *type_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(dot, types[i].ending) == 0)
            return types[i].type;
    return NULL;
}

/* Words with '/' between; none is empty or begins with a '.'. */
static bool is_plain_path(const char *path)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "_-.";
    for (;;) {
        size_t length = strspn(path, letters);
        if (length == 0 || path[0] == '.')
            return false;
        path += length;
        if (!*path)
            return true;
        if (*path++ != '/')
            return false;
    }
}

bool file_send(struct studio_reply *reply, const char *path, const char *type, const char *cache)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        reply->stream = MHD_create_response_from_fd((uint64_t)status.st_size, file);
    if (!reply->stream) {
        if (file >= 0)
            close(file);
        return false;
    }
    reply->status = 200;
    reply->type = type;
    reply->cache = cache;
    return true;
}

static void send_file(struct studio_request *request, struct studio_reply *reply,
                      const char *folder, const char *cache)
{
    const char *type = type_of(request->rest);
    bool sent = false;
    if (type && is_plain_path(request->rest)) {
        char *path = lk_format("%s/%s", folder, request->rest);
        sent = file_send(reply, path, type, cache);
        free(path);
    }
    if (!sent)
        reply_refusal(reply, 404, "There is no such file.");
}

void file_web(struct studio_request *request, struct studio_reply *reply)
{
    send_file(request, reply, request->studio->options.web, "no-cache");
}

void file_codemirror(struct studio_request *request, struct studio_reply *reply)
{
    send_file(request, reply, STUDIO_CODEMIRROR, "private, max-age=3600");
}

void file_katex(struct studio_request *request, struct studio_reply *reply)
{
    send_file(request, reply, STUDIO_KATEX, "private, max-age=3600");
}
