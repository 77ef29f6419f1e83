/*
 * test_front.c: what ptx_parse makes of a text, looked at field by field.
 * Messages and whole files are tested as data by run.sh; here is what the executor
 * relies on: resolved names, constants in their type, targets, layouts, places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "ptx/front.h"

#define HEAD ".version 8.0\n.target sm_90a\n.address_size 64\n"
#define KERNEL_HEAD                                                                                \
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>;"       \
    ".reg .f64 %fd<4>; .shared .align 16 .b8 tile[64];\n"

static struct ptx_module *parse(const char *text)
{
    char *message = NULL;
    struct ptx_module *module = ptx_parse("test", text, strlen(text), &message);
    if (!module)
        print_error("%s", message);
    assert_non_null(module);
    assert_null(message);
    return module;
}

/* A kernel k with these statements. */
static struct ptx_module *parse_body(const char *statements)
{
    struct lk_buf text = {0};
    lk_buf_printf(&text, "%s.visible .entry k(.param .u64 a) {%s%s\n}\n", HEAD, KERNEL_HEAD,
                  statements);
    struct ptx_module *module = parse(text.data);
    lk_buf_free(&text);
    return module;
}

static const struct ptx_inst *inst_of(const struct ptx_module *module, unsigned index)
{
    const struct ptx_function *function = ptx_find_function(module, "k");
    assert_true(index < function->inst_count);
    return &function->insts[index];
}

/* Every suffix of ops.def is a type or a modifier, and every pattern can be read: a bad row makes
 * the first use of the table abort with its name. */
static void rows_are_readable(void **state)
{
    for (unsigned op = 0; op < PTX_OP_COUNT; op++) {
        const struct ptx_op_info *info = &ptx_op_infos[op];
        const struct ptx_row *row = ptx_row_of(op);
        for (const char *at = info->suffixes; *at;) {
            size_t length = strcspn(at, " |[]*");
            if (length && !ptx_find_suffix(at, length))
                fail_msg("%s: suffix .%.*s is in neither mods.def nor types.def", info->name,
                         (int)length, at);
            at += length + (at[length] != 0);
        }
        assert_true(row->slot_count <= PTX_MAX_SLOTS);
        assert_true(info->meaning[0]);
    }
    assert_true(PTX_MOD_COUNT <= 256);
}

/* NAME is the text in capitals, runs of other characters turned into '_'. */
static void modifiers_are_named_after_their_text(void **state)
{
    static const struct {
        const char *name, *text;
    } mods[] = {
#define MOD(name, text) {#name, text},
#include "ptx/mods.def"
#undef MOD
    };
    for (unsigned i = 0; i < sizeof(mods) / sizeof(*mods); i++) {
        char name[64];
        size_t length = 0;
        for (const char *at = mods[i].text; *at; at++) {
            bool is_word = (*at | 32) >= 'a' && (*at | 32) <= 'z';
            is_word |= *at >= '0' && *at <= '9';
            if (is_word)
                name[length++] = *at >= 'a' && *at <= 'z' ? (char)(*at - 32) : *at;
            else if (length && name[length - 1] != '_')
                name[length++] = '_';
        }
        name[length] = 0;
        assert_string_equal(name, mods[i].name);
        assert_int_equal(ptx_find_suffix(mods[i].text, strlen(mods[i].text)), i + 1);
    }
}

static void suffixes_fill_slots(void **state)
{
    struct ptx_module *module = parse_body("ld.global.ca.v2.f32 {%f1, %f2}, [%rd1+8];"
                                           "min.xorsign.abs.f32 %f1, %f2, %f3;"
                                           "add.f32.rn %f1, %f2, %f3;"
                                           "cvt.rn.f16.f32 %h1, %f1;");
    const struct ptx_inst *ld = inst_of(module, 0);
    assert_int_equal(ld->op, PTX_OP_LD);
    assert_true(ptx_has(ld, PTX_MOD_GLOBAL) && ptx_has(ld, PTX_MOD_CA) && ptx_has(ld, PTX_MOD_V2));
    assert_int_equal(ld->slots[0], 0);
    assert_int_equal(ld->slots[1], PTX_MOD_GLOBAL);
    assert_int_equal(ld->slots[2], PTX_MOD_CA);
    assert_int_equal(ld->types[0], PTX_F32);
    assert_int_equal(ld->type_count, 1);
    assert_string_equal(ld->text, "ld.global.ca.v2.f32");
    assert_int_equal(ld->operands[0].kind, PTX_OPERAND_VECTOR);
    assert_int_equal(ld->operands[0].item_count, 2);
    assert_int_equal(ld->operands[0].items[1].type, PTX_F32);
    assert_int_equal(ld->operands[1].kind, PTX_OPERAND_ADDRESS);
    assert_int_equal(ld->operands[1].imm, 8);
    assert_int_equal(inst_of(module, 1)->op, PTX_OP_FMIN);
    assert_true(ptx_has(inst_of(module, 1), PTX_MOD_XORSIGN_ABS));
    assert_int_equal(inst_of(module, 2)->op, PTX_OP_FADD);
    assert_int_equal(inst_of(module, 2)->slots[0], PTX_MOD_RN);
    assert_int_equal(inst_of(module, 3)->types[0], PTX_F16);
    assert_int_equal(inst_of(module, 3)->types[1], PTX_F32);
    assert_int_equal(inst_of(module, 3)->slots[3], PTX_MOD_COUNT + PTX_F16);
    ptx_free(module);
}

