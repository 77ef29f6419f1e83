/*
 * test_reach.c: kernels that reach for what is not theirs while they run. Each runs in a process of
 * its own, which must end by itself with the error that a GPU gives: no crash, no byte of the host,
 * no endless use of its memory. Under the sanitizers a stray access ends the process.
 */
#include "driver/common.h"

#include <sys/wait.h>
#include <unistd.h>

#define HEAD ".version 8.5\n.target sm_80\n.address_size 64\n"
#define KERNEL                                                                                     \
    ".visible .entry k(.param .u64 out)\n{\n .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred "        \
    "%p<4>;\n"                                                                                     \
    " mov.u32 %r0, %tid.x; ld.param.u64 %d0, [out];\n"

struct outcome {
    int result;
    char printed[4096]; /* what the kernel printed */
};

static int run_child(const char *text)
{
    void *nothing = NULL;
    CUfunction kernel;
    CUmodule loaded;
    CUdeviceptr out;
    if (start(&nothing) || cu->cuMemAlloc_v2(&out, 4096))
        return -1;
    void *params[] = {&out};
    CUresult result = cu->cuModuleLoadData(&loaded, text);
    if (!result)
        result = cu->cuModuleGetFunction(&kernel, loaded, "k");
    if (!result)
        result = cu->cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
    return (int)(result ? result : cu->cuCtxSynchronize());
}

/* -2: it did not end by itself. */
static struct outcome run(const char *text)
{
    struct outcome outcome = {-2, ""};
    int results[2], printed[2];
    assert_int_equal(pipe(results) | pipe(printed), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(printed[1], STDOUT_FILENO);
        int result = run_child(text);
        fflush(NULL);
        if (write(results[1], &result, sizeof result) != sizeof result)
            _exit(1);
        _exit(0);
    }
    close(results[1]);
    close(printed[1]);
    size_t size = 0;
    for (ssize_t got;
         (got = read(printed[0], outcome.printed + size, sizeof outcome.printed - 1 - size)) > 0;)
        size += (size_t)got;
    int status, result;
    if (read(results[0], &result, sizeof result) == sizeof result)
        outcome.result = result;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        outcome.result = -2;
    close(results[0]);
    close(printed[0]);
    return outcome;
}

static void gives(CUresult error, const char *text)
{
    struct outcome outcome = run(text);
    if (outcome.result != (int)error)
        fail_msg("%d, not %d: %s", outcome.result, (int)error, text);
}

static void addresses_beside_variables(void **state)
{
    gives(CUDA_ERROR_ILLEGAL_ADDRESS,
          HEAD ".global .u32 g;\n" KERNEL "ld.global.u32 %r1, [g+1048576]; ret; }");
    gives(CUDA_ERROR_ILLEGAL_ADDRESS,
          HEAD ".const .u32 c = 1;\n" KERNEL "ld.const.u32 %r1, [c+-1048576]; ret; }");
    gives(CUDA_ERROR_ILLEGAL_INSTRUCTION,
          HEAD ".shared .u32 s;\n" KERNEL "ld.shared.u32 %r1, [s+4096]; ret; }");
    gives(CUDA_ERROR_ILLEGAL_INSTRUCTION,
          HEAD ".shared .u32 s;\n" KERNEL "st.shared.u32 [s+-4], %r1; ret; }");
    gives(CUDA_ERROR_ILLEGAL_ADDRESS,
          HEAD KERNEL ".local .u32 l; st.local.u32 [l+65536], %r1; ret; }");
    gives(CUDA_ERROR_ILLEGAL_ADDRESS,
          HEAD KERNEL ".local .u32 l; ld.local.u32 %r1, [l+-4]; ret; }");
    gives(CUDA_ERROR_ILLEGAL_ADDRESS, HEAD KERNEL /* the parameters end, and so does their page */
          "mov.u64 %d1, out; ld.param.u32 %r1, [%d1+1048576]; ret; }");
    gives(CUDA_ERROR_ILLEGAL_ADDRESS,
          HEAD ".func f(.param .b32 a)\n{ .reg .b32 %r; .reg .b64 %d; mov.u64 %d, a;\n"
               " st.local.b32 [%d+65536], %r; ret; }\n" KERNEL "call f, (%r0); ret; }");
}

