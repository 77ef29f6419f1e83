/*
 * classic.c: BLAS calls of levels 1 to 3 that OpenBLAS has under the same name: classic.def lists
 * them with their arguments. All of those are integers and pointers, which the ABIs of x86-64 and
 * AArch64 pass in slots of 64 bits: one function takes them all and reads what the list says.
 */
#include "clients/blas/blas.h"
#include "clients/driver_calls.h"

#include <stdlib.h>
#include <string.h>

enum { ARGUMENTS = 14 };

/* As the call came; scalars of the host are copied. */
struct classic {
    const char *what, *fortran;
    size_t element, real; /* bytes of a number, and of its real part */
    bool wide;            /* integers have 64 bits */
    bool device_scalars;
    uint64_t arguments[ARGUMENTS];
    double scalars[ARGUMENTS][2];
};

typedef void fortran(const void *, const void *, const void *, const void *, const void *,
                     const void *, const void *, const void *, const void *, const void *,
                     const void *, const void *, const void *, const void *);

static int64_t whole(const struct classic *call, size_t i)
{
    return call->wide ? (int64_t)call->arguments[i] : (int32_t)call->arguments[i];
}

/* The letter that Fortran takes for an enumeration's value. */
static char letter(char kind, uint64_t value)
{
    static const struct {
        char kind;
        const char *letters;
    } enums[] = {{'t', "NTC"}, {'u', "LU"}, {'d', "NU"}, {'s', "LR"}};
    for (size_t i = 0; i < sizeof enums / sizeof *enums; i++)
        if (enums[i].kind == kind && (uint32_t)value < strlen(enums[i].letters))
            return enums[i].letters[(uint32_t)value];
    return 0;
}

/* The largest and second size of the call. */
static void sizes(const struct classic *call, int64_t *largest, int64_t *second, double *product)
{
    *largest = *second = 0;
    *product = 1;
    for (size_t i = 0; call->what[i]; i++)
        if (call->what[i] == 'n') {
            int64_t n = whole(call, i);
            *product *= (double)n;
            *second = n > *largest ? *largest : n > *second ? n : *second;
            *largest = n > *largest ? n : *largest;
        }
}

/* At most what it can have written: vectors by their increment, matrices by whole columns. */
static void tell_written(const struct classic *call)
{
    int64_t largest, second;
    double product;
    sizes(call, &largest, &second, &product);
    for (size_t i = 0; call->what[i]; i++) {
        if (!strchr("qQP", call->what[i]) || !largest)
            continue;
        int64_t ld = call->what[i] == 'P' ? 0 : whole(call, i + 1);
        int64_t lines = second ? second : largest;
        size_t elements = call->what[i] == 'Q'   ? (size_t)((largest - 1) * llabs(ld) + 1)
                          : call->what[i] == 'P' ? (size_t)(largest * (largest + 1) / 2)
                                                 : (size_t)(ld * lines);
        lk_library_wrote((const void *)(uintptr_t)call->arguments[i], elements * call->element);
    }
}

/* At least what the call touches: all of a vector; of a matrix what the smallest size says. */
static size_t least_bytes(const struct classic *call, size_t i)
{
    int64_t least = INT64_MAX, count = 0;
    for (size_t at = 0; call->what[at]; at++)
        if (call->what[at] == 'n') {
            least = whole(call, at) < least ? whole(call, at) : least;
            count++;
        }
    bool level1 = count == 1 && !strchr(call->what, 'u');
    int64_t step = call->what[i + 1] == 'l' ? llabs(whole(call, i + 1)) : 0;
    if (!level1 || least <= 0)
        return least > 0 ? call->element : 0;
    return (size_t)((least - 1) * step + 1) * call->element;
}

static void run_classic(void *data)
{
    struct classic *call = data;
    const void *by_reference[ARGUMENTS] = {0};
    char letters[ARGUMENTS];
    int integers[ARGUMENTS];
    for (size_t i = 0; call->what[i]; i++) {
        const void *pointer = (const void *)(uintptr_t)call->arguments[i];
        switch (call->what[i]) {
        case 'n':
        case 'l':
            integers[i] = (int)whole(call, i);
            by_reference[i] = integers + i;
            break;
        case 'a':
        case 'r':
            by_reference[i] =
                !call->device_scalars
                    ? call->scalars[i]
                    : lk_library_bytes(pointer, call->what[i] == 'a' ? call->element : call->real);
            if (!by_reference[i])
                return;
            break;
        case 'p':
        case 'q':
        case 'Q':
        case 'P':
            by_reference[i] = lk_library_bytes(pointer, least_bytes(call, i));
            if (!by_reference[i] && least_bytes(call, i))
                return;
            break;
        default:
            letters[i] = letter(call->what[i], call->arguments[i]);
            by_reference[i] = letters + i;
        }
    }
    const void **a = by_reference;
    fortran *function = (fortran *)blas_function(call->fortran);
    function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
             a[13]);
    tell_written(call);
}