static void constants_have_the_bits_of_their_type(void **state)
{
    static const struct {
        const char *text;
        uint64_t bits;
    } cases[] = {
        {"mov.f32 %f1, 0f7FFFFFFF;", 0x7fffffff},
        {"mov.f32 %f1, 1.5;", 0x3fc00000},
        {"mov.f32 %f1, 0d3FF8000000000000;", 0x3fc00000},
        {"mov.f32 %f1, -1.5;", 0xbfc00000},
        {"mov.f64 %fd1, 0f3FC00000;", 0x3ff8000000000000},
        {"mov.f64 %fd1, -0d3FF8000000000000;", 0xbff8000000000000},
        {"mov.b32 %r1, 0f3F800000;", 0x3f800000},
        {"mov.u32 %r1, -1;", 0xffffffff},
        {"mov.s32 %r1, -1;", UINT64_MAX},
        {"mov.b16 %h1, 0x12345;", 0x2345},
        {"mov.u64 %rd1, -1;", UINT64_MAX},
        {"mov.u32 %r1, 1 + 2 * 4 - (6 / 4);", 8},
        {"mov.u32 %r1, 1 << 4 | 0b11;", 19},
        {"mov.u32 %r1, 7 > 3 && 2 != 2 ? 1 : 017;", 15},
        {"mov.s32 %r1, -7 / 2;", (uint64_t)-3},
        {"mov.u64 %rd1, (.u64)-1 / 2;", INT64_MAX},
        {"mov.s64 %rd1, -8 >> 1;", (uint64_t)-4},
        {"mov.u32 %r1, WARP_SZ - 1;", 31},
        {"mov.pred %p1, 2;", 1},
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct ptx_module *module = parse_body(cases[i].text);
        const struct ptx_operand *operand = &inst_of(module, 0)->operands[1];
        assert_int_equal(operand->kind, PTX_OPERAND_IMM);
        if ((uint64_t)operand->imm != cases[i].bits)
            fail_msg("%s gives 0x%llx", cases[i].text, (unsigned long long)operand->imm);
        ptx_free(module);
    }
}

static void operands_are_resolved(void **state)
{
    struct ptx_module *module = parse_body("mov.u32 %r1, %ctaid.y;"
                                           "mov.u32 %r1, %envreg7;"
                                           "mov.u32 %r1, tile+4;"
                                           "mov.u64 %rd1, k;"
                                           "setp.eq.and.s32 %p1|%p2, %r1, 0, !%p3;"
                                           "mov.b64 {%r1, _}, %rd1;"
                                           "ld.shared.u32 %r1, [tile+%r2+-4];"
                                           "vadd4.u32.u32.u32 %r1, %r2.b7610, %r3, %r4;"
                                           "@!%p1 mov.u32 %r1, %tid.w;");
    assert_int_equal(inst_of(module, 0)->operands[1].sreg, PTX_SREG_CTAID_Y);
    assert_int_equal(inst_of(module, 1)->operands[1].sreg, PTX_SREG_ENVREG);
    assert_int_equal(inst_of(module, 1)->operands[1].imm, 7);
    assert_int_equal(inst_of(module, 2)->operands[1].kind, PTX_OPERAND_VAR);
    assert_int_equal(inst_of(module, 2)->operands[1].imm, 4);
    assert_string_equal(inst_of(module, 2)->operands[1].var->name, "tile");
    assert_ptr_equal(inst_of(module, 3)->operands[1].function, ptx_find_function(module, "k"));
    const struct ptx_inst *setp = inst_of(module, 4);
    assert_int_equal(setp->operands[0].type, PTX_PRED);
    assert_int_not_equal(setp->operands[0].pair, PTX_NO_REG);
    assert_true(setp->operands[3].negate);
    assert_int_equal(inst_of(module, 5)->operands[0].items[0].type, PTX_B32);
    assert_int_equal(inst_of(module, 5)->operands[0].items[1].kind, PTX_OPERAND_SINK);
    const struct ptx_operand *address = &inst_of(module, 6)->operands[1];
    assert_non_null(address->var);
    assert_int_not_equal(address->reg, PTX_NO_REG);
    assert_int_equal(address->imm, -4);
    assert_int_equal(inst_of(module, 7)->operands[1].selector, PTX_SELECT_OTHER);
    assert_int_equal(inst_of(module, 7)->operands[1].imm, 0x7610);
    assert_true(inst_of(module, 8)->guard_negate);
    assert_int_equal(inst_of(module, 8)->operands[1].kind, PTX_OPERAND_IMM);
    ptx_free(module);
}

