/*
 * machine_code.c: NVIDIA's libraries whose kernels are machine code, and for which we have no
 * drop-in; part of liblockstep_audit.so. Programs often load them and never use them, so that
 * loading is fine; the calls that make a handle print what is missing and return an error, and
 * without a handle nothing else of the library works.
 */
#include "clients/static_runtime.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__

enum library { CUSPARSE, CUSPARSELT, CUDNN, NCCL, CUTENSOR, LIBRARIES };

static const struct {
    const char *file, *name;
    int status; /* what its calls return */
    const char *remedy;
} libraries[LIBRARIES] = {
    [CUSPARSE] = {"libcusparse.so", "cuSPARSE", 10,
                  "use dense matrices or a kernel of your own, or run on a GPU"},
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

static int stop_cusparse(void)
{
    return stop(CUSPARSE);
}

static int stop_cusparselt(void)
{
    return stop(CUSPARSELT);
}

static int stop_cudnn(void)
{
    return stop(CUDNN);
}

static int stop_nccl(void)
{
    return stop(NCCL);
}

static int stop_cutensor(void)
{
    return stop(CUTENSOR);
}

static const struct {
    enum library library;
    const char *name;
    int (*instead)(void);
} beginnings[] = {
    {CUSPARSE, "cusparseCreate", stop_cusparse},
    {CUSPARSELT, "cusparseLtInit", stop_cusparselt},
    {CUDNN, "cudnnCreate", stop_cudnn},
    {NCCL, "ncclCommInitAll", stop_nccl},
    {NCCL, "ncclCommInitRank", stop_nccl},
    {NCCL, "ncclCommInitRankConfig", stop_nccl},
    {NCCL, "ncclCommInitRankScalable", stop_nccl},
    {CUTENSOR, "cutensorCreate", stop_cutensor},
};

static void replace(const struct image *image, uintptr_t base, enum library library)
{
    for (size_t i = 0; i < image->count; i++) {
        const Elf64_Sym *symbol = image->symbols + i;
        if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= image->names_size ||
            ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_size < JUMP_SIZE)
            continue;
        for (size_t j = 0; j < sizeof beginnings / sizeof *beginnings; j++) {
            if (beginnings[j].library != library ||
                strcmp(image->names + symbol->st_name, beginnings[j].name) != 0)
                continue;
            uintptr_t at = base + symbol->st_value;
            if (set_access(at, at + JUMP_SIZE, PROT_READ | PROT_WRITE) != 0)
                continue;
            put_jump((unsigned char *)at, (const void *)beginnings[j].instead);
            set_access(at, at + JUMP_SIZE, PROT_READ | PROT_EXEC);
        }
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
