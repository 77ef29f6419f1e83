/*
 * elf.c: reads the section and dynamic tables of a 64-bit ELF file; see elf.h.
 * The file is not trusted: every offset is checked against its size before it is followed.
 */
#include "toolchain/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined __x86_64__
#define ELF_MACHINE EM_X86_64
#elif defined __aarch64__
#define ELF_MACHINE EM_AARCH64
#else
#define ELF_MACHINE EM_NONE
#endif

struct file {
    const unsigned char *data;
    size_t size;
};

/* count elements of `element` bytes at offset; NULL if they are not all in the file. */
static const void *file_at(struct file file, uint64_t offset, uint64_t count, uint64_t element)
{
    if (offset > file.size || (element && count > (file.size - offset) / element))
        return NULL;
    return file.data + offset;
}

/* The section's header; false if it lies outside. Copied, as nothing says that it is aligned. */
static bool section_at(struct file file, const Elf64_Ehdr *header, unsigned index,
                       Elf64_Shdr *section)
{
    if (index >= header->e_shnum)
        return false;
    const void *place = file_at(file, header->e_shoff, (uint64_t)index + 1, sizeof *section);
    if (place)
        memcpy(section, (const char *)place + index * sizeof *section, sizeof *section);
    return place != NULL;
}

/* A NUL-terminated string of a string table, or NULL. */
static const char *string_at(struct file file, const Elf64_Shdr *table, uint64_t offset)
{
    const char *text = file_at(file, table->sh_offset, table->sh_size, 1);
    if (!text || table->sh_type != SHT_STRTAB || offset >= table->sh_size)
        return NULL;
    size_t room = table->sh_size - offset;
    return strnlen(text + offset, room) < room ? text + offset : NULL;
}

static bool read_dynamic(struct lk_arena *arena, struct file file, const Elf64_Ehdr *header,
                         const Elf64_Shdr *dynamic, struct elf_facts *facts)
{
    Elf64_Shdr strings;
    uint64_t count = dynamic->sh_size / sizeof(Elf64_Dyn);
    const char *entries = file_at(file, dynamic->sh_offset, count, sizeof(Elf64_Dyn));
    if (!entries || !section_at(file, header, dynamic->sh_link, &strings))
        return false;
    for (uint64_t i = 0; i < count; i++) {
        Elf64_Dyn entry;
        memcpy(&entry, entries + i * sizeof entry, sizeof entry);
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RPATH)
            continue;
        const char *text = string_at(file, &strings, entry.d_un.d_val);
        if (!text)
            return false;
        text = lk_arena_strndup(arena, text, strlen(text));
        if (entry.d_tag == DT_NEEDED)
            lk_list_add(&facts->needed, text);
        else
            facts->rpath = text;
    }
    return true;
}

static bool read_sections(struct lk_arena *arena, struct file file, const Elf64_Ehdr *header,
                          struct elf_facts *facts)
{
    Elf64_Shdr names, section;
    if (header->e_shnum == 0)
        return true;
    if (header->e_shentsize != sizeof section ||
        !section_at(file, header, header->e_shstrndx, &names))
        return false;
    for (unsigned i = 0; i < header->e_shnum; i++) {
        const char *name;
        if (!section_at(file, header, i, &section) ||
            !(name = string_at(file, &names, section.sh_name)))
            return false;
        if (strcmp(name, ".nv_fatbin") == 0)
            facts->fatbin = true;
        if (section.sh_type == SHT_SYMTAB)
            facts->symbols = true;
        if (strcmp(name, ".interp") == 0)
            facts->interpreter = true;
        if (section.sh_type == SHT_DYNAMIC && !read_dynamic(arena, file, header, &section, facts))
            return false;
    }
    return true;
}

struct elf_facts elf_read_bytes(struct lk_arena *arena, const void *data, size_t size)
{
    struct elf_facts facts = {.kind = ELF_NOT};
    struct file file = {data, size};
    Elf64_Ehdr header;
    if (size < SELFMAG || memcmp(data, ELFMAG, SELFMAG) != 0)
        return facts;
    facts.kind = ELF_BROKEN;
    if (size < sizeof header)
        return facts;
    memcpy(&header, data, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != ELF_MACHINE || (header.e_type != ET_EXEC && header.e_type != ET_DYN))
        facts.kind = ELF_OTHER;
    else if (read_sections(arena, file, &header, &facts))
        facts.kind = ELF_PROGRAM;
    return facts;
}

struct elf_facts elf_read(struct lk_arena *arena, const char *path)
{
    struct elf_facts facts = {.kind = ELF_UNREADABLE};
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return facts;
    if (fstat(fd, &status) != 0)
        goto out;
    if (S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        goto out;
    }
    facts.kind = ELF_NOT;
    if (!S_ISREG(status.st_mode) || status.st_size == 0)
        goto out;
    void *data = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
        facts.kind = ELF_UNREADABLE;
        goto out;
    }
    facts = elf_read_bytes(arena, data, (size_t)status.st_size);
    munmap(data, (size_t)status.st_size);
out:
    close(fd);
    return facts;
}

void elf_free(struct elf_facts *facts)
{
    lk_list_free(&facts->needed);
}
