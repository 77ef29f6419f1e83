/*
 * builtin.c: functions that kernels call and the machine provides: vprintf, malloc, free and
 * __assertfail. Calls of the device runtime are in device_runtime.c.
 */
#include "simt/builtin.h"
#include "simt/watch.h"

#include <stdio.h>
#include <stdlib.h>

/* A string in device memory; false after a fault. */
static bool read_string(struct simt_warp *w, const struct simt_inst *in, uint64_t address, int lane,
                        struct lk_buf *text)
{
    enum { LONGEST = 1 << 20 };
    lk_buf_add(text, "", 0);
    for (int i = 0; i < LONGEST; i++) {
        const uint8_t *byte =
            simt_translate(w, in, PTX_SPACE_GENERIC, address + (uint64_t)i, 1, lane, false);
        if (!byte)
            return false;
        if (!*byte)
            return true;
        lk_buf_add(text, byte, 1);
    }
    return true;
}

/* printf
 * -----------------------------------------------------------------------------------------------
 */

/* Output that waits for a synchronisation; more is written at once. */
enum { PRINT_MOST = 16 << 20 };

struct print_arguments {
    struct simt_warp *w;
    const struct simt_inst *in;
    int lane;
    uint64_t address;
    uint32_t count;
    bool failed;
};

static uint64_t next_argument(struct print_arguments *arguments, uint32_t bytes)
{
    arguments->address = (arguments->address + bytes - 1) & ~(uint64_t)(bytes - 1);
    const uint8_t *host = simt_translate(arguments->w, arguments->in, PTX_SPACE_GENERIC,
                                         arguments->address, bytes, arguments->lane, false);
    uint64_t value = 0;
    arguments->count++;
    if (host)
        memcpy(&value, host, bytes);
    else
        arguments->failed = true;
    arguments->address += bytes;
    return value;
}

struct print_length {
    bool wide;       /* 64 bits */
    unsigned halves; /* h or hh */
};

/* One conversion. specification: % with flags, width and precision, to which the length that suits
 * what is passed here and the letter are added: the program's own length would tell the host's
 * printf to read something else. */
static void print_conversion(struct print_arguments *arguments, char *specification, size_t length,
                             const struct print_length *modifier, char letter, struct lk_buf *out)
{
    bool wide = modifier->wide;
    if (wide && strchr("diuoxX", letter))
        specification[length++] = 'l';
    for (unsigned i = 0; !wide && strchr("diuoxX", letter) && i < modifier->halves && i < 2; i++)
        specification[length++] = 'h';
    specification[length++] = letter;
    specification[length] = 0;
    switch (letter) {
    case 'd':
    case 'i': {
        int64_t value = (int64_t)next_argument(arguments, wide ? 8 : 4);
        if (wide)
            lk_buf_printf(out, specification, (long)value);
        else
            lk_buf_printf(out, specification, (int)value);
        break;
    }
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        if (wide)
            lk_buf_printf(out, specification, (unsigned long)next_argument(arguments, 8));
        else
            lk_buf_printf(out, specification, (unsigned)next_argument(arguments, 4));
        break;
    case 'c':
        lk_buf_printf(out, specification, (int)next_argument(arguments, wide ? 8 : 4));
        break;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A': {
        uint64_t bits = next_argument(arguments, 8);
        double value;
        memcpy(&value, &bits, 8);
        lk_buf_printf(out, specification, value);
        break;
    }
    case 'p':
        lk_buf_printf(out, specification, (void *)(uintptr_t)next_argument(arguments, 8));
        break;
    default: { /* 's' */
        struct lk_buf text = {0};
        uint64_t address = next_argument(arguments, 8);
        if (!arguments->failed)
            arguments->failed =
                !read_string(arguments->w, arguments->in, address, arguments->lane, &text);
        if (!arguments->failed)
            lk_buf_printf(out, specification, text.data);
        lk_buf_free(&text);
    }
    }
}

/* Adds a width or a precision, which may be an argument; larger ones than a line has any use for
 * would only fill the host's memory. */
