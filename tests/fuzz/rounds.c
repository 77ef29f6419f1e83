/*
 * rounds.c: runs a fuzz target without libFuzzer, the same inputs each time: every seed, then a
 * fixed number of rounds, each of which changes one seed. `make test` has no time to build the
 * machine once more for libFuzzer; `make fuzz` looks for new inputs.
 *   rounds_NAME ROUNDS SAVE SEED_FILE...
 * The rounds run in a child. If it dies, the input that killed it is written to the file SAVE.
 */
#include "base/arena.h"
#include "base/buf.h"
#include "host/files.h"
#include "mutate.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* A target has these or it does not. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *count, char ***arguments);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
                                                     unsigned seed);

enum { ROOM = 4096 }; /* for an input to grow */

static struct dice bytes_dice = {1};

/* Bytes of any kind: one set, some left out, some twice. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most)
{
    static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff, '\n', ';', '%'};
    struct dice *dice = &bytes_dice;
    size_t at = roll(dice, size), count = roll(dice, (size - at) / 2 + 1);
    switch (roll(dice, 4)) {
    case 0:
        if (size)
            data[at] = edges[roll(dice, sizeof edges)];
        return size;
    case 1:
        if (size)
            data[at] ^= (uint8_t)(1u << roll(dice, 8));
        return size;
    case 2:
        memmove(data + at, data + at + count, size - at - count);
        return size - count;
    default:
        if (size + count > most)
            return size;
        memmove(data + at + count, data + at, size - at);
        return size + count;
    }
}

/* The input of a round depends on nothing but the round and the seeds. */
static uint8_t *input_of(unsigned round, char **files, unsigned count, size_t *size)
{
    struct lk_buf seed = {0};
    char *message = NULL;
    if (!host_read_file(files[round % count], &seed, &message)) {
        fprintf(stderr, "%s\n", message);
        exit(2);
    }
    *size = seed.size;
    uint8_t *data = lk_alloc_zeroed(*size + ROOM);
    memcpy(data, seed.data, *size);
    lk_buf_free(&seed);
    bytes_dice.state = round;
    size_t most = *size + ROOM;
    if (round >= count) /* one step away: of two steps, few leave a text that loads */
        *size = LLVMFuzzerCustomMutator ? LLVMFuzzerCustomMutator(data, *size, most, round)
                                        : LLVMFuzzerMutate(data, *size, most);
    return data;
}

static int run_rounds(unsigned rounds, char **files, unsigned count, volatile unsigned *reached)
{
    if (LLVMFuzzerInitialize)
        LLVMFuzzerInitialize(NULL, NULL);
    for (unsigned round = 0; round < count + rounds; round++) {
        size_t size;
        uint8_t *data = input_of(round, files, count, &size);
        *reached = round;
        alarm(120);
        LLVMFuzzerTestOneInput(data, size);
        free(data);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s ROUNDS SAVE SEED_FILE...\n", argv[0]);
        return 2;
    }
    unsigned count = (unsigned)(argc - 3), rounds = (unsigned)strtoul(argv[1], NULL, 10);
    char **files = argv + 3;
    volatile unsigned *reached =
        mmap(NULL, sizeof *reached, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reached == MAP_FAILED)
        return 2;
    pid_t child = fork();
    if (child == 0)
        return run_rounds(rounds, files, count, reached);
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) < 0)
        return 2;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        printf("%u inputs\n", count + rounds);
        return 0;
    }
    size_t size;
    uint8_t *data = input_of(*reached, files, count, &size);
    FILE *file = fopen(argv[2], "wb");
    if (file && fwrite(data, 1, size, file) == size && fclose(file) == 0)
        fprintf(stderr, "round %u (from %s) failed; its input is in %s\n", *reached,
                files[*reached % count], argv[2]);
    free(data);
    return 1;
}
