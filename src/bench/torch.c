/*
 * torch.c: PyTorch in a process of its own (python/peer_torch.py, which is built in), in lines of
 * JSON over two pipes. It opens our memory by its CUDA IPC handle. Where there is no Python, no
 * PyTorch or no such memory, the peer is skipped with a remark.
 */
#include "bench/contest.h"

#include "host/child.h"
#include "host/files.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__asm__(".pushsection .rodata\n"
        "bench_torch_script:\n"
        ".incbin \"python/peer_torch.py\"\n"
        ".byte 0\n"
        ".popsection\n");
extern const char bench_torch_script[] __attribute__((visibility("hidden")));

enum { ANSWER_SECONDS = 300 }; /* importing PyTorch from a slow disk takes minutes */

struct bench_torch {
    const struct zoo_device *device;
    pid_t child;
    int to, from;
    char *version;
    struct lk_buf pending; /* read, and not yet a whole line */
};

/* The process -----------------------------------------------------------------------------------*/

static bool start_python(struct bench_torch *torch, char **message)
{
    const char *chosen = getenv("LOCKSTEP_PYTHON");
    struct lk_arena *arena = lk_arena_create();
    const char *name = chosen && *chosen ? chosen : "python3";
    const char *python = host_find_program(arena, name);
    int to[2] = {-1, -1}, from[2] = {-1, -1};
    if (!python) {
        *message = lk_format("there is no %s", name);
    } else if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
        *message = lk_format("pipe: %s", strerror(errno));
    } else {
        const char *const words[] = {python, "-c", bench_torch_script, NULL};
        torch->child = host_start(
            &(struct host_command){.words = words, .input_fd = to[0], .output_fd = from[1]});
        if (torch->child < 0)
            *message = lk_format("%s: %s", python, strerror(errno));
    }
    torch->to = to[1]; /* closed by bench_torch_stop */
    torch->from = from[0];
    if (to[0] >= 0)
        close(to[0]);
    if (from[1] >= 0)
        close(from[1]);
    lk_arena_destroy(arena);
    return torch->child > 0;
}

/* One line, without its newline; malloc'd. NULL if the process has ended or does not answer. */
static char *read_line(struct bench_torch *torch)
{
    struct lk_buf *pending = &torch->pending;
    for (;;) {
        char *end = pending->size ? memchr(pending->data, '\n', pending->size) : NULL;
        if (end) {
            size_t length = (size_t)(end - pending->data);
            char *line = strndup(pending->data, length);
            memmove(pending->data, end + 1, pending->size - length - 1);
            pending->size -= length + 1;
            return line;
        }
        struct pollfd ready = {.fd = torch->from, .events = POLLIN};
        int polled = poll(&ready, 1, ANSWER_SECONDS * 1000);
        if (polled < 0 && errno == EINTR)
            continue;
        char part[4096];
        ssize_t got = polled > 0 ? read(torch->from, part, sizeof part) : -1;
        if (got <= 0)
            return NULL;
        lk_buf_add(pending, part, (size_t)got);
    }
}

/* Sends the request, whose reference it takes, and returns the answer; NULL with a message. */
static json_t *ask(struct bench_torch *torch, json_t *request, char **message)
{
    *message = NULL;
    char *line = json_dumps(request, JSON_COMPACT);
    json_decref(request);
    if (line && torch->to >= 0 && host_write_all(torch->to, line, strlen(line)))
        host_write_all(torch->to, "\n", 1);
    free(line);
    char *text = read_line(torch); /* one that has ended may have printed why */
    json_t *answer = text ? json_loads(text, 0, NULL) : NULL;
    if (json_is_true(json_object_get(answer, "ok"))) {
        free(text);
        return answer;
    }
    const char *error = json_string_value(json_object_get(answer, "error"));
    *message = error ? strdup(error)
                     : lk_format("the Python process ended or does not answer%s%.200s",
                                 text ? ": " : "", text ? text : "");
    json_decref(answer);
    free(text);
    return NULL;
}

static bool command(struct bench_torch *torch, json_t *request, char **message)
{
    json_t *answer = ask(torch, request, message);
    json_decref(answer);
    return answer != NULL;
}

struct bench_torch *bench_torch_start(const struct zoo_device *device, char **message)
{
    struct bench_torch *torch = lk_alloc_zeroed(sizeof *torch);
    torch->device = device;
    torch->to = torch->from = -1;
    *message = NULL;
    signal(SIGPIPE, SIG_IGN); /* a process that ended shows as a failed write */
    json_t *answer = NULL;
    if (start_python(torch, message))
        answer = ask(torch, json_pack("{s:s, s:i}", "do", "hello", "device", (int)device->device),
                     message);
    const char *version = json_string_value(json_object_get(answer, "version"));
    if (version) {
        torch->version = strdup(version);
        json_decref(answer);
        return torch;
    }
    json_decref(answer);
    if (!*message)
        *message = lk_format("it does not answer");
    bench_torch_stop(torch);
    return NULL;
}

void bench_torch_stop(struct bench_torch *torch)
{
    if (!torch)
        return;
    if (torch->to >= 0)
        close(torch->to); /* its loop ends */
    if (torch->from >= 0)
        close(torch->from);
    if (torch->child > 0) {
        int status;
        for (int i = 0; waitpid(torch->child, &status, WNOHANG) == 0; i++) {
            if (i == 100)
                kill(torch->child, SIGKILL);
            usleep(100000);
        }
    }
    free(torch->version);
    lk_buf_free(&torch->pending);
    free(torch);
}