static void vector_moves_become_moves(void **state)
{
    struct ptx_module *module = parse_body(".reg .v2 .u32 %v; mov.v2.u32 %v, {%v.y, %v.x};"
                                           ".reg .v4 .u32 %w; mov.v4.u32 %w, %tid;");
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(inst_of(module, i)->op, PTX_OP_MOV);
    assert_int_equal(inst_of(module, 5)->operands[1].sreg, PTX_SREG_TID_Y);
    assert_int_equal(inst_of(module, 7)->operands[1].kind, PTX_OPERAND_IMM);
    assert_int_equal(inst_of(module, 8)->op, PTX_OP_RET);
    ptx_free(module);
}

static void labels_become_targets(void **state)
{
    struct ptx_module *module =
        parse_body("bra end; L: { bra L; L: mov.u32 %r1, 0; bra L; } @%p1 bra L;"
                   "T: .branchtargets L, end; brx.idx %r1, T; end:");
    assert_int_equal(inst_of(module, 0)->operands[0].target, 6);
    assert_int_equal(inst_of(module, 1)->operands[0].target, 2);
    assert_int_equal(inst_of(module, 3)->operands[0].target, 2);
    assert_int_equal(inst_of(module, 4)->operands[0].target, 1);
    const struct ptx_operand *targets = &inst_of(module, 5)->operands[1];
    assert_int_equal(targets->kind, PTX_OPERAND_TARGETS);
    assert_int_equal(targets->item_count, 2);
    assert_int_equal(targets->items[0].target, 1);
    assert_int_equal(targets->items[1].target, 6);
    assert_int_equal(inst_of(module, 6)->op, PTX_OP_RET);
    assert_int_equal(ptx_find_function(module, "k")->inst_count, 7);
    ptx_free(module);
}

static void bodies_end_in_control(void **state)
{
    static const struct {
        const char *text;
        unsigned count;
    } cases[] = {{"", 1},          {"ret;", 1},  {"@%p1 ret;", 2}, {"exit;", 1},
                 {"L: bra L;", 1}, {"trap;", 1}, {"ret; L:", 2},   {"mov.u32 %r1, 1;", 2}};
    for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct ptx_module *module = parse_body(cases[i].text);
        assert_int_equal(ptx_find_function(module, "k")->inst_count, cases[i].count);
        ptx_free(module);
    }
}

static void inner_registers_shadow_outer_ones(void **state)
{
    struct ptx_module *module =
        parse_body("mov.b32 %r1, 0; { .reg .f32 %r<3>; mov.f32 %r1, 0f00000000;"
                   "mov.b32 %r5, 0; { .reg .b64 %r1; mov.b64 %r1, 0; } }"
                   "mov.b32 %r1, 0;");
    const struct ptx_function *function = ptx_find_function(module, "k");
    const struct ptx_inst *insts = function->insts;
    assert_int_equal(function->regs[insts[0].operands[0].reg].type, PTX_B32);
    assert_int_equal(function->regs[insts[1].operands[0].reg].type, PTX_F32);
    assert_int_equal(function->regs[insts[2].operands[0].reg].type, PTX_B32);
    assert_int_equal(function->regs[insts[3].operands[0].reg].type, PTX_B64);
    assert_int_equal(insts[0].operands[0].reg, insts[4].operands[0].reg);
    assert_string_equal(function->regs[insts[1].operands[0].reg].name, "%r1");
    ptx_free(module);
}

