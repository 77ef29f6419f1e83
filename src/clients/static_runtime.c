/*
 * static_runtime.c: sends the functions of a statically linked CUDA runtime to our libcudart; part
 * of liblockstep_audit.so, which sees every object before its constructors run.
 *
 * NVIDIA's runtime works only with NVIDIA's driver. Its public functions keep their names in the
 * symbol table of a program that nvcc has linked, unless it was stripped. Each of them begins with
 * a jump from here on: to a stub that looks the function up in our libcudart on the first call, and
 * jumps there directly on later ones.
 */
#include "clients/static_runtime.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __x86_64__

enum { NOT_SUPPORTED = 801 }; /* cudaErrorNotSupported */

/* One object's functions. Stubs and slots share a mapping, so that a stub reaches its slot. */
struct runtime {
    void **slots;         /* [count] where each stub jumps */
    unsigned char *stubs; /* [count][STUB_SIZE] */
    const char **names;   /* [count] */
    unsigned count;
    void *library;
    char path[4096];
};

/* Functions begin at multiples of 16, so that there is room for a jump of 14 bytes. */
enum { FUNCTION_ALIGNMENT = 16, STUB_SIZE = 48 };

static int is_inside(const struct image *image, uint64_t offset, uint64_t size)
{
    return offset <= image->size && size <= image->size - offset;
}

/* The table of all symbols or of dynamic ones; 0 if there is none (stripped), or it is damaged. */
static int find_symbols(struct image *image, unsigned kind)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)image->data;
    if (image->size < sizeof *header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_shoff % _Alignof(Elf64_Shdr) ||
        !is_inside(image, header->e_shoff, (uint64_t)header->e_shnum * sizeof(Elf64_Shdr)))
        return 0;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(image->data + header->e_shoff);
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const Elf64_Shdr *table = sections + i;
        if (table->sh_type != kind || table->sh_link >= header->e_shnum)
            continue;
        const Elf64_Shdr *strings = sections + table->sh_link;
        if (table->sh_offset % _Alignof(Elf64_Sym) || !strings->sh_size ||
            !is_inside(image, table->sh_offset, table->sh_size) ||
            !is_inside(image, strings->sh_offset, strings->sh_size) ||
            image->data[strings->sh_offset + strings->sh_size - 1])
            return 0;
        image->symbols = (const Elf64_Sym *)(image->data + table->sh_offset);
        image->count = table->sh_size / sizeof *image->symbols;
        image->names = image->data + strings->sh_offset;
        image->names_size = strings->sh_size;
        return 1;
    }
    return 0;
}

static int has_name(const struct image *image, const char *name)
{
    return memmem(image->names, image->names_size, name, strlen(name) + 1) != NULL;
}

/* A function of the runtime that stands in this object, or NULL. */
static const char *runtime_function(const struct image *image, const Elf64_Sym *symbol)
{
    if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_shndx == SHN_UNDEF ||
        symbol->st_name >= image->names_size || symbol->st_value % FUNCTION_ALIGNMENT)
        return NULL;
    const char *name = image->names + symbol->st_name, *rest = name;
    if (strncmp(rest, "__", 2) == 0)
        rest += 2;
    return strncmp(rest, "cuda", 4) == 0 && rest[4] >= 'A' && rest[4] <= 'Z' ? name : NULL;
}

/* The program's own functions may be named like this too: only what our library exports counts. */
static int is_exported(const struct image *ours, const char *name)
{
    for (size_t i = 0; i < ours->count; i++)
        if (ours->symbols[i].st_name < ours->names_size &&
            strcmp(ours->names + ours->symbols[i].st_name, name) == 0)
            return 1;
    return 0;
}

/* First calls -----------------------------------------------------------------------------------*/

static int not_supported(void)
{
    return NOT_SUPPORTED;
}

/* What a first call gets: the stub keeps the caller's registers. */
__attribute__((used)) static void *find_function(struct runtime *runtime, unsigned index)
{
    if (!runtime->library)
        runtime->library = dlmopen(LM_ID_BASE, runtime->path, RTLD_NOW);
    if (!runtime->library) {
        fprintf(stderr, "lockstep: %s\n", dlerror());
        exit(1);
    }
    void *function = dlsym(runtime->library, runtime->names[index]);
    if (!function)
        fprintf(stderr, "lockstep: %s is not supported\n", runtime->names[index]);
    return runtime->slots[index] = function ? function : (void *)not_supported;
}

/* Called with the runtime in r10 and the index in r11; the arguments of the call stay in place. */
void static_runtime_first(void);
__asm__(".text\n"
        ".globl static_runtime_first\n"
        ".hidden static_runtime_first\n"
        ".type static_runtime_first, @function\n"
        "static_runtime_first:\n"
        "    push %rbp\n"
        "    mov %rsp, %rbp\n"
        "    push %rdi\n    push %rsi\n    push %rdx\n    push %rcx\n    push %r8\n    push %r9\n"
        "    sub $128, %rsp\n"
        "    and $-16, %rsp\n"
        "    movups %xmm0, (%rsp)\n    movups %xmm1, 16(%rsp)\n"
        "    movups %xmm2, 32(%rsp)\n  movups %xmm3, 48(%rsp)\n"
        "    movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n"
        "    movups %xmm6, 96(%rsp)\n  movups %xmm7, 112(%rsp)\n"
        "    mov %r10, %rdi\n"
        "    mov %r11, %rsi\n"
        "    call find_function\n"
        "    mov %rax, %r11\n"
        "    movups (%rsp), %xmm0\n    movups 16(%rsp), %xmm1\n"
        "    movups 32(%rsp), %xmm2\n  movups 48(%rsp), %xmm3\n"
        "    movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n"
        "    movups 96(%rsp), %xmm6\n  movups 112(%rsp), %xmm7\n"
        "    lea -48(%rbp), %rsp\n"
        "    pop %r9\n    pop %r8\n    pop %rcx\n    pop %rdx\n    pop %rsi\n    pop %rdi\n"
        "    pop %rbp\n"
        "    jmp *%r11\n");

