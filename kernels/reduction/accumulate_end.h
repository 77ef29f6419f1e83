/*
 * accumulate_end.h: forgets what accumulate.h and each_type.h defined for one type.
 */
#undef T
#undef T_NAME
#undef VALUE
#undef WIDEN
#undef LOWEST
#undef HIGHEST
#undef OUT
#undef A
#undef NAME
#undef NAME3
#undef JOIN3
#undef SHUFFLE2
#undef SHUFFLE3
#undef IDENTITY
#undef LIFT
#undef COMBINE
#undef FROM_ABOVE
#undef FINISH
#undef REDUCE_WARP
#undef REDUCE_BLOCK
#undef LEAVE