/* What OpenBLAS would stop the program for. */
static bool is_valid(struct classic *call)
{
    for (size_t i = 0; call->what[i]; i++) {
        const void *pointer = (const void *)(uintptr_t)call->arguments[i];
        char kind = call->what[i];
        bool is_scalar = kind == 'a' || kind == 'r';
        if (strchr("tuds", kind) && !letter(kind, call->arguments[i]))
            return false;
        if (kind == 'n' && (whole(call, i) < 0 || whole(call, i) > INT32_MAX))
            return false;
        if (kind == 'l' && (whole(call, i) == 0 || whole(call, i) > INT32_MAX))
            return false;
        if (is_scalar && !pointer)
            return false;
        if (is_scalar && !call->device_scalars)
            memcpy(call->scalars[i], pointer, kind == 'a' ? call->element : call->real);
    }
    return true;
}

/* Level 1: each element once. Level 2: a matrix is read. Level 3: the third size is one of two. */
static void cost(const struct classic *classic, struct lk_library_call *call)
{
    int64_t largest, second;
    double product, each = classic->element == classic->real ? 2 : 8;
    size_t matrices = 0, count = 0;
    sizes(classic, &largest, &second, &product);
    for (size_t i = 0; classic->what[i]; i++) {
        matrices += strchr("pqQP", classic->what[i]) != NULL;
        count += classic->what[i] == 'n';
    }
    bool level3 = strchr(classic->what, 'q') && strpbrk(classic->what, "ts");
    bool level1 = count == 1 && !strchr(classic->what, 'u');
    double elements = (double)largest;
    if (!level1)
        elements *= (double)(second ? second : largest);
    call->operations = each * elements * (level3 ? (double)largest : 1);
    call->bytes = elements * (double)(classic->element * (level3 || level1 ? matrices : 1));
    call->unit = classic->real == 8 ? LK_UNIT_F64 : LK_UNIT_F32;
}

static enum blas_status issue(const char *name, char type, const char *fortran_name,
                              const char *what, bool wide, const struct blas_handle *handle,
                              const uint64_t *arguments)
{
    bool complex = type == 'C' || type == 'Z';
    struct classic classic = {.what = what,
                              .fortran = fortran_name,
                              .real = type == 'D' || type == 'Z' ? 8 : 4,
                              .wide = wide};
    classic.element = complex ? 2 * classic.real : classic.real;
    if (!handle)
        return BLAS_NOT_INITIALIZED;
    classic.device_scalars = handle->device_scalars;
    memcpy(classic.arguments, arguments, strlen(what) * sizeof *arguments);
    if (!is_valid(&classic))
        return BLAS_INVALID_VALUE;
    if (!blas_function(fortran_name))
        return BLAS_NOT_INITIALIZED;
    struct lk_library_call call = {
        .name = name, .function = run_classic, .data = &classic, .size = sizeof classic};
    cost(&classic, &call);
    return blas_status_of(lk_library_call(handle->stream, &call));
}

/* cublasXt's calls return when they are done: their matrices may be the host's. */
static enum blas_status wait_for(enum blas_status status)
{
    return status == BLAS_SUCCESS ? blas_status_of(cuCtxSynchronize()) : status;
}

#define PARAMETERS                                                                                 \
    const struct blas_handle *handle, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e,  \
        uint64_t f, uint64_t g, uint64_t h, uint64_t i, uint64_t j, uint64_t k, uint64_t l,        \
        uint64_t m, uint64_t n
#define CALL(symbol, shown, type, name, what, wide, finish)                                        \
    EXPORT enum blas_status symbol(PARAMETERS);                                                    \
    EXPORT enum blas_status symbol(PARAMETERS)                                                     \
    {                                                                                              \
        const uint64_t all[ARGUMENTS] = {a, b, c, d, e, f, g, h, i, j, k, l, m, n};                \
        return finish(issue(shown, #type[0], name "_", what, wide, handle, all));                  \
    }
#define BLAS(type, name, suffix, fortran, what)                                                    \
    CALL(cublas##type##name##suffix, "cublas" #type #name, type, #fortran, what, false, )          \
    CALL(cublas##type##name##suffix##_64, "cublas" #type #name, type, #fortran, what, true, )
#define XT(type, name, fortran, what)                                                              \
    CALL(cublasXt##type##name, "cublasXt" #type #name, type, #fortran, what, true, wait_for)
#include "clients/blas/classic.def"