/* Stubs -----------------------------------------------------------------------------------------*/

void put_jump(unsigned char *at, const void *target)
{
    static const unsigned char jump[6] = {0xff, 0x25};
    memcpy(at, jump, sizeof jump);
    memcpy(at + sizeof jump, &target, sizeof target);
}

/* jmp *slot; and, where the slot leads at first: the runtime and the index, then the search */
static void put_stub(struct runtime *runtime, unsigned index)
{
    unsigned char *stub = runtime->stubs + (size_t)index * STUB_SIZE, *first = stub + 6;
    static const unsigned char load_runtime[2] = {0x49, 0xba}, load_index[2] = {0x41, 0xbb};
    int32_t distance = (int32_t)((unsigned char *)(runtime->slots + index) - first);
    stub[0] = 0xff, stub[1] = 0x25;
    memcpy(stub + 2, &distance, sizeof distance);
    memcpy(first, load_runtime, 2);
    memcpy(first + 2, &runtime, sizeof runtime);
    memcpy(first + 10, load_index, 2);
    memcpy(first + 12, &index, sizeof index);
    put_jump(first + 16, (const void *)static_runtime_first);
    runtime->slots[index] = first;
}

static size_t whole_pages(size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

/* Room for `count` functions; the runtime lives as long as the process. */
static struct runtime *make_runtime(unsigned count)
{
    struct runtime *runtime = calloc(1, sizeof *runtime);
    size_t stubs = whole_pages((size_t)count * STUB_SIZE);
    size_t slots = whole_pages(count * sizeof *runtime->slots);
    char *place =
        mmap(NULL, stubs + slots, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (runtime)
        runtime->names = calloc(count, sizeof *runtime->names);
    if (!runtime || !runtime->names || place == MAP_FAILED) {
        fprintf(stderr, "lockstep: out of host memory\n");
        exit(1);
    }
    runtime->stubs = (unsigned char *)place;
    runtime->slots = (void **)(place + stubs);
    return runtime;
}

int set_access(uintptr_t from, uintptr_t to, int access)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    from -= from % page;
    return mprotect((void *)from, whole_pages(to - from), access);
}

/* One object ------------------------------------------------------------------------------------*/

int open_image(const char *path, unsigned kind, struct image *image)
{
    struct stat status;
    void *data = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0)
        data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    *image = (struct image){0};
    if (data == MAP_FAILED)
        return 0;
    image->data = data;
    image->size = (size_t)status.st_size;
    return find_symbols(image, kind);
}

void close_image(struct image *image)
{
    if (image->data)
        munmap((void *)image->data, image->size);
}

/* CUDA 12 has two layouts of cudaDeviceProp, CUDA 13 one, and CUDA 11 still has textures by
 * reference: the names tell which runtime it is. */
static int runtime_major(const struct image *image)
{
    if (has_name(image, "cudaBindTexture"))
        return 11;
    return has_name(image, "cudaGetDeviceProperties_v2") ? 12 : 13;
}

static void redirect(const struct image *image, uintptr_t base, const struct image *ours,
                     const char *path)
{
    uintptr_t from = UINTPTR_MAX, to = 0;
    unsigned count = 0;
    for (size_t i = 0; i < image->count; i++) {
        uintptr_t at = base + image->symbols[i].st_value;
        const char *name = runtime_function(image, image->symbols + i);
        if (!name || !is_exported(ours, name))
            continue;
        from = at < from ? at : from;
        to = at + JUMP_SIZE > to ? at + JUMP_SIZE : to;
        count++;
    }
    if (!count || set_access(from, to, PROT_READ | PROT_WRITE) != 0)
        return;
    struct runtime *runtime = make_runtime(count);
    snprintf(runtime->path, sizeof runtime->path, "%s", path);
    for (size_t i = 0; i < image->count; i++) {
        const char *name = runtime_function(image, image->symbols + i);
        if (!name || !is_exported(ours, name))
            continue;
        unsigned index = runtime->count++;
        runtime->names[index] = strdup(name);
        put_stub(runtime, index);
        put_jump((unsigned char *)(base + image->symbols[i].st_value),
                 runtime->stubs + (size_t)index * STUB_SIZE);
    }
    set_access(from, to, PROT_READ | PROT_EXEC);
    mprotect(runtime->stubs, whole_pages((size_t)count * STUB_SIZE), PROT_READ | PROT_EXEC);
}

void static_runtime_redirect(const char *file, uintptr_t base, const char *folder)
{
    struct image image, ours = {0};
    char path[4096];
    if (open_image(file, SHT_SYMTAB, &image) && has_name(&image, "__cudaRegisterFatBinary") &&
        has_name(&image, "cudaGetDeviceProperties")) {
        snprintf(path, sizeof path, "%slibcudart.so.%d", folder, runtime_major(&image));
        if (open_image(path, SHT_DYNSYM, &ours))
            redirect(&image, base, &ours, path);
        close_image(&ours);
    }
    close_image(&image);
}

#else

void static_runtime_redirect(const char *file, uintptr_t base, const char *folder)
{
    (void)file, (void)base, (void)folder; /* our driver says what to do instead */
}

#endif
