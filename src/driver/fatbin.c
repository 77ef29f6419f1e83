/*
 * fatbin.c: see fatbin.h. A container is a 16-byte header and entries; an entry is a header, whose
 * size it names itself, and a payload, which may be packed with LZ4 (nvcc's "speed", and all nvcc
 * before 12.4) or Zstandard. The layout was read off nvcc 13's output; it is not documented.
 */
#include "driver/fatbin.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

/* PTX texts of the largest libraries are some tens of megabytes; a bomb would be more. */
#define UNPACKED_MAX ((size_t)512 << 20)

#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define FLAG_ARCH_SPECIFIC 0x100000u   /* sm_90a */
#define FLAG_FAMILY_SPECIFIC 0x200000u /* sm_100f */

struct container_header {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size; /* of the entries */
};

struct entry_header { /* 64 bytes; options may follow, up to header_size */
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t padded_size;
    uint32_t packed_size; /* 0: not packed */
    uint32_t options_offset;
    uint16_t code_minor, code_major;
    uint32_t arch;
    uint32_t name_offset, name_size;
    uint64_t flags;
    uint64_t reserved;
    uint64_t full_size; /* 0: not packed */
};

_Static_assert(sizeof(struct container_header) == 16, "layout");
_Static_assert(sizeof(struct entry_header) == 64, "layout");

size_t fatbin_size(const void *data)
{
    struct container_header header;
    memcpy(&header, data, sizeof header);
    if (header.magic != FATBIN_MAGIC || header.header_size < sizeof header ||
        header.size > SIZE_MAX / 2)
        return 0;
    return header.header_size + header.size;
}

/* Where the container that holds offset ends, walking from the beginning; several containers may
 * follow one another, with zero padding between them. */
static bool find_container(const uint8_t *data, size_t size, size_t offset, size_t *first,
                           size_t *end, const char **message)
{
    size_t at = 0;
    while (size - at >= sizeof(struct container_header)) {
        struct container_header header;
        memcpy(&header, data + at, sizeof header);
        if (header.magic == 0) {
            at += 4;
            continue;
        }
        if (header.magic != FATBIN_MAGIC) {
            *message = at ? "what follows a fat binary is not one" : "this is not a fat binary";
            return false;
        }
        if (header.header_size < sizeof header || header.header_size > size - at ||
            header.size > size - at - header.header_size) {
            *message = "a fat binary is longer than its memory";
            return false;
        }
        *first = at + header.header_size;
        *end = *first + header.size;
        if (offset < *end)
            return true;
        at = *end;
    }
    *message = NULL;
    return false;
}

