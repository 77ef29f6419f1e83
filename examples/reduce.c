/*
 * reduce.c: the sum and the place of the largest of a million numbers, on a GPU or a simulated one.
 *   cc reduce.c $(pkg-config --cflags --libs lockstep) -o reduce && ./reduce
 *   LOCKSTEP_GPU=sim:t4 ./reduce 1000
 */
#include <lockstep.h>

#include <stdio.h>
#include <stdlib.h>

/* Every call returns a status; lk_last_error says what went wrong, and what to do. */
static void must(lk_status status)
{
    if (status == LK_OK)
        return;
    fprintf(stderr, "%s\n", lk_last_error());
    exit(1);
}

int main(int argc, char **argv)
{
    int64_t n = argc > 1 ? atoll(argv[1]) : 1000000;
    size_t count = n > 0 ? (size_t)n : 0, bytes, more;
    float *numbers = malloc((count + 1) * sizeof *numbers), *in, *sum, result;
    int64_t *place, where;
    void *workspace;
    char text[1024];
    if (!numbers)
        return 1;
    for (size_t i = 0; i < count; i++)
        numbers[i] = (float)(i * 7919 % 1000) / 1000;

    must(lk_open(NULL));
    must(lk_gpu_name(text, sizeof text));
    printf("on %s\n", text);

    /* One workspace for both calls: the larger of the two. */
    must(lk_reduce_sum_f32_workspace(n, &bytes));
    must(lk_reduce_argmax_f32_workspace(n, &more));
    bytes = more > bytes ? more : bytes;
    must(lk_malloc(&workspace, bytes));
    must(lk_malloc((void **)&in, count * sizeof *in));
    must(lk_malloc((void **)&sum, sizeof *sum));
    must(lk_malloc((void **)&place, sizeof *place));
    must(lk_copy_to(in, numbers, count * sizeof *in));

    must(lk_reduce_sum_f32(NULL, in, n, sum, workspace, bytes));
    must(lk_reduce_argmax_f32(NULL, in, n, place, workspace, bytes));
    must(lk_copy_from(&result, sum, sizeof result)); /* waits for the kernels */
    must(lk_copy_from(&where, place, sizeof where));
    printf("the sum is %g, the largest is at %lld\n", result, (long long)where);

    must(lk_reduce_explain("sum_f32", n, text, sizeof text));
    fputs(text, stdout);

    must(lk_free(in));
    must(lk_free(sum));
    must(lk_free(place));
    must(lk_free(workspace));
    free(numbers);
    return 0;
}