static size_t add_number(struct print_arguments *arguments, const char **at, char *specification,
                         size_t length)
{
    enum { WIDEST = 4096 };
    long number = 0;
    if (**at == '*') {
        number = (int)next_argument(arguments, 4);
        ++*at;
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number < WIDEST ? number * 10 + (**at - '0') : WIDEST;
    number = number > WIDEST ? WIDEST : number < -WIDEST ? -WIDEST : number;
    return length + (size_t)snprintf(specification + length, 16, "%ld", number);
}

/* From the % on; returns what follows the conversion. */
static const char *print_one(struct print_arguments *arguments, const char *format,
                             struct lk_buf *out)
{
    char specification[64] = "%";
    size_t length = 1, flags = strspn(format + 1, "-+ #0");
    const char *at = format + 1 + flags;
    struct print_length modifier = {0};
    /* A GPU knows no precision that is an argument: it prints the conversion as it stands. So it
     * does with what is not a conversion. */
    size_t head = strspn(format + 1, "-+ #0123456789.*hlLqjzt");
    char letter = format[1 + head];
    if (memmem(format + 1, head, ".*", 2) || !letter || !strchr("diuoxXcfFeEgGaAps", letter)) {
        size_t whole = 1 + head + (letter != 0);
        lk_buf_add(out, format, whole);
        return format + whole;
    }
    for (const char *flag = "-+ #0"; *flag; flag++)
        if (memchr(format + 1, *flag, flags))
            specification[length++] = *flag;
    if (*at == '*' || (*at >= '1' && *at <= '9'))
        length = add_number(arguments, &at, specification, length);
    if (*at == '.') {
        specification[length++] = *at++;
        length = add_number(arguments, &at, specification, length);
    }
    for (; at < format + 1 + head; at++) {
        modifier.wide |= strchr("lqjzt", *at) != NULL;
        modifier.halves += *at == 'h';
    }
    print_conversion(arguments, specification, length, &modifier, letter, out);
    return format + 1 + head + 1;
}

static void print_format(struct print_arguments *arguments, const char *format, struct lk_buf *out)
{
    enum { LONGEST = 64 << 20 }; /* of all lanes together; the rest is lost */
    while (*format && !arguments->failed && out->size < LONGEST) {
        size_t plain = strcspn(format, "%");
        lk_buf_add(out, format, plain);
        format += plain;
        if (format[0] == '%' && format[1] == '%') {
            lk_buf_add(out, "%", 1);
            format += 2;
        } else if (*format) {
            format = print_one(arguments, format, out);
        }
    }
}

static const struct simt_inst *run_vprintf(struct simt_warp *w, const struct simt_inst *in)
{
    const struct simt_call *call = builtin_call(in);
    struct simt_machine *machine = w->block->launch->machine;
    struct lk_buf out = {0};
    bool failed = false;
    for (int lane = 0; lane < SIMT_LANES && !failed; lane++) {
        if (!SIMT_ACTIVE(lane))
            continue;
        struct lk_buf format = {0};
        struct print_arguments arguments = {
            w, in, lane, builtin_argument(w, call, 1, (uint32_t)lane), 0, false};
        failed = !read_string(w, in, builtin_argument(w, call, 0, (uint32_t)lane), lane, &format);
        if (!failed)
            print_format(&arguments, format.data, &out);
        failed |= arguments.failed;
        builtin_return(w, call, (uint32_t)lane, arguments.count);
        lk_buf_free(&format);
    }
    pthread_mutex_lock(&machine->print_lock);
    lk_buf_add(&machine->print, out.data, out.size);
    bool is_full = machine->print.size > PRINT_MOST;
    pthread_mutex_unlock(&machine->print_lock);
    if (is_full)
        simt_flush_printf(machine);
    lk_buf_free(&out);
    return failed ? NULL : in + 1;
}

void simt_flush_printf(struct simt_machine *machine)
{
    pthread_mutex_lock(&machine->print_lock);
    if (machine->print.size) {
        fwrite(machine->print.data, 1, machine->print.size, stdout);
        machine->print.size = 0;
    }
    pthread_mutex_unlock(&machine->print_lock);
}

/* assert
 * --------------------------------------------------------------------------------------------------
 */

static const struct simt_inst *run_assertfail(struct simt_warp *w, const struct simt_inst *in)
{
    const struct simt_call *call = builtin_call(in);
    const uint32_t *size = w->block->launch->launch->block;
    int first = __builtin_ctz(w->mask);
    for (int lane = 0; lane < SIMT_LANES; lane++) {
        if (!SIMT_ACTIVE(lane))
            continue;
        struct lk_buf text[3] = {{0}, {0}, {0}}; /* message, file, function */
        static const uint32_t places[3] = {0, 1, 3};
        bool read = true;
        for (int i = 0; i < 3 && read; i++)
            read = read_string(w, in, builtin_argument(w, call, places[i], (uint32_t)lane), lane,
                               &text[i]);
        uint32_t thread = w->index * SIMT_LANES + (uint32_t)lane;
        if (read)
            fprintf(
                stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                text[1].data, (unsigned)builtin_argument(w, call, 2, (uint32_t)lane), text[2].data,
                w->block->index[0], w->block->index[1], w->block->index[2], thread % size[0],
                thread / size[0] % size[1], thread / size[0] / size[1], text[0].data);
        for (int i = 0; i < 3; i++)
            lk_buf_free(&text[i]);
        if (!read)
            return NULL;
    }
    return simt_raise(w, in, SIMT_FAULT_ASSERT, first, "a device-side assertion failed");
}

/* malloc
 * ----------------------------------------------------------------------------------------------------
 */

struct simt_heap {
    _Atomic size_t used;
};

static struct simt_heap *heap_of(struct simt_machine *machine)
{
    pthread_mutex_lock(&machine->print_lock);
    if (!machine->heap)
        machine->heap = lk_alloc_zeroed(sizeof(*machine->heap));
    pthread_mutex_unlock(&machine->print_lock);
    return machine->heap;
}

void simt_heap_close(struct simt_machine *machine)
{
    free(machine->heap);
    machine->heap = NULL;
}

static uint64_t heap_alloc(struct simt_machine *machine, uint64_t size)
{
    struct simt_heap *heap = heap_of(machine);
    if (size == 0 || size > machine->heap_bytes)
        return 0;
    if (atomic_fetch_add(&heap->used, size) + size > machine->heap_bytes) {
        atomic_fetch_sub(&heap->used, size);
        return 0;
    }
    return simt_memory_alloc(&machine->memory, size, SIMT_MEMORY_DEVICE, SIMT_OWNER_HEAP);
}

uint64_t builtin_heap_malloc(struct simt_warp *w, const struct simt_inst *in, int lane,
                             uint64_t size)
{
    uint64_t address = heap_alloc(w->block->launch->machine, size);
    if (address)
        simt_watch_heap(w, in, lane, WATCH_HEAP_ALLOCATED, address, size);
    return address;
}

bool builtin_heap_free(struct simt_warp *w, const struct simt_inst *in, int lane, uint64_t address)
{
    struct simt_machine *machine = w->block->launch->machine;
    struct simt_allocation found;
    if (!simt_memory_find(&machine->memory, address, &found) || found.address != address ||
        !simt_memory_free(&machine->memory, address, SIMT_OWNER_HEAP)) {
        simt_watch_heap(w, in, lane, WATCH_HEAP_BAD_FREE, address, 0);
        simt_raise(w, in, SIMT_FAULT_TRAP, lane, "free of 0x%llx, which device malloc did not give",
                   (unsigned long long)address);
        return false;
    }
    simt_watch_heap(w, in, lane, WATCH_HEAP_FREED, address, 0);
    atomic_fetch_sub(&heap_of(machine)->used, found.size);
    return true;
}

static const struct simt_inst *run_malloc(struct simt_warp *w, const struct simt_inst *in)
{
    const struct simt_call *call = builtin_call(in);
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++)
        if (SIMT_ACTIVE(lane))
            builtin_return(
                w, call, lane,
                builtin_heap_malloc(w, in, (int)lane, builtin_argument(w, call, 0, lane)));
    return in + 1;
}

static const struct simt_inst *run_free(struct simt_warp *w, const struct simt_inst *in)
{
    const struct simt_call *call = builtin_call(in);
    for (uint32_t lane = 0; lane < SIMT_LANES; lane++) {
        uint64_t address = SIMT_ACTIVE(lane) ? builtin_argument(w, call, 0, lane) : 0;
        if (address && !builtin_heap_free(w, in, (int)lane, address))
            return NULL;
    }
    return in + 1;
}

simt_body *simt_builtin(const char *name)
{
    static const struct {
        const char *name;
        simt_body *run;
    } builtins[] = {{"vprintf", run_vprintf},
                    {"malloc", run_malloc},
                    {"free", run_free},
                    {"__assertfail", run_assertfail}};
    for (size_t i = 0; i < sizeof(builtins) / sizeof(*builtins); i++)
        if (strcmp(builtins[i].name, name) == 0)
            return builtins[i].run;
    return simt_builtin_runtime(name);
}
