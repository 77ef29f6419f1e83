/*
 * test_demangle.c: names of C++ as reports show them, whole and brief. The demangler is the C++
 * runtime's; what is tested is what we cut off, and that odd names stay as they are.
 */
#include "host/demangle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct {
    const char *mangled, *name, *brief;
} names[] = {
    {"plain", "plain", "plain"},
    {"_Z9transposePfPKf", "transpose", "transpose"},
    {"_Z6reduceILi256EEvPfPKf", "reduce<256>", "reduce"},
    {"_Z6reduceILin3EEvPf", "reduce<-3>", "reduce"},
    {"_ZL6hiddenv", "hidden", "hidden"},
    {"_ZN5tools4fillIfLi3EEEvPT_", "tools::fill<float, 3>", "tools::fill"},
    {"_ZN12_GLOBAL__N_11kEv", "(anonymous namespace)::k", "k"},
    {"_ZN1a12_GLOBAL__N_11kIiEEvv", "a::(anonymous namespace)::k<int>", "a::k"},
    {"_ZN16_INTERNAL_a_cu_14stepEv", "_INTERNAL_a_cu_1::step", "step"},
    {"_Z1kIPKfLb1EEvT_", "k<float const*, true>", "k"},
    {"_Z1kI6float4jEvPT_", "k<float4, unsigned int>", "k"},
    {"_Z5applyIJifdEEvv", "apply<int, float, double>", "apply"},
    {"_ZN3cub6detail4scan4InitILi7EEEvv", "cub::detail::scan::Init<7>", "cub::detail::scan::Init"},
    {"_Z3maxIjET_S0_S0_", "max<unsigned int>", "max"},
    {"_Z1kIPFviEEvT_", "k<void (*)(int)>", "k"},
    {"_Z1kIZ4mainEUlvE_EvT_", "k<main::{lambda()#1}>", "k"},
    {"_ZZ4sortPiE4tile", "sort(int*)::tile", "tile"},
    {"_ZZN5tools4sortIiEEvPT_E4tile", "tools::sort<int>(int*)::tile", "tile"},
    {"_ZN5tools5tableE", "tools::table", "tools::table"},
    {"_Z4fillB2v1B3cxxPf", "fill", "fill"},      /* tags */
    {"_ZN8__main__4fillB2v1Ev", "fill", "fill"}, /* Numba's, of a script */
    {"_ZN5shape4fillB2v1Ev", "shape::fill", "shape::fill"},
    {"_Z", "_Z", "_Z"},
    {"_Z99short", "_Z99short", "_Z99short"},
    {"_ZN", "_ZN", "_ZN"},
    {"_Z1kI", "_Z1kI", "_Z1kI"},
    {"_Z1kIS9_E", "_Z1kIS9_E", "_Z1kIS9_E"},
    {"", "", ""},
};

static void names_are_cut(void **state)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char *name = host_demangle(names[i].mangled),
             *brief = host_demangle_briefly(names[i].mangled);
        assert_string_equal(name, names[i].name);
        assert_string_equal(brief, names[i].brief);
        free(name);
        free(brief);
    }
}

/* Brackets of operators do not match; nothing is promised but that it ends. */
static void odd_names_do_no_harm(void **state)
{
    static const char *const odd[] = {"_ZltRK1aS1_", "_ZrsRK1aS1_", "_ZN1acvPFviEEv",
                                      "_ZN1aclEv",   "_ZNK1aclEi",  "_ZdlPv"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        char *name = host_demangle(odd[i]), *brief = host_demangle_briefly(odd[i]);
        assert_non_null(name);
        assert_true(strlen(brief) > 0);
        free(name);
        free(brief);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_cut),
        cmocka_unit_test(odd_names_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
