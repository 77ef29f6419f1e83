/*
 * scan_end.h: forgets what scan_warp.h and each_type.h defined for one type.
 */
#undef T
#undef T_NAME
#undef T4
#undef BITS
#undef FROM_BITS
#undef NAME
#undef NAME2
#undef JOIN2
#undef UP
#undef OF_LANE
#undef SCAN_WARP
#undef SUM_WARP
#undef LOAD4
#undef STORE4
