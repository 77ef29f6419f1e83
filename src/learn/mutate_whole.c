/*
 * mutate_whole.c: mutants that game a lesson's limits in place of making a slip: the solution's body
 * becomes a function, and a kernel around it calls it from one thread, from one lane of each warp,
 * or from every block for all blocks; the last element is left out; stores become atomics or
 * constants. Like mutate.c it reads tokens, and a mutant that does not compile is noticed later.
 */
#include "learn/mutate.h"

#include "base/buf.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS = 16 };

struct kernel {
    const char *source;
    const char *start;           /* of "__global__ void NAME(", or of "void NAME(" in C */
    const char *open, *close;    /* its parentheses */
    const char *body, *end;      /* its braces */
    struct span {
        const char *at;
        size_t length;
    } parameter[PARAMETERS], name[PARAMETERS];
    unsigned count;
    struct mutant *found;
    size_t found_count;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Where the bracket that opens at `at` is closed; NULL if it is not. */
static const char *closing(const char *at, char open, char close)
{
    unsigned depth = 0;
    for (; *at; at++) {
        if (strncmp(at, "//", 2) == 0)
            at += strcspn(at, "\n");
        depth += *at == open;
        if (*at == close && --depth == 0)
            return at;
        if (!*at)
            break;
    }
    return NULL;
}

static bool find_kernel(struct kernel *kernel, const char *name, bool is_c)
{
    const char *word = is_c ? "void" : "__global__";
    for (const char *at = kernel->source; (at = strstr(at, word)); at += strlen(word)) {
        const char *line = at;
        while (line > kernel->source && line[-1] != '\n')
            line--;
        const char *open = at + strcspn(at, "(;{");
        const char *last = open;
        while (last > at && isspace((unsigned char)last[-1]))
            last--;
        size_t length = strlen(name);
        if (strncmp(line, "//", 2) == 0 || *open != '(' || (size_t)(last - at) < length ||
            memcmp(last - length, name, length) != 0 || is_word(last[-(long)length - 1]))
            continue;
        kernel->start = at;
        kernel->open = open;
        kernel->close = closing(open, '(', ')');
        kernel->body = kernel->close ? strchr(kernel->close, '{') : NULL;
        kernel->end = kernel->body ? closing(kernel->body, '{', '}') : NULL;
        return kernel->end != NULL;
    }
    return false;
}

static void read_parameters(struct kernel *kernel)
{
    for (const char *at = kernel->open + 1; at < kernel->close && kernel->count < PARAMETERS;) {
        size_t length = strcspn(at, ",)");
        const char *end = at + length, *name;
        while (end > at && !is_word(end[-1]))
            end--;
        for (name = end; name > at && is_word(name[-1]);)
            name--;
        kernel->parameter[kernel->count] = (struct span){at, length};
        kernel->name[kernel->count++] = (struct span){name, (size_t)(end - name)};
        at += length + 1;
    }
}

static void add(struct kernel *kernel, enum mutant_kind kind, const char *name, char *whole)
{
    kernel->found =
        lk_realloc(kernel->found, (kernel->found_count + 1) * sizeof *kernel->found);
    struct mutant *mutant = &kernel->found[kernel->found_count++];
    *mutant = (struct mutant){.kind = kind, .whole = whole};
    snprintf(mutant->name, sizeof mutant->name, "%s", name);
}

/* Calls of the body -----------------------------------------------------------------------------*/

/* The source up to `to` with threadIdx and blockIdx as parameters of the body. */
static void put_renamed(struct lk_buf *out, const char *from, const char *to)
{
    static const char *const names[][2] = {{"threadIdx", "lk_thread"}, {"blockIdx", "lk_block"}};
    for (const char *at = from; at < to;) {
        bool renamed = false;
        for (unsigned i = 0; i < 2 && !renamed; i++) {
            size_t length = strlen(names[i][0]);
            if (strncmp(at, names[i][0], length) == 0 && !is_word(at[length])) {
                lk_buf_printf(out, "%s", names[i][1]);
                at += length;
                renamed = true;
            }
        }
        if (!renamed)
            lk_buf_add(out, at++, 1);
    }
}

/* The arguments as they came; that of number `less` is one less. */
static void put_arguments(struct lk_buf *out, const struct kernel *kernel, unsigned less)
{
    for (unsigned i = 0; i < kernel->count; i++)
        lk_buf_printf(out, "%s%.*s%s", i ? ", " : "", (int)kernel->name[i].length,
                      kernel->name[i].at, i == less ? " - 1" : "");
}

/* Everything before the kernel, its body as a function, and a kernel that calls it so: around has
 * "%s" where the call stands. */
static char *with_body(const struct kernel *kernel, bool is_c, const char *before_call,
                       const char *after_call, unsigned less)
{
    struct lk_buf out = {0};
    lk_buf_add(&out, kernel->source, (size_t)(kernel->start - kernel->source));
    lk_buf_printf(&out, is_c ? "static void lk_body(" : "static __device__ void lk_body(");
    lk_buf_add(&out, kernel->open + 1, (size_t)(kernel->close - kernel->open - 1));
    lk_buf_printf(&out, is_c ? ")\n" : ", uint3 lk_thread, uint3 lk_block)\n");
    if (is_c)
        lk_buf_add(&out, kernel->body, (size_t)(kernel->end + 1 - kernel->body));
    else
        put_renamed(&out, kernel->body, kernel->end + 1);
    lk_buf_printf(&out, "\n");
    lk_buf_add(&out, kernel->start, (size_t)(kernel->close + 1 - kernel->start));
    lk_buf_printf(&out, "\n{\n%s    lk_body(", before_call);
    put_arguments(&out, kernel, less);
    lk_buf_printf(&out, "%s);\n%s}\n", is_c ? "" : ", thread, block", after_call);
    return out.data;
}

#define HERE "    uint3 thread = threadIdx, block = blockIdx;\n"
#define ALL_BLOCKS                                                                                 \
    "    for (block.z = 0; block.z < gridDim.z; block.z++)\n"                                      \
    "    for (block.y = 0; block.y < gridDim.y; block.y++)\n"                                      \
    "    for (block.x = 0; block.x < gridDim.x; block.x++) {\n"
#define ALL_THREADS                                                                                \
    "    for (thread.z = 0; thread.z < blockDim.z; thread.z++)\n"                                  \
    "    for (thread.y = 0; thread.y < blockDim.y; thread.y++)\n"                                  \
    "    for (thread.x = 0; thread.x < blockDim.x; thread.x++)\n"

static void add_idlers(struct kernel *kernel)
{
    unsigned none = PARAMETERS;
    add(kernel, MUTANT_ONE_THREAD, "thread 0 only",
        with_body(kernel, false,
                  HERE "    if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y +"
                       " blockIdx.z)\n        return;\n" ALL_BLOCKS ALL_THREADS,
                  "    }\n", none));
    add(kernel, MUTANT_ONE_LANE, "lane 0 only",
        with_body(kernel, false,
                  HERE
                  "    unsigned first = threadIdx.x + blockDim.x * threadIdx.y;\n"
                  "    if (first % 32)\n        return;\n"
                  "    for (unsigned i = first; i < first + 32 && i < blockDim.x * blockDim.y; i++)"
                  " {\n    thread.x = i % blockDim.x;\n    thread.y = i / blockDim.x;\n",
                  "    }\n", none));
    add(kernel, MUTANT_ALL_BLOCKS, "all blocks all work",
        with_body(kernel, false, HERE ALL_BLOCKS, "    __syncthreads();\n    }\n", none));
}

static void add_last(struct kernel *kernel, bool is_c)
{
    for (unsigned i = 0; i < kernel->count; i++) {
        char name[80];
        const struct span *parameter = &kernel->parameter[i];
        if (memmem(parameter->at, parameter->length, "int ", 4) == NULL ||
            memchr(parameter->at, '*', parameter->length))
            continue;
        snprintf(name, sizeof name, "last %.*s left out", (int)kernel->name[i].length,
                 kernel->name[i].at);
        add(kernel, MUTANT_LAST, name, with_body(kernel, is_c, is_c ? "" : HERE, "", i));
    }
}

/* Stores ----------------------------------------------------------------------------------------*/

/* Is the word at `at` a parameter that is written through? */
static bool is_output(const struct kernel *kernel, const char *at, size_t length)
{
    for (unsigned i = 0; i < kernel->count; i++)
        if (kernel->name[i].length == length && memcmp(kernel->name[i].at, at, length) == 0)
            return memchr(kernel->parameter[i].at, '*', kernel->parameter[i].length) &&
                   !memmem(kernel->parameter[i].at, kernel->parameter[i].length, "const", 5);
    return false;
}

/* "OUT[..] = value;" and "OUT[..] += value;" from `at` on; NULL if it is none. */
static const char *store_value(const char *bracket, bool *adds)
{
    const char *at = closing(bracket, '[', ']');
    if (!at)
        return NULL;
    at += 1 + strspn(at + 1, " ");
    *adds = *at == '+';
    at += *adds;
    return *at == '=' && at[1] != '=' ? at + 1 + strspn(at + 1, " ") : NULL;
}

static void add_store(struct kernel *kernel, const char *at, const char *value, bool adds,
                      bool is_c)
{
    char place[64], name[96];
    unsigned line = 1;
    const char *start = kernel->source, *end = value + strcspn(value, ";");
    for (const char *c = kernel->source; c < at; c++)
        if (*c == '\n') {
            line++;
            start = c + 1;
        }
    snprintf(place, sizeof place, "%u:%u", line, (unsigned)(at - start) + 1);
    const char *target_end = value;
    while (target_end[-1] != ']')
        target_end--;
    int before = (int)(at - kernel->source), target = (int)(target_end - at);
    snprintf(name, sizeof name, "%s constant", place);
    add(kernel, MUTANT_CONSTANT, name,
        lk_format("%.*s%.*s = 3%s", before, kernel->source, target, at, end));
    snprintf(name, sizeof name, "%s by atomics", place);
    if (!is_c)
        add(kernel, MUTANT_ATOMICS, name,
            lk_format("%.*s%s(&%.*s, %.*s)%s", before, kernel->source,
                      adds ? "atomicAdd" : "atomicExch", target, at, (int)(end - value), value,
                      end));
}

static void add_stores(struct kernel *kernel, bool is_c)
{
    for (const char *at = kernel->body; at < kernel->end; at++) {
        if (is_word(at[-1]) || !is_word(*at))
            continue;
        size_t length = 0;
        bool adds;
        while (is_word(at[length]))
            length++;
        if (at[length] != '[' || !is_output(kernel, at, length))
            continue;
        const char *value = store_value(at + length, &adds);
        if (value)
            add_store(kernel, at, value, adds, is_c);
    }
}

struct mutant *mutants_find_whole(const char *source, const char *name, bool is_c, size_t *count)
{
    struct kernel kernel = {.source = source};
    if (find_kernel(&kernel, name, is_c)) {
        read_parameters(&kernel);
        if (!is_c)
            add_idlers(&kernel);
        add_last(&kernel, is_c);
        add_stores(&kernel, is_c);
    }
    *count = kernel.found_count;
    return kernel.found;
}
