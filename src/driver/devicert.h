/*
 * devicert.h: what links need of NVIDIA's device runtime (libcudadevrt), as PTX; what launches
 * kernels, and the like, is the machine's (simt/device_runtime.c). Here are the calls by which
 * kernels compiled with -rdc=true, and Numba's, synchronise a grid. The barrier is the one that
 * cooperative_groups.h uses: the second word of the grid's workspace, whose address is in %envreg1
 * and %envreg2 where the launch was cooperative. Blocks count it up, and the first block's count
 * makes its highest bit flip when all have come.
 */
#ifndef LOCKSTEP_DRIVER_DEVICERT_H
#define LOCKSTEP_DRIVER_DEVICERT_H

/* A text that has this word is linked with the functions. */
#define DEVICERT_MARK "cudaCGGetIntrinsicHandle"

/* NVIDIA's own, which newer libraries have as PTX, has this: it calls what only its driver has. */
#define DEVICERT_VENDORS_MARK "__cuda_syscall_cnp"

#define DEVICERT_TEXT                                                                              \
    ".version 6.3\n.target sm_70\n.address_size 64\n"                                              \
    ".weak .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)\n"               \
    "{\n"                                                                                          \
    "    .reg .b32 %high, %low, %which;\n    .reg .b64 %address;\n    .reg .pred %other;\n"        \
    "    mov.b32 %high, %envreg1;\n"                                                               \
    "    mov.b32 %low, %envreg2;\n"                                                                \
    "    mov.b64 %address, {%low, %high};\n"                                                       \
    "    ld.param.b32 %which, [scope];\n"                                                          \
    "    setp.ne.u32 %other, %which, 1;\n" /* cudaCGScopeGrid */                                   \
    "    @%other mov.b64 %address, 0;\n"                                                           \
    "    st.param.b64 [handle], %address;\n"                                                       \
    "    ret;\n"                                                                                   \
    "}\n"                                                                                          \
    ".weak .func (.param .b32 error) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)\n"   \
    "{\n"                                                                                          \
    "    .reg .b32 %a, %b, %c, %add, %old, %now;\n    .reg .b64 %barrier;\n"                       \
    "    .reg .pred %none, %waits, %first;\n"                                                      \
    "    ld.param.b64 %barrier, [handle];\n"                                                       \
    "    setp.eq.u64 %none, %barrier, 0;\n"                                                        \
    "    @%none bra NOT_COOPERATIVE;\n"                                                            \
    "    add.u64 %barrier, %barrier, 4;\n"                                                         \
    "    barrier.sync 0;\n"                                                                        \
    "    mov.u32 %a, %tid.x;\n    mov.u32 %b, %tid.y;\n    mov.u32 %c, %tid.z;\n"                  \
    "    or.b32 %a, %a, %b;\n    or.b32 %a, %a, %c;\n"                                             \
    "    setp.ne.u32 %waits, %a, 0;\n"                                                             \
    "    @%waits bra TOGETHER;\n"                                                                  \
    "    mov.u32 %a, %ctaid.x;\n    mov.u32 %b, %ctaid.y;\n    mov.u32 %c, %ctaid.z;\n"            \
    "    or.b32 %a, %a, %b;\n    or.b32 %a, %a, %c;\n"                                             \
    "    setp.eq.u32 %first, %a, 0;\n"                                                             \
    "    mov.u32 %a, %nctaid.x;\n    mov.u32 %b, %nctaid.y;\n    mov.u32 %c, %nctaid.z;\n"         \
    "    mul.lo.u32 %a, %a, %b;\n    mul.lo.u32 %a, %a, %c;\n"                                     \
    "    sub.u32 %a, 0x80000001, %a;\n"                                                            \
    "    selp.b32 %add, %a, 1, %first;\n"                                                          \
    "    atom.add.release.gpu.u32 %old, [%barrier], %add;\n"                                       \
    "AGAIN:\n"                                                                                     \
    "    ld.acquire.gpu.u32 %now, [%barrier];\n"                                                   \
    "    xor.b32 %now, %now, %old;\n"                                                              \
    "    setp.ge.s32 %waits, %now, 0;\n"                                                           \
    "    @%waits bra AGAIN;\n"                                                                     \
    "TOGETHER:\n"                                                                                  \
    "    barrier.sync 0;\n"                                                                        \
    "    st.param.b32 [error], 0;\n"                                                               \
    "    ret;\n"                                                                                   \
    "NOT_COOPERATIVE:\n"                                                                           \
    "    st.param.b32 [error], 1;\n" /* cudaErrorInvalidValue */                                   \
    "    ret;\n"                                                                                   \
    "}\n"

#endif
