/*
 * nvcc_names.c: refuses names that would reach nvcc's shell as commands; see nvcc_names.h.
 * Definitions and options for other tools (-D, -Xcompiler ...) may have quotes in them, which nvcc
 * keeps; the user wrote them. What starts a command is refused in them, too.
 */
#include "toolchain/nvcc_names.h"

#include "base/buf.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_plain(const char *name)
{
    return !strpbrk(name, "$`\"\\\n\r");
}

static bool runs_nothing(const char *word)
{
    return !strpbrk(word, "`\n\r") && !strstr(word, "$(");
}

static bool begins_with_any(const char *word, const char *const *starts)
{
    for (; *starts; starts++)
        if (strncmp(word, *starts, strlen(*starts)) == 0)
            return true;
    return false;
}

/* A word that begins with one of these is a name, or has one behind it. */
static bool has_name(const char *word)
{
    static const char *const starts[] = {"-I",
                                         "-L",
                                         "-isystem",
                                         "-include",
                                         "-ccbin",
                                         "-idirafter",
                                         "-odir",
                                         "--output",
                                         "--include-path",
                                         "--library-path",
                                         "--pre-include",
                                         "--keep-dir",
                                         "-o",
                                         "-l",
                                         "--library",
                                         "--system-include",
                                         "--compiler-bindir",
                                         NULL};
    return word[0] != '-' || begins_with_any(word, starts);
}

/* Its value is text for another tool. */
static bool takes_text(const char *word)
{
    static const char *const options[] = {"-D",
                                          "-U",
                                          "--define-macro",
                                          "--undefine-macro",
                                          "-Xcompiler",
                                          "--compiler-options",
                                          "-Xlinker",
                                          "--linker-options",
                                          "-Xptxas",
                                          "--ptxas-options",
                                          "-Xarchive",
                                          "-Xnvlink",
                                          NULL};
    for (const char *const *option = options; *option; option++)
        if (strcmp(word, *option) == 0)
            return true;
    return false;
}

static bool refuse(const char *name, char **message)
{
    *message =
        lk_format("nvcc cannot take this name, which has one of $ ` \" \\ or a line break in "
                  "it: nvcc would hand it to a shell; rename it: %s",
                  name);
    return false;
}

bool nvcc_names_are_plain(const struct lk_list *command, const char *folder, char **message)
{
    char current[PATH_MAX];
    const char *temporary = getenv("TMPDIR");
    if (!folder)
        folder = getcwd(current, sizeof current) ? current : "";
    if (!is_plain(folder))
        return refuse(folder, message);
    if (temporary && !is_plain(temporary))
        return refuse(temporary, message);
    for (size_t i = 0; i < command->count; i++) {
        const char *word = command->items[i];
        bool is_text = i > 0 && takes_text(command->items[i - 1]);
        if (!runs_nothing(word) || (!is_text && has_name(word) && !is_plain(word)))
            return refuse(word, message);
    }
    return true;
}
