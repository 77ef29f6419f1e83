/*
 * headers.c: tells headers of the CUDA toolkit and of the system from a program's own; see
 * headers.h.
 */
#include "host/headers.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Every include folder of a toolkit holds one of these, also where its parts lie in folders of
 * their own, as NVIDIA's Python packages for CUDA 12 and copies of CCCL do. */
static bool is_include_folder(const char *folder, size_t length)
{
    static const char *const marks[] = {"cuda_runtime_api.h", "crt/host_config.h", "nv/target",
                                        "curand_kernel.h", "thrust/version.h"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        int size = snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, marks[i]);
        if (size > 0 && (size_t)size < sizeof path && access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* For a program that was built elsewhere: the usual places of a toolkit. */
static bool looks_like_toolkit(const char *path)
{
    static const char *const places[] = {"/targets/x86_64-linux/include/",
                                         "/targets/sbsa-linux/include/",
                                         "/cuda/include/",
                                         "/cu13/include/",
                                         "/include/cccl/",
                                         "/include/crt/"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (strstr(path, places[i]))
            return true;
    return false;
}

bool host_is_toolkit_header(const char *path)
{
    if (access(path, F_OK) != 0)
        return looks_like_toolkit(path);
    for (size_t length = strlen(path); length > 0; length--)
        if (path[length] == '/' && is_include_folder(path, length))
            return true;
    return false;
}

bool host_is_system_header(const char *path)
{
    static const char *const folders[] = {"/usr/include/", "/usr/local/include/", "/usr/lib/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return path[0] == '?' || strstr(path, "/include/c++/") || strstr(path, "/lib/gcc/") ||
           strstr(path, "/lib/clang/");
}