static void initialisers_fill_bytes(void **state)
{
    struct ptx_module *module =
        parse(HEAD ".global .u32 x;\n.global .s32 m[2][3] = { { 1 }, { -4, 5 } };\n"
                   ".global .f32 f[] = { 1.0, 2 };\n.global .v2 .u16 v[2] = { { 1, 2 }, { 3 } };\n"
                   ".global .u64 p[2] = { 0, generic(x)+8 };\n"
                   ".global .b8 q[3] = { 0, 0xFF00(x), 7 };\n");
    const struct ptx_var *m = ptx_find_var(module, "m"), *f = ptx_find_var(module, "f");
    const int32_t ints[6] = {1, 0, 0, -4, 5, 0};
    assert_int_equal(m->size, 24);
    assert_memory_equal(m->init, ints, 24);
    assert_int_equal(f->size, 8);
    assert_memory_equal(f->init, ((float[]){1, 2}), 8);
    const struct ptx_var *v = ptx_find_var(module, "v");
    assert_int_equal(v->align, 4);
    assert_memory_equal(v->init, ((uint16_t[]){1, 2, 3, 0}), 8);
    const struct ptx_reloc *p = ptx_find_var(module, "p")->relocs;
    assert_int_equal(ptx_find_var(module, "p")->reloc_count, 1);
    assert_int_equal(p->offset, 8);
    assert_int_equal(p->addend, 8);
    assert_int_equal(p->bytes, 8);
    assert_true(p->generic);
    assert_ptr_equal(p->var, ptx_find_var(module, "x"));
    const struct ptx_reloc *q = ptx_find_var(module, "q")->relocs;
    assert_int_equal(q->offset, 1);
    assert_int_equal(q->shift, 8);
    assert_int_equal(q->bytes, 1);
    assert_null(ptx_find_var(module, "x")->init);
    ptx_free(module);
}

static void parameters_lie_as_the_driver_puts_them(void **state)
{
    struct ptx_module *module =
        parse(HEAD ".extern .global .u32 x[];\n.visible .global .u32 x[4];\n"
                   ".func f(.param .b32 a);\n"
                   ".visible .entry k(.param .u8 a, .param .u64 b, .param .u32 c,"
                   ".param .align 16 .b8 d[20], .param .u16 e) .maxntid 64, 2 .reqntid 32"
                   ".minnctapersm 3 { ret; }\n.func f(.param .b32 a) { ret; }\n");
    const struct ptx_function *k = ptx_find_function(module, "k");
    const uint32_t offsets[] = {0, 8, 16, 32, 52};
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(k->params[i].var->offset, offsets[i]);
    assert_int_equal(k->param_bytes, 54);
    assert_true(k->is_entry && k->is_visible);
    assert_int_equal(k->max_threads[0], 64);
    assert_int_equal(k->max_threads[1], 2);
    assert_int_equal(k->max_threads[2], 1);
    assert_int_equal(k->required_threads[0], 32);
    assert_int_equal(k->min_blocks, 3);
    assert_int_equal(module->function_count, 2);
    assert_int_equal(module->var_count, 1);
    assert_int_equal(module->vars[0]->size, 16);
    assert_false(module->vars[0]->is_extern);
    assert_int_equal(module->target, 90);
    assert_int_equal(module->target_suffix, 'a');
    ptx_free(module);
}

static void calls_have_three_operands(void **state)
{
    struct ptx_module *module =
        parse(HEAD ".func (.param .b32 r) f(.param .b32 a, .reg .f32 %b);\n.func g() { ret; }\n"
                   ".entry k() { .reg .b32 %r<3>; .reg .b64 %rd; .param .b32 p, q;\n"
                   "call (p), f, (q, 1.0); call g; mov.u64 %rd, g;\n"
                   "P: .callprototype _ (); call %rd, (), P; }\n");
    const struct ptx_inst *first = inst_of(module, 0);
    assert_int_equal(first->operand_count, 3);
    assert_int_equal(first->operands[0].item_count, 1);
    assert_int_equal(first->operands[0].items[0].kind, PTX_OPERAND_VAR);
    assert_ptr_equal(first->operands[1].function, ptx_find_function(module, "f"));
    assert_int_equal(first->operands[2].items[1].imm, 0x3f800000);
    assert_int_equal(inst_of(module, 1)->operands[2].item_count, 0);
    const struct ptx_inst *indirect = inst_of(module, 3);
    assert_int_equal(indirect->operands[1].kind, PTX_OPERAND_REG);
    assert_true(indirect->prototype->is_prototype);
    ptx_free(module);
}