static void indices_from_registers(void **state)
{
    gives(CUDA_ERROR_INVALID_PC, HEAD KERNEL "mov.u32 %r1, 77; t: .branchtargets A, B;\n"
                                             " brx.idx %r1, t; A: ret; B: ret; }");
    gives(CUDA_ERROR_ILLEGAL_INSTRUCTION, HEAD KERNEL "mov.u32 %r1, 4096; bar.sync %r1; ret; }");
    gives(CUDA_ERROR_INVALID_PC, HEAD KERNEL "mov.u64 %d1, 12345; p: .callprototype _ ();\n"
                                             " call %d1, (), p; ret; }");
    gives(CUDA_ERROR_INVALID_PC, HEAD KERNEL "mov.u32 %r1, 12345; p: .callprototype _ ();\n"
                                             " call %r1, (), p; ret; }");
}

/* The callee has other parameters than the prototype says: what fits is copied, and no more. */
static void pointers_to_other_functions(void **state)
{
    gives(CUDA_SUCCESS,
          HEAD ".func (.param .b8 r[64]) f(.param .align 8 .b8 a[64])\n{ .reg .b64 %d;\n"
               " ld.param.b64 %d, [a+56]; st.param.b64 [r+56], %d; ret; }\n" KERNEL
               "mov.u64 %d1, f; p: .callprototype (.reg .pred _) _ (.reg .pred _);\n"
               " call (%p1), %d1, (%p2), p; ret; }");
    gives(CUDA_SUCCESS,
          HEAD ".func (.reg .pred %p) f(.reg .pred %q)\n{ mov.pred %p, %q; ret; }\n" KERNEL
               "mov.u64 %d1, f; p: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
               " .param .b32 a; .param .b32 b; st.param.b32 [a], 7; call (b), %d1, (a), p;\n"
               " ld.param.b32 %r1, [b]; ret; }");
}

/* Without locals of its own a call must still cost something. */
static void endless_recursion(void **state)
{
    gives(CUDA_ERROR_ILLEGAL_ADDRESS,
          HEAD ".func f();\n.func f()\n{ call f, (); ret; }\n" KERNEL "call f, (); ret; }");
    gives(CUDA_ERROR_ILLEGAL_ADDRESS,
          HEAD KERNEL "mov.u64 %d1, -1; alloca.u64 %d2, %d1, 8; ret; }");
}

#define MALLOC                                                                                     \
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
#define FREE(what) " { .param .b64 p; " what " st.param.b64 [p], %d1; call free, (p); }\n"

static void frees_of_foreign_memory(void **state)
{
    gives(CUDA_SUCCESS, HEAD MALLOC KERNEL
          "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 64;\n"
          " call (r), malloc, (n); ld.param.b64 %d1, [r]; }\n" FREE("") "ret; }");
    gives(CUDA_ERROR_LAUNCH_FAILED,
          HEAD MALLOC ".global .u32 g;\n" KERNEL FREE("mov.u64 %d1, g;") "ret; }");
    gives(CUDA_ERROR_LAUNCH_FAILED, HEAD MALLOC KERNEL FREE("mov.u64 %d1, out;") "ret; }");
    gives(CUDA_ERROR_LAUNCH_FAILED, HEAD MALLOC KERNEL FREE("mov.u64 %d1, %d0;") "ret; }");
    gives(CUDA_ERROR_LAUNCH_FAILED, HEAD MALLOC KERNEL FREE("mov.u64 %d1, 4096;") "ret; }");
}

