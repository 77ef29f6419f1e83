/*
 * compile.c: an exercise to PTX, with clang, nvcc or NVRTC. clang is preferred: it takes a tenth of
 * nvcc's time, which is most of a verdict. Its messages are the compiler's own, with the file named
 * as the learner knows it.
 */
#include "learn/compile.h"

#include "base/buf.h"
#include "host/child.h"
#include "host/files.h"
#include "toolchain/nvcc_names.h"
#include "toolchain/ptx.h"
#include "zoo/embedded.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NO_TRITON = 3 }; /* the status of triton_ptx.py */
enum { SECONDS = 30, MIB = 2048, SOURCE_BYTES = 1 << 20, MOST_LINES = 60 };

/* What would keep a compiler busy without being a kernel: a device, a pipe, a file without end. */
static char *check_source(const char *path, const char *shown, bool is_python)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return lk_format("%s: %s\n", shown, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return lk_format("%s: not a file\n", shown);
    if (status.st_size > SOURCE_BYTES)
        return lk_format("%s: it has %lld bytes; an exercise has at most %d\n", shown,
                         (long long)status.st_size, SOURCE_BYTES);
    char *message = NULL, *text = host_read_text(path, &message);
    if (text && (off_t)strlen(text) < status.st_size)
        message = lk_format("%s: this is not text: it has a byte 0 in it\n", shown);
    else if (text && !is_python)
        message = learn_check_includes(text, shown);
    free(text);
    return message;
}

/* The log with every mention of path as shown; malloc'd. What a file that includes itself or a
 * template produces is cut short: no one reads a hundred lines. Notes on our own macro, which is in
 * no file, are dropped with the lines that they show. */
static char *read_log(const char *log, const char *path, const char *shown)
{
    static const char included[] = "In file included from", ours[] = "<command line>:";
    struct lk_buf text = {0};
    char *message = NULL, *said = host_read_text(log, &message);
    size_t length = strlen(path);
    unsigned lines = 0, left_out = 0, depth = 0;
    bool is_ours = false;
    for (const char *at = said ? said : message, *end; *at; at = end) {
        end = at + strcspn(at, "\n");
        end += *end == '\n';
        is_ours = strncmp(at, ours, strlen(ours)) == 0 || (is_ours && *at == ' ');
        if (is_ours)
            continue;
        depth = strncmp(at, included, strlen(included)) == 0 ? depth + 1 : 0;
        if (depth > 2 || lines == MOST_LINES) {
            left_out += depth <= 2;
            continue;
        }
        lines++;
        for (const char *next; (next = memmem(at, (size_t)(end - at), path, length));
             at = next + length)
            lk_buf_printf(&text, "%.*s%s", (int)(next - at), at, shown);
        lk_buf_printf(&text, "%.*s", (int)(end - at), at);
    }
    if (left_out)
        lk_buf_printf(&text, "(and %u more line%s)\n", left_out, left_out == 1 ? "" : "s");
    free(message);
    free(said);
    return text.data ? text.data : strdup("");
}

/* Takes said, what the compiler has printed. */
static char *explain(const struct host_command *command, const struct host_limits *limits,
                     enum host_end how, int status, char *said, const char *shown)
{
    char *text = NULL;
    if (how == HOST_NOT_STARTED)
        text = lk_format("%s did not start\n", command->words[0]);
    else if (how == HOST_TOO_SLOW)
        text = lk_format("%s: the compiler was stopped after %u seconds; it had not finished\n",
                         shown, limits->seconds);
    else if (how == HOST_TOO_BIG || strstr(said, "out of memory") || strstr(said, "bad_alloc"))
        text = lk_format("%s: the compiler was stopped: it needed more than %u MiB of memory\n",
                         shown, limits->mib);
    else if (how == HOST_TOO_LOUD)
        text = lk_format(
            "%s: the compiler was stopped: it complained without end, and began with\n%.2000s\n",
            shown, said);
    else if (how == HOST_INTERRUPTED)
        text = lk_format("%s: stopped while it was compiled\n", shown);
    else if (status > 128)
        text = lk_format("%s: the compiler itself failed (signal %d)\n%.2000s", shown, status - 128,
                         said);
    else
        return said;
    free(said);
    return text;
}

/* What programs include out of habit. Everything that a kernel can use of it is in c_names.h or
 * cuda_names.h already, or is here. NVRTC has no headers but NVIDIA's. */
