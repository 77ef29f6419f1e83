/*
 * instructions.c: writes docs/instructions.md from ops.def, the one list of instructions.
 * `make docs` keeps its output; tests/docs/run.sh fails when the kept page is stale.
 */
#include "ptx/ptx.h"

#include <stdio.h>
#include <string.h>

static const char *const groups[] = {[PTX_GROUP_INTEGER] = "Integers, logic and shifts",
                                     [PTX_GROUP_VIDEO] = "Video",
                                     [PTX_GROUP_FLOAT] = "f32 and f64",
                                     [PTX_GROUP_APPROX] = "Approximations",
                                     [PTX_GROUP_HALF] = "f16 and bf16",
                                     [PTX_GROUP_COMPARE] = "Comparison and selection",
                                     [PTX_GROUP_MOVE] = "Moves and addresses",
                                     [PTX_GROUP_CONVERT] = "Conversions",
                                     [PTX_GROUP_MEMORY] = "Loads and stores",
                                     [PTX_GROUP_ATOMIC] = "Atomics and fences",
                                     [PTX_GROUP_CONTROL] = "Control",
                                     [PTX_GROUP_BARRIER] = "Barriers",
                                     [PTX_GROUP_WARP] = "Warps",
                                     [PTX_GROUP_ASYNC] = "Asynchronous copies and mbarriers",
                                     [PTX_GROUP_CLUSTER] = "Clusters",
                                     [PTX_GROUP_BULK] = "Bulk copies of tensors, and reductions",
                                     [PTX_GROUP_TENSOR] = "Matrices",
                                     [PTX_GROUP_UNSUPPORTED] =
                                         "Known, not executed: stop with status 3 when reached"};

/* `|` would end the table's cell. */
static void print_cell(const char *text)
{
    for (; *text; text++)
        printf(*text == '|' ? "\\|" : *text == '*' ? "\\*" : "%c", *text);
}

int main(void)
{
    printf("# PTX instructions\n\n"
           "Made from src/ptx/ops.def by `make docs`. `a|b` is required, `[a|b]` is optional.\n");
    for (int group = 0; group < PTX_GROUP_COUNT; group++) {
        printf("\n## %s\n\n| instruction | suffixes | meaning |\n|---|---|---|\n", groups[group]);
        for (int op = 0; op < PTX_OP_COUNT; op++) {
            const struct ptx_op_info *info = &ptx_op_infos[op];
            if ((int)info->group != group)
                continue;
            printf("| %s | ", info->mnemonic);
            print_cell(info->suffixes);
            printf(" | ");
            print_cell(info->meaning);
            printf(" |\n");
        }
    }
    return 0;
}