static void places_are_kept(void **state)
{
    struct ptx_module *module =
        parse(HEAD ".entry k() {\n.reg .b32 %r;\n.loc 7 10 5\n  mov.u32 %r, 1;\n"
                   ".loc 8 3 1, function_name S+2, inlined_at 7 10 5\nmov.u32 %r, 2;\n}\n"
                   ".file 7 \"outer.cu\"\n.file 8 \"inner.cu\"\n"
                   ".section .debug_str {\nS:\n.b8 65,0,102,103,0\n}\n");
    const struct ptx_inst *first = inst_of(module, 0), *second = inst_of(module, 1);
    assert_int_equal(first->line, 7);
    assert_int_equal(first->column, 3);
    const struct ptx_loc *outer = &module->locs[first->loc], *inner = &module->locs[second->loc];
    assert_string_equal(module->files[outer->file], "outer.cu");
    assert_int_equal(outer->line, 10);
    assert_string_equal(module->files[inner->file], "inner.cu");
    assert_int_equal(inner->inlined_at, first->loc);
    assert_string_equal(inner->function_name, "fg");
    ptx_free(module);
}

static unsigned line_of(const struct ptx_module *module, unsigned index)
{
    return module->locs[inst_of(module, index)->loc].line;
}

/* A .loc that the program wrote into inline assembly moves nothing: not the assembly, nor what the
 * compiler wrote after it without another .loc. Comments that only look like the marks are none. */
static void inline_assembly_keeps_its_line(void **state)
{
    struct ptx_module *module =
        parse_body("\n.loc 1 6 5\nmov.u32 %r1, 1;\n\t// begin inline asm\n\t.loc 1 10 1\n"
                   "mov.u32 %r2, 2;\n\t// end inline asm\nmov.u32 %r3, 3;\n"
                   "// begin inline asm\n{ .reg .b32 t;\n.loc 1 11 2;\nmov.u32 t, 4;\n"
                   ".loc 1 12 1, function_name S, inlined_at 1 11 2\n}\n// end inline asm \r\n"
                   "mov.u32 %r3, 5;\n.loc 1 7 5\n// begin inline asm\nmov.u32 %r4, 6;\n"
                   ".loc 1 13 1\n// end inline asm\nmov.u32 %r4, 7;\n"
                   "// begin inline asm here\n.loc 1 8 5\nmov.u32 %r4, 8;\nret;\n");
    const unsigned lines[] = {6, 6, 6, 6, 6, 7, 7, 8};
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(line_of(module, i), lines[i]);
    ptx_free(module);
}

