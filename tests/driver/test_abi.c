/*
 * test_abi.c: compares our declarations (src/cuda: enums.h, device_attributes.h, abi.h,
 * results.def) with NVIDIA's
 * cuda.h, where there is one: every enumerator's value, every structure's size and the offsets of
 * its fields. The names are read from our headers' text, so there is no list to keep. Two small
 * programs print the same names, one compiled with each header; their outputs must be equal.
 * Runs in the repository's root; skipped without cuda.h of CUDA 13.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/lockstep-abi-XXXXXX";

/* The include folder of the toolkit that NVCC belongs to, or of another. */
static const char *find_header(char *path, size_t size)
{
    const char *nvcc = getenv("NVCC");
    char beside[512] = "/nowhere";
    if (nvcc && strchr(nvcc, '/'))
        snprintf(beside, sizeof beside, "%.*s/..", (int)(strrchr(nvcc, '/') - nvcc), nvcc);
    const char *roots[] = {beside, getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        if (!roots[i])
            continue;
        snprintf(path, size, "%s/include/cuda.h", roots[i]);
        if (access(path, R_OK) == 0) {
            path[strlen(path) - strlen("/cuda.h")] = 0;
            return path;
        }
    }
    return NULL;
}

/* The first word of a line, if it is an enumerator: "CU_X = 1," or "RESULT(CU_X, 1,". */
static int print_enumerators(FILE *out, const char *file)
{
    char line[4096];
    int count = 0;
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        char *at = strstr(line, "RESULT(");
        at = at ? at + 7 : strchr(line, '{') ? strchr(line, '{') + 1 : line;
        while (at && *at) {
            while (isspace((unsigned char)*at))
                at++;
            size_t length = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789_");
            int is_name = strncmp(at, "CU", 2) == 0 || strncmp(at, "CIG", 3) == 0;
            char *behind = at + length + strspn(at + length, " ");
            if (is_name && length > 6 && (*behind == '=' || *behind == ',' || *behind == '}')) {
                fprintf(out, "V(%.*s)\n", (int)length, at);
                count++;
            }
            at = strstr(line, "RESULT(") ? NULL : strchr(at, ',');
            at = at ? at + 1 : NULL;
        }
    }
    fclose(in);
    return count;
}

/* Size of each "typedef struct ... {" and offsets of the fields directly in it. */
static int print_structures(FILE *out, const char *file)
{
    char line[4096], fields[128][64];
    int depth = 0, count = 0, structures = 0;
    FILE *in = fopen(file, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        char *open = strchr(line, '{'), *close = strchr(line, '}');
        char name[64];
        if (depth == 0 && open &&
            (strstr(line, "typedef struct") || strstr(line, "typedef union"))) {
            count = 0;
        } else if (depth == 1 && !open && !close && strchr(line, ';') && count < 128) {
            char *end = strpbrk(line, "[;");
            char *start = end;
            while (start > line && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
                start--;
            snprintf(fields[count++], 64, "%.*s", (int)(end - start), start);
        } else if (depth == 1 && close && sscanf(close, "} %63[A-Za-z0-9_];", name) == 1 &&
                   strncmp(name, "CU", 2) == 0) {
            fprintf(out, "S(%s)\n", name);
            for (int i = 0; i < count; i++)
                fprintf(out, "O(%s, %s)\n", name, fields[i]);
            structures++;
        }
        depth += (open != NULL) - (close != NULL);
    }
    fclose(in);
    return structures;
}

static void compile_and_run(const char *include, const char *header, const char *name)
{
    char command[2048];
    snprintf(command, sizeof command,
             "cc -w -I'%s' -DHEADER='\"%s\"' -o %s/%s %s/check.c && %s/%s > %s/%s.txt", include,
             header, directory, name, directory, directory, name, directory, name);
    assert_int_equal(system(command), 0);
}

static void equals_cuda_h(void **state)
{
    char include[512], path[512], command[2048];
    if (!find_header(include, sizeof include)) {
        print_message("there is no cuda.h here\n");
        skip();
    }
    snprintf(command, sizeof command, "grep -q 'define CUDA_VERSION 130' '%s/cuda.h'", include);
    if (system(command) != 0)
        skip();
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/check.c", directory);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "#include <stdint.h>\n#include <stddef.h>\n#include HEADER\n#include <stdio.h>\n"
                 "#define V(x) printf(#x \" %%lld\\n\", (long long)x);\n"
                 "#define S(x) printf(#x \" %%zu %%zu\\n\", sizeof(x), _Alignof(x));\n"
                 "#define O(x, y) printf(#x \".\" #y \" %%zu\\n\", offsetof(x, y));\n"
                 "int main(void)\n{\n");
    int values = print_enumerators(out, "src/cuda/enums.h");
    values += print_enumerators(out, "src/cuda/textures.h");
    values += print_enumerators(out, "src/cuda/device_attributes.h");
    values += print_enumerators(out, "src/cuda/results.def");
    int structures = print_structures(out, "src/cuda/abi.h");
    structures += print_structures(out, "src/cuda/textures.h");
    fprintf(out, "return 0;\n}\n");
    fclose(out);
    print_message("%d values, %d structures\n", values, structures);
    assert_true(values > 500 && structures > 40);
    compile_and_run("src", "cuda/abi.h", "ours");
    compile_and_run(include, "cuda.h", "real");
    snprintf(command, sizeof command, "diff %s/ours.txt %s/real.txt && rm -r %s", directory,
             directory, directory);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(equals_cuda_h)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