enum { IN_C = 1, IN_CLANG = 2, IN_NVRTC = 4, IN_CUDA = IN_CLANG | IN_NVRTC, IN_ALL = 7 };
static const struct stub {
    const char *name;
    unsigned where;
    const char *text;
} stubs[] = {
    {"math.h", IN_ALL, ""},
    {"string.h", IN_ALL, ""},
    {"cmath", IN_CUDA, ""},
    {"cstdio", IN_CUDA, ""},
    {"cstdlib", IN_CUDA, "#include <stdlib.h>\n"},
    {"cassert", IN_CUDA, "#include <assert.h>\n"},
    {"cstdint", IN_CUDA, "#include <stdint.h>\n"},
    {"cuda.h", IN_CUDA, ""},
    {"cuda_runtime.h", IN_CUDA, ""},
    {"cuda_runtime_api.h", IN_CUDA, ""},
    {"device_launch_parameters.h", IN_CUDA, ""},
    {"cooperative_groups/reduce.h", IN_CUDA, "#include <cooperative_groups.h>\n"},
    {"stdio.h", IN_ALL,
     "#if !defined(__CUDA__) && !defined(__CUDACC__)\n#define printf __builtin_printf\n#endif\n"
     "#ifndef NULL\n#define NULL 0\n#endif\n"},
    {"stdlib.h", IN_ALL,
     "#include <stddef.h>\n"
     "#if !defined(__CUDA__) && !defined(__CUDACC__)\n"
     "static inline int abs(int x) { return x < 0 ? -x : x; }\n"
     "#endif\n"},
    {"assert.h", IN_NVRTC, ""}, /* NVRTC knows assert */
    {"assert.h", IN_C | IN_CLANG,
     "#include <stddef.h>\n"
     "#undef assert\n"
     "#ifdef __CUDA__\n"
     "extern \"C\" __device__ __attribute__((noreturn)) void __assertfail(const char *, const char "
     "*,"
     " unsigned, const char *, size_t);\n"
     "#else\n"
     "__attribute__((noreturn)) void __assertfail(const char *, const char *, unsigned,"
     " const char *, size_t);\n"
     "#endif\n"
     "#ifdef NDEBUG\n#define assert(x) ((void)0)\n#else\n"
     "#define assert(x) ((x) ? (void)0 : __assertfail(#x, __FILE__, __LINE__, __func__, 1))\n"
     "#endif\n"},
    {"stddef.h", IN_NVRTC, ""},
    {"limits.h", IN_NVRTC,
     "#ifndef INT_MAX\n#define INT_MAX 2147483647\n#define INT_MIN (-INT_MAX - 1)\n"
     "#define UINT_MAX 4294967295u\n#define CHAR_BIT 8\n#endif\n"},
    {"float.h", IN_NVRTC,
     "#ifndef FLT_MAX\n#define FLT_MAX 3.402823466e38f\n#define FLT_MIN 1.175494351e-38f\n"
     "#define FLT_EPSILON 1.192092896e-7f\n#endif\n"},
    {"stdint.h", IN_NVRTC,
     "#ifndef LOCKSTEP_STDINT_H\n#define LOCKSTEP_STDINT_H\n"
     "typedef signed char int8_t;\ntypedef unsigned char uint8_t;\n"
     "typedef short int16_t;\ntypedef unsigned short uint16_t;\n"
     "typedef int int32_t;\ntypedef unsigned int uint32_t;\n"
     "typedef long int64_t;\ntypedef unsigned long uint64_t;\n"
     "typedef long intptr_t;\ntypedef unsigned long uintptr_t;\n#endif\n"},
};

static bool write_stubs(struct lk_arena *arena, const char *folder, unsigned where, char **message)
{
    bool fine =
        host_make_folder(lk_arena_printf(arena, "%s/c", folder), message) &&
        host_make_folder(lk_arena_printf(arena, "%s/c/cooperative_groups", folder), message);
    for (size_t i = 0; i < sizeof stubs / sizeof *stubs && fine; i++)
        if (stubs[i].where & where)
            fine = host_write_file(lk_arena_printf(arena, "%s/c/%s", folder, stubs[i].name),
                                   stubs[i].text, strlen(stubs[i].text), message);
    return fine;
}

/* Shown beside a wrong result: verdict_add_unset. */
#define UNSET_WARNINGS "-Wuninitialized", "-Wsometimes-uninitialized"

/* The function becomes a kernel where it is defined: its name and a '(' bring the attribute along.
 * A parameter or a variable of that name, without a '(', stays what it is. */