/* One thread prints a format with the arguments in a local array: 1.5, a string, 7. */
static void prints(const char *format, const char *expected)
{
    static const char head[] = HEAD
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
        ".global .align 1 .b8 word[4] = {111, 110, 101, 0};\n.global .align 1 .b8 format[] = {";
    static const char rest[] =
        "0};\n" KERNEL ".local .align 8 .b8 l[24]; setp.ne.u32 %p1, %r0, 0; @%p1 ret;\n"
        " mov.u64 %d1, 0x3ff8000000000000; st.local.u64 [l], %d1; mov.u64 %d1, word;\n"
        " st.local.u64 [l+8], %d1; mov.u64 %d1, 7; st.local.u64 [l+16], %d1;\n"
        " .param .b64 f; .param .b64 a; .param .b32 r; mov.u64 %d1, format;\n"
        " st.param.b64 [f], %d1; mov.u64 %d1, l; cvta.local.u64 %d1, %d1;\n"
        " st.param.b64 [a], %d1; call (r), vprintf, (f, a); ret; }";
    char text[4096];
    strcpy(text, head);
    for (const char *at = format; *at; at++)
        sprintf(text + strlen(text), "%d, ", *at);
    strcat(text, rest);
    struct outcome outcome = run(text);
    if (outcome.result != 0 || strcmp(outcome.printed, expected) != 0)
        fail_msg("%s: %d and \"%s\", not \"%s\"", format, outcome.result, outcome.printed,
                 expected);
}

/* Lengths that would make the host's printf read something else than was passed. */
static void formats(void **state)
{
    prints("%f %s %d", "1.500000 one 7");
    prints("%llf %ls %ld", "1.500000 one 7");
    prints("%qf|%hhs|%jd", "1.500000|one|7");
    prints("%zf %lls %hhd", "1.500000 one 7");
    prints("%.2f %5s %n", "1.50   one %n");
    prints("%.1f %-4.2s|%lld", "1.5 on  |7");
}

/* A kernel that traps unless all that it did not write has every bit set. */
static void poison(void **state)
{
    static const char text[] = HEAD
        ".func (.param .b32 r) f()\n{ .reg .b32 %r; .local .u32 l[4]; ld.local.u32 %r, [l+8];\n"
        " st.local.u32 [l+8], 0; st.param.b32 [r], %r; ret; }\n" MALLOC
        ".shared .u32 s[8];\n.extern .shared .u32 dynamic[];\n" KERNEL
        ".local .u32 l[8]; ld.shared.u32 %r1, [s+28]; ld.local.u32 %r2, [l+28];\n"
        " and.b32 %r1, %r1, %r2; and.b32 %r1, %r1, %r3; ld.global.u32 %r2, [%d0+4092];\n"
        " and.b32 %r1, %r1, %r2; alloca.u64 %d1, 16; ld.local.u32 %r2, [%d1+12];\n"
        " and.b32 %r1, %r1, %r2; { .param .b32 r; call (r), f, (); call (r), f, ();\n"
        " ld.param.b32 %r2, [r]; and.b32 %r1, %r1, %r2; }\n"
        " { .param .b64 n; .param .b64 r; st.param.b64 [n], 64; call (r), malloc, (n);\n"
        " ld.param.b64 %d1, [r]; ld.u32 %r2, [%d1+60]; and.b32 %r1, %r1, %r2; }\n"
        " setp.ne.u32 %p1, %r1, 0xffffffff; @%p1 trap; ret; }";
    gives(CUDA_ERROR_LAUNCH_FAILED, text); /* zeros, without it */
    setenv("LOCKSTEP_POISON", "0xff", 1);
    gives(CUDA_SUCCESS, text);
    unsetenv("LOCKSTEP_POISON");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_beside_variables),
        cmocka_unit_test(indices_from_registers),
        cmocka_unit_test(pointers_to_other_functions),
        cmocka_unit_test(endless_recursion),
        cmocka_unit_test(frees_of_foreign_memory),
        cmocka_unit_test(formats),
        cmocka_unit_test(poison),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
