/*
 * columns_end.h: forgets what columns.h defined for one WIDTH.
 */
#undef WIDTH
#undef V
#undef NAME
#undef ADD
#undef LOAD
