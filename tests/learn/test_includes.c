/*
 * test_includes.c: which files an exercise may name (src/learn/includes.c).
 */
#include "learn/grade.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void refused_in(const char *text, const char *place)
{
    char *message = learn_check_includes(text, "mine.cu");
    if (!message)
        fail_msg("taken: %s", text);
    if (strncmp(message, place, strlen(place)) != 0)
        fail_msg("%s: %s", text, message);
    free(message);
}

static void refused(const char *text)
{
    refused_in(text, "mine.cu:1: error: ");
}

static void taken(const char *text)
{
    char *message = learn_check_includes(text, "mine.cu");
    if (message)
        fail_msg("%s: %s", text, message);
}

static void test_names(void **state)
{
    (void)state;
    taken("#include <stdint.h>\n#include \"helper.h\"\n  #  include \"sub/helper.h\"\nint x;\n");
    taken("#embed \"table.bin\"\n#if __has_include(<math.h>)\n#endif\n#line 7\n#line 7 \"a.cu\"\n");
    refused("#include \"/etc/passwd\"");
    refused("#include </etc/passwd>");
    refused("#include \"../secret\"");
    refused("#include \"a/../../secret\"");
    refused("#include <linux/../../../etc/passwd>");
    refused("#include \"~/secret\"");
    refused("#include \"\"");
    refused("#include \"open\n\"");
    refused("#include \"a\\b\"");
    refused("#include_next \"/etc/passwd\"");
    refused("#import \"/etc/passwd\"");
    refused("#embed \"/etc/passwd\"");
    refused("#line 1 \"/etc/passwd\"");
    refused("# 1 \"/etc/passwd\"");
    refused("#if __has_include(\"/etc/passwd\")\n#endif");
    refused("#if __has_embed ( </etc/passwd> )\n#endif");
}

static void test_macros(void **state)
{
    (void)state;
    refused_in("#define FILE_ \"/etc/passwd\"\n#include FILE_\n", "mine.cu:2: ");
    refused_in("#define FILE_ <x>\n#if __has_include(FILE_)\n#endif\n", "mine.cu:2: ");
    refused_in("#define N 1 \"/etc/passwd\"\n#line N\n", "mine.cu:2: ");
}

static void test_disguises(void **state)
{
    (void)state;
    refused("#inc\\\nlude \"/etc/passwd\"");
    refused("#inc\\  \nlude \"/etc/passwd\"");
    refused("#inc\\\r\nlude \"/etc/passwd\"");
    refused("#inc?\?/\nlude \"/etc/passwd\"");
    refused("%:include \"/etc/passwd\"");
    refused("?\?=include \"/etc/passwd\"");
    refused("/* a */ # /* b */ include /* c */ \"/etc/passwd\"");
    refused("#/*\n\n*/include \"/etc/passwd\"");
    refused("#include /*\n*/ \"/etc/passwd\"");
    refused_in("/*\n*/ #include \"/etc/passwd\"", "mine.cu:2: ");
    refused_in("int x; /* \\\n\\\n*/\n#include \"/etc/passwd\"", "mine.cu:4: ");
    refused_in("char *s = R\"(\n#include \"/etc/passwd\"\n)\";", "mine.cu:2: ");
}

static void test_prose(void **state)
{
    (void)state;
    taken("/* use #include \"/x\" here? no.\n * #include \"/x\" is refused\n */\n");
    taken("// an #include of a macro\nint include = 1; char *s = \"#include\";\n");
    taken("int a = 7 # 3;\n#define S(x) #x\n#pragma unroll 4\n#if 1\n#endif\n");
    taken("");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_macros),
        cmocka_unit_test(test_disguises),
        cmocka_unit_test(test_prose),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