/* The same without the marks, as in programs that nvcc made; and by hand, with no tab at all. */
static void unmarked_assembly_is_told_by_its_blank(void **state)
{
    struct ptx_module *module =
        parse_body("\n.loc\t1 6 5\nmov.u32 %r1, 1;\n\n.loc 1 10 1\nmov.u32 %r2, 2;\n\n"
                   "mov.u32 %r3, 3;\n.loc\t1 7 5\nmov.u32 %r3, 4;\nret;\n");
    const unsigned lines[] = {6, 6, 6, 7};
    for (unsigned i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_int_equal(line_of(module, i), lines[i]);
    ptx_free(module);
    module = parse_body("\n.loc 1 6 5\nmov.u32 %r1, 1;\n.loc\t1 7 5\nmov.u32 %r2, 2;\n"
                        ".loc 1 8 5\nret;\n");
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(line_of(module, i), 6 + i);
    ptx_free(module);
}

/* One that never ends holds for its function alone. */
static void open_assembly_ends_with_its_function(void **state)
{
    struct ptx_module *module = parse(HEAD ".func f() {\n// begin inline asm\nret;\n}\n"
                                           ".entry k() {\n.loc 1 4 1\nret;\n}\n");
    assert_int_equal(line_of(module, 0), 4);
    ptx_free(module);
}

/* The same as clang writes it, where there is one. */
static void clang_keeps_lines_of_assembly(void **state)
{
    static const char source[] =
        "__attribute__((nvptx_kernel)) void k(int *p, int n)\n{\n"
        "    int v;\n"
        "    __asm__ volatile(\".loc 1 100 1\\n\\tadd.s32 %0, %1, 1;\" : \"=r\"(v) : \"r\"(n));\n"
        "    __asm__ volatile(\"{\\n\\t.reg .b32 t;\\n\\tmov.b32 t, %1;\\n\\tst.b32 [%0], t;"
        "\\n\\t}\" :: \"l\"(p), \"r\"(v));\n"
        "    __asm__ volatile(\".loc 1 100 1\\n\\tst.b32 [%0], %1;\" :: \"l\"(p), \"r\"(v)); p[8] "
        "= 1;\n"
        "\n\n\n"
        "    p[9] = 2;\n}\n";
    char text[] = "/tmp/lockstep-asm-XXXXXX", command[512];
    int file = mkstemp(text);
    assert_true(file >= 0);
    assert_int_equal(write(file, source, sizeof source - 1), sizeof source - 1);
    close(file);
    snprintf(command, sizeof command,
             "clang=$(scripts/find-clang) && \"$clang\" -x c --target=nvptx64-nvidia-cuda "
             "-march=sm_80 -O1 -S -gline-tables-only -o - %s",
             text);
    FILE *stream = popen(command, "r");
    struct lk_buf ptx = {0};
    char piece[4096];
    for (size_t got; stream && (got = fread(piece, 1, sizeof piece, stream)) > 0;)
        lk_buf_add(&ptx, piece, got);
    bool made = stream && pclose(stream) == 0 && ptx.size;
    unlink(text);
    if (!made) {
        lk_buf_free(&ptx);
        skip();
    }
    struct ptx_module *module = parse(ptx.data);
    const struct ptx_function *k = ptx_find_function(module, "k");
    unsigned stores = 0;
    const unsigned lines[] = {5, 6, 6, 10};
    for (unsigned i = 0; i < k->inst_count; i++)
        if (k->insts[i].op == PTX_OP_ST) {
            assert_true(stores < 4);
            assert_int_equal(line_of(module, i), lines[stores++]);
        }
    assert_int_equal(stores, 4);
    ptx_free(module);
    lk_buf_free(&ptx);
}

/* Whatever is cut off or damaged, there is a message and no crash. */
static void damage_gives_a_message(void **state)
{
    static const char text[] =
        HEAD ".global .u64 x[2] = { 1, generic(x) };\n.func (.param .b32 r) f(.param .b32 a);\n"
             ".visible .entry k(.param .u64 a) { .reg .b32 %r<9>; .reg .pred %p; .loc 1 2 3\n"
             "{ .param .b32 q; L: @!%p bra L; call (q), f, (q); }\n"
             "ld.global.v2.u32 {%r1, %r2}, [x+4]; vadd.s32.s32.s32 %r1, %r2.b1, %r3; ret; }\n";
    size_t size = sizeof(text) - 1;
    char copy[sizeof(text)];
    for (size_t i = 0; i < size * 8; i++) {
        char *message = NULL;
        memcpy(copy, text, sizeof(text));
        size_t cut = i < size ? i : size;
        if (i >= size)
            copy[i % size] = "}{;.%(0\""[i / size];
        struct ptx_module *module = ptx_parse("cut", copy, cut, &message);
        assert_true(!module == !!message);
        ptx_free(module);
        free(message);
    }
}

static void *parse_many(void *unused)
{
    for (int i = 0; i < 50; i++)
        ptx_free(parse_body("add.u32 %r1, %r2, %r3; ret;"));
    return unused;
}

static void threads_can_parse_side_by_side(void **state)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, parse_many, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_can_parse_side_by_side), /* first: it fills the tables */
        cmocka_unit_test(rows_are_readable),
        cmocka_unit_test(modifiers_are_named_after_their_text),
        cmocka_unit_test(suffixes_fill_slots),
        cmocka_unit_test(constants_have_the_bits_of_their_type),
        cmocka_unit_test(operands_are_resolved),
        cmocka_unit_test(vector_moves_become_moves),
        cmocka_unit_test(labels_become_targets),
        cmocka_unit_test(bodies_end_in_control),
        cmocka_unit_test(inner_registers_shadow_outer_ones),
        cmocka_unit_test(initialisers_fill_bytes),
        cmocka_unit_test(parameters_lie_as_the_driver_puts_them),
        cmocka_unit_test(calls_have_three_operands),
        cmocka_unit_test(places_are_kept),
        cmocka_unit_test(inline_assembly_keeps_its_line),
        cmocka_unit_test(unmarked_assembly_is_told_by_its_blank),
        cmocka_unit_test(open_assembly_ends_with_its_function),
        cmocka_unit_test(clang_keeps_lines_of_assembly),
        cmocka_unit_test(damage_gives_a_message),
    };
    return cmocka_run_group_tests_name("ptx front end", tests, NULL, NULL);
}