static void c_command(struct lk_arena *arena, const char *clang,
                      const struct learn_exercise *exercise, const struct toolchain_ptx *ptx,
                      struct lk_list *command)
{
    const char *const words[] = {
        clang,
        "-x",
        "c",
        "--target=nvptx64-nvidia-cuda",
        "-std=c11",
        "-O2",
        "-ffreestanding",
        "-nostdlibinc",
        "-S",
        "-gline-tables-only",
        "-fno-color-diagnostics",
        UNSET_WARNINGS,
        lk_arena_printf(arena, "-march=sm_%s", ptx->arch),
        lk_arena_printf(arena, "-D%s(...)=__attribute__((nvptx_kernel)) %s(__VA_ARGS__)",
                        exercise->kernel, exercise->kernel),
        lk_arena_printf(arena, "-I%s/c", ptx->include),
        "-include",
        lk_arena_printf(arena, "%s/c_names.h", ptx->include),
        "-o",
        ptx->output,
        ptx->source};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        lk_list_add(command, words[i]);
}

/* Variables by which compilers look into further folders. */
static const char *const without_folders[] = {"CPATH",
                                              "C_INCLUDE_PATH",
                                              "CPLUS_INCLUDE_PATH",
                                              "OBJC_INCLUDE_PATH",
                                              "NVCC_PREPEND_FLAGS",
                                              "NVCC_APPEND_FLAGS",
                                              "CCC_OVERRIDE_OPTIONS",
                                              NULL};

static bool grader_uses_nvcc(const struct learn_grader *grader,
                             const struct learn_exercise *exercise)
{
    return grader->is_nvcc && !exercise->is_c && !exercise->is_python;
}

/* Is there all that the compiler needs? The headers are in folder then. */
static bool prepare(struct lk_arena *arena, const struct learn_grader *grader,
                    const struct learn_exercise *exercise, const char *path, const char *shown,
                    const char *folder, char **said)
{
    *said = check_source(path, shown, exercise->is_python);
    if (!*said && exercise->is_c && !grader->c_compiler)
        *said =
            lk_format("%s is in C, which needs clang 16 or newer: 'apt install clang-19'", shown);
    if (exercise->is_python)
        return !*said; /* triton_ptx.py brings all that it needs */
    return !*said && zoo_write_headers("include", folder, said) &&
           (grader_uses_nvcc(grader, exercise) || write_stubs(arena, folder,
                                                              exercise->is_c     ? IN_C
                                                              : grader->is_nvrtc ? IN_NVRTC
                                                                                 : IN_CLANG,
                                                              said));
}

enum learn_stage learn_compile(const struct learn_grader *grader,
                               const struct learn_exercise *exercise, const char *path,
                               const char *shown, const char *folder, char **said)
{
    struct lk_arena *arena = lk_arena_create();
    struct lk_list words = {0};
    int status = exercise->is_python && !grader->python ? NO_TRITON : 0;
    struct toolchain_ptx ptx = {
        .compiler = {grader->compiler, grader->is_nvcc, grader->is_nvrtc, grader->headers},
        .arch = exercise->arch,
        .include = folder,
        .source = path,
        .output = lk_arena_printf(arena, "%s/kernel.ptx", folder)};
    bool fine = prepare(arena, grader, exercise, path, shown, folder, said);
    if (fine && exercise->is_python)
        fine = compile_python_command(arena, grader, exercise, path, shown, folder, &words, said);
    else if (exercise->is_c)
        c_command(arena, grader->c_compiler, exercise, &ptx, &words);
    else if (!exercise->is_python)
        toolchain_ptx_command(arena, &ptx, &words);
    if (!exercise->is_c && !exercise->is_python && !grader->is_nvcc && !grader->is_nvrtc) {
        lk_list_add(&words, lk_arena_printf(arena, "-I%s/c", folder));
        /* A store through NULL is a mistake to be shown, not a reason to drop the code. */
        lk_list_add(&words, "-fno-delete-null-pointer-checks");
        static const char *const warnings[] = {UNSET_WARNINGS};
        for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
            lk_list_add(&words, warnings[i]);
    }
    if (fine && grader_uses_nvcc(grader, exercise))
        fine = nvcc_names_are_plain(&words, NULL, said);
    if (fine) {
        const char *log = lk_arena_printf(arena, "%s/log", folder);
        struct host_command command = {
            .words = words.items, .output = log, .joined = true, .environment = without_folders};
        struct host_limits limits = {.seconds = grader->seconds ? grader->seconds : SECONDS,
                                     .mib = grader->mib ? grader->mib : MIB,
                                     .interrupted = grader->interrupted};
        enum host_end how = host_run_limited(&command, &limits, &status);
        fine = how == HOST_ENDED && status == 0;
        if (fine)
            *said = read_log(log, path, shown);
        else
            *said = explain(&command, &limits, how, status, read_log(log, path, shown), shown);
    }
    lk_list_free(&words);
    lk_arena_destroy(arena);
    return fine                                         ? LEARN_PASSED
           : exercise->is_python && status == NO_TRITON ? LEARN_BROKEN
                                                        : LEARN_COMPILE;
}