const char *bench_torch_version(const struct bench_torch *torch)
{
    return torch->version;
}

/* Requests --------------------------------------------------------------------------------------*/

/* 64 bytes by which another process opens the allocation. Not in struct lk_driver, as a simulated
 * GPU has none. */
static bool memory_handle(const struct zoo_device *device, CUdeviceptr base, char text[129],
                          char **message)
{
    unsigned char handle[64];
    CUresult (*get)(void *, CUdeviceptr) = NULL;
    const struct lk_driver *cuda = device->cuda;
    CUresult status = CUDA_ERROR_NOT_FOUND;
    if (cuda->cuGetProcAddress_v2)
        status = cuda->cuGetProcAddress_v2("cuIpcGetMemHandle", (void **)&get, 11040, 0, NULL);
    if (status == CUDA_SUCCESS && get)
        status = get(handle, base);
    if (status != CUDA_SUCCESS || !get) {
        *message = lk_format("the memory cannot be shared: %s", zoo_error(cuda, status));
        return false;
    }
    for (size_t i = 0; i < 64; i++)
        snprintf(text + 2 * i, 3, "%02x", handle[i]);
    return true;
}

static json_t *value_of(const struct zoo_parameter *parameter, int64_t value)
{
    if (parameter->words)
        return json_string(parameter->words[value]);
    if (parameter->scalar && value >= ZOO_FLOAT)
        return json_real((double)zoo_as_float(value));
    return json_integer(value);
}

static json_t *parameters_of(const struct zoo_problem *problem)
{
    const struct zoo_parameter *parameter = problem->family->parameters;
    json_t *object = json_object();
    for (size_t i = 0; parameter[i].name; i++)
        json_object_set_new(object, parameter[i].name, value_of(&parameter[i], problem->value[i]));
    return object;
}

bool bench_torch_enter(struct bench_torch *torch, const struct zoo_peer *peer,
                       const struct zoo_instance *instance, const struct bench_slab *slab,
                       char **message)
{
    char handle[129];
    *message = NULL;
    if (!memory_handle(torch->device, slab->base, handle, message))
        return false;
    json_t *buffers = json_array();
    for (unsigned i = 0; i < instance->count; i++) {
        const struct zoo_buffer *buffer = &instance->buffer[i];
        json_array_append_new(
            buffers, json_pack("{s:s, s:I, s:I, s:b}", "type", zoo_type_names[buffer->type],
                               "count", (json_int_t)buffer->count, "offset",
                               (json_int_t)slab->offset[i], "output", buffer->role != ZOO_IN));
    }
    return command(torch,
                   json_pack("{s:s, s:s, s:I, s:I, s:i, s:s, s:o, s:o}", "do", "enter", "handle",
                             handle, "bytes", (json_int_t)slab->bytes, "stride",
                             (json_int_t)slab->stride, "copies", (int)slab->copies, "expression",
                             peer->call, "parameters", parameters_of(&instance->problem), "buffers",
                             buffers),
                   message);
}

void bench_torch_leave(struct bench_torch *torch)
{
    char *message = NULL;
    command(torch, json_pack("{s:s}", "do", "leave"), &message);
    free(message); /* what fails now was about to be forgotten */
}

bool bench_torch_check(struct bench_torch *torch, char **message)
{
    return command(torch, json_pack("{s:s}", "do", "check"), message);
}

bool bench_torch_estimate(struct bench_torch *torch, double *seconds, char **message)
{
    json_t *answer = ask(torch, json_pack("{s:s}", "do", "estimate"), message);
    *seconds = json_number_value(json_object_get(answer, "seconds"));
    json_decref(answer);
    return answer != NULL;
}

static const char *const method_words[] = {"single", "graph", "queue"};

bool bench_torch_prepare(struct bench_torch *torch, enum bench_method *method, unsigned launches,
                         size_t flush_bytes, char **message)
{
    json_t *answer =
        ask(torch,
            json_pack("{s:s, s:s, s:i, s:I}", "do", "prepare", "method", method_words[*method],
                      "launches", (int)launches, "flush", (json_int_t)flush_bytes),
            message);
    const char *word = json_string_value(json_object_get(answer, "method"));
    for (int i = BENCH_SINGLE; i <= BENCH_QUEUE && word; i++)
        if (strcmp(word, method_words[i]) == 0)
            *method = (enum bench_method)i;
    json_decref(answer);
    return answer != NULL;
}

bool bench_torch_time(struct bench_torch *torch, unsigned samples, double *seconds, char **message)
{
    json_t *answer =
        ask(torch, json_pack("{s:s, s:i}", "do", "time", "samples", (int)samples), message);
    json_t *list = json_object_get(answer, "seconds");
    bool fine = json_array_size(list) == samples;
    for (unsigned i = 0; i < samples && fine; i++)
        seconds[i] = json_number_value(json_array_get(list, i));
    if (answer && !fine)
        *message = lk_format("it gave %zu times, not %u", json_array_size(list), samples);
    json_decref(answer);
    return fine;
}