bool fatbin_next(const void *data, size_t size, size_t *offset, struct fatbin_entry *entry,
                 const char **message)
{
    const uint8_t *bytes = data;
    size_t first, end;
    struct entry_header header;
    *message = NULL;
    if (size < sizeof(struct container_header)) {
        *message = *offset ? NULL : "this is not a fat binary";
        return false;
    }
    for (;;) {
        if (!find_container(bytes, size, *offset, &first, &end, message))
            return false;
        size_t at = *offset < first ? first : *offset;
        if (end - at < sizeof header) { /* padding at the end of a container */
            *offset = end;
            if (end == first || at == end)
                continue;
            *message = "an entry of a fat binary is cut short";
            return false;
        }
        memcpy(&header, bytes + at, sizeof header);
        if (header.header_size < sizeof header || header.header_size > end - at ||
            header.padded_size > end - at - header.header_size) {
            *message = "an entry of a fat binary reaches over its end";
            return false;
        }
        if (header.packed_size > header.padded_size) {
            *message = "a packed entry of a fat binary is longer than its room";
            return false;
        }
        *offset = at + header.header_size + header.padded_size;
        *entry = (struct fatbin_entry){.kind = header.kind,
                                       .arch = header.arch,
                                       .suffix = header.flags & FLAG_ARCH_SPECIFIC     ? 'a'
                                                 : header.flags & FLAG_FAMILY_SPECIFIC ? 'f'
                                                                                       : 0,
                                       .compressed = (header.flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0,
                                       .data = bytes + at + header.header_size,
                                       .size = header.packed_size ? header.packed_size
                                                                  : header.padded_size,
                                       .full_size = header.full_size,
                                       .flags = header.flags};
        return true;
    }
}

bool fatbin_runs_on(const struct fatbin_entry *entry, unsigned cc_major, unsigned cc_minor)
{
    unsigned device = cc_major * 10 + cc_minor;
    if (entry->suffix == 'a')
        return entry->arch == device;
    if (entry->suffix == 'f') /* the same family: same major, not older */
        return entry->arch / 10 == cc_major && entry->arch <= device;
    return entry->arch <= device;
}

/* Newer targets are better; with the same one, the specific is. */
static bool better(const struct fatbin_entry *a, const struct fatbin_entry *b)
{
    if (a->arch != b->arch)
        return a->arch > b->arch;
    return (a->suffix == 'a') * 2 + (a->suffix == 'f') >
           (b->suffix == 'a') * 2 + (b->suffix == 'f');
}

/* Machine code runs within its major version, on the same minor version and later ones. */
static bool machine_code_fits(const struct fatbin_entry *entry, unsigned cc_major,
                              unsigned cc_minor)
{
    return entry->kind == FATBIN_ELF && entry->arch / 10 == cc_major &&
           fatbin_runs_on(entry, cc_major, cc_minor);
}

bool fatbin_best_ptx(const void *data, size_t size, unsigned cc_major, unsigned cc_minor,
                     struct fatbin_entry *best, struct fatbin_content *content,
                     const char **message)
{
    struct fatbin_entry entry, lowest = {0}, code = {0};
    size_t offset = 0;
    bool found = false, fits = false;
    *content = (struct fatbin_content){0};
    while (fatbin_next(data, size, &offset, &entry, message)) {
        if (entry.kind == FATBIN_ELF)
            content->elf++;
        else if (entry.kind != FATBIN_PTX)
            content->other++;
        else
            content->ptx++;
        fits |= machine_code_fits(&entry, cc_major, cc_minor);
        if (entry.kind == FATBIN_ELF && better(&entry, &code))
            code = entry;
        if (entry.kind != FATBIN_PTX)
            continue;
        if (!fatbin_runs_on(&entry, cc_major, cc_minor)) {
            if (!content->lowest_ptx || entry.arch < content->lowest_ptx)
                content->lowest_ptx = entry.arch;
            if (!entry.suffix && (!lowest.arch || entry.arch < lowest.arch))
                lowest = entry;
        } else if (!found || better(&entry, best)) {
            *best = entry;
            found = true;
        }
    }
    content->elf_arch = code.arch;
    content->elf_suffix = code.suffix;
    content->newer = !found && fits && lowest.arch;
    if (content->newer)
        *best = lowest;
    return found || content->newer;
}

static bool unpack_lz4(const struct fatbin_entry *entry, char *target)
{
    if (entry->size > INT32_MAX || entry->full_size > INT32_MAX)
        return false;
    int got = LZ4_decompress_safe((const char *)entry->data, target, (int)entry->size,
                                  (int)entry->full_size);
    return got >= 0 && (size_t)got == entry->full_size;
}

static bool unpack_zstd(const struct fatbin_entry *entry, char *target)
{
    size_t got = ZSTD_decompress(target, entry->full_size, entry->data, entry->size);
    return !ZSTD_isError(got) && got == entry->full_size;
}

char *fatbin_unpack(const struct fatbin_entry *entry, size_t *size, const char **message)
{
    size_t full = entry->compressed ? entry->full_size : entry->size;
    if (full > UNPACKED_MAX) {
        *message = "an entry of a fat binary is too large";
        return NULL;
    }
    char *text = malloc(full + 1);
    if (!text) {
        *message = "out of memory";
        return NULL;
    }
    bool fine = true;
    if (!entry->compressed)
        memcpy(text, entry->data, full);
    else if (entry->flags & FLAG_ZSTD)
        fine = unpack_zstd(entry, text);
    else
        fine = unpack_lz4(entry, text);
    if (!fine) {
        *message = "a packed entry of a fat binary is damaged";
        free(text);
        return NULL;
    }
    text[full] = 0;
    /* The padding of plain PTX is zeros. */
    *size = entry->kind == FATBIN_PTX ? strnlen(text, full) : full;
    return text;
}
