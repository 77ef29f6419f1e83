/*
 * machine_code.c: NVIDIA's libraries whose kernels are machine code, and for which we have no
 * drop-in; part of liblockstep_audit.so. Programs often load them and never use them, so that
 * loading is fine; the calls that make a handle print what is missing and return an error, and
 * without a handle nothing else of the library works. JAX makes a handle of cuDNN before it
 * compiles anything: there, the handle is made, and all other calls fail.
 */
#include "clients/static_runtime.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__

enum library { CUSPARSELT, CUDNN, NCCL, CUTENSOR, LIBRARIES };

static const struct {
    const char *file, *name;
    int status; /* what its calls return */
    const char *remedy;
} libraries[LIBRARIES] = {
    [CUSPARSELT] = {"libcusparseLt.so", "cuSPARSELt", 10, "use dense matrices, or run on a GPU"},
    [CUDNN] = {"libcudnn", "cuDNN", 3000,
               "use plain operators (in PyTorch, torch.backends.cudnn.enabled = False), or run on "
               "a GPU"},
    [NCCL] = {"libnccl.so", "NCCL", 5,
              "use one GPU or another backend (in PyTorch, gloo), or run on GPUs"},
    [CUTENSOR] = {"libcutensor.so", "cuTENSOR", 15,
                  "use cuBLAS or a kernel of your own, or run on a GPU"},
};

static int stop(enum library library)
{
    static atomic_int told[LIBRARIES];
    char line[400];
    if (!atomic_exchange(&told[library], 1)) {
        int size = snprintf(line, sizeof line,
                            "lockstep: %s has machine code only, which a simulated GPU cannot run: "
                            "its calls fail; %s\n",
                            libraries[library].name, libraries[library].remedy);
        (void)!write(STDERR_FILENO, line, (size_t)size);
    }
    return libraries[library].status;
}

static int stop_cusparselt(void **first)
{
    (void)first;
    return stop(CUSPARSELT);
}

static int stop_cudnn(void **first)
{
    (void)first;
    return stop(CUDNN);
}

/* A handle with nothing behind it. */
static int make_cudnn(void **handle)
{
    static char nothing;
    *handle = &nothing;
    return 0;
}

static int succeed(void **first)
{
    (void)first;
    return 0;
}

static int stop_nccl(void **first)
{
    (void)first;
    return stop(NCCL);
}

static int stop_cutensor(void **first)
{
    (void)first;
    return stop(CUTENSOR);
}

/* The first row that fits counts. "cudnn" fits every call of cuDNN; NULL: stays as it is. */
static const struct {
    enum library library;
    const char *name;
    int (*instead)(void **first);
} beginnings[] = {
    {CUSPARSELT, "cusparseLtInit", stop_cusparselt},
    {CUDNN, "cudnnCreate", make_cudnn},
    {CUDNN, "cudnnDestroy", succeed},
    {CUDNN, "cudnnSetStream", succeed},
    {CUDNN, "cudnnGetVersion", NULL},
    {CUDNN, "cudnnGetCudartVersion", NULL},
    {CUDNN, "cudnnGetProperty", NULL},
    {CUDNN, "cudnnGetErrorString", NULL},
    {CUDNN, "cudnnGetLastErrorString", NULL},
    {CUDNN, "cudnnGetMaxDeviceVersion", NULL},
    {CUDNN, "cudnn", stop_cudnn},
    {NCCL, "ncclCommInitAll", stop_nccl},
    {NCCL, "ncclCommInitRank", stop_nccl},
    {NCCL, "ncclCommInitRankConfig", stop_nccl},
    {NCCL, "ncclCommInitRankScalable", stop_nccl},
    {CUTENSOR, "cutensorCreate", stop_cutensor},
};

/* What takes the place of a function; NULL if it stays. */
static int (*instead_of(enum library library, const char *name))(void **)
{
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        bool all = strcmp(beginnings[i].name, "cudnn") == 0;
        if (beginnings[i].library == library &&
            (all ? strncmp(name, "cudnn", 5) == 0 : strcmp(name, beginnings[i].name) == 0))
            return beginnings[i].instead;
    }
    return NULL;
}

static void replace(const struct image *image, uintptr_t base, enum library library)
{
    for (size_t i = 0; i < image->count; i++) {
        const Elf64_Sym *symbol = image->symbols + i;
        if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= image->names_size ||
            ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_size < JUMP_SIZE)
            continue;
        int (*instead)(void **) = instead_of(library, image->names + symbol->st_name);
        uintptr_t at = base + symbol->st_value;
        if (!instead || set_access(at, at + JUMP_SIZE, PROT_READ | PROT_WRITE) != 0)
            continue;
        put_jump((unsigned char *)at, (const void *)instead);
        set_access(at, at + JUMP_SIZE, PROT_READ | PROT_EXEC);
    }
}

void machine_code_stop(const char *file, uintptr_t base)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    struct image image;
    for (unsigned i = 0; i < LIBRARIES; i++) {
        if (strncmp(name, libraries[i].file, strlen(libraries[i].file)) != 0)
            continue;
        if (open_image(file, SHT_DYNSYM, &image))
            replace(&image, base, i);
        close_image(&image);
    }
}

#else

void machine_code_stop(const char *file, uintptr_t base)
{
    (void)file, (void)base; /* their calls fail by themselves */
}

#endif
