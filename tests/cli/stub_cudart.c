/*
 * stub_cudart.c: the four functions that a program without kernels calls in libcudart.so.13.
 * tests/cli/run.sh puts it beside a copy of lockstep, so that these tests need no machine.
 */
void **__cudaRegisterFatBinary(void *fatbin)
{
    static void *handle;
    return &handle;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
}

void __cudaUnregisterFatBinary(void **handle)
{
}

char __cudaInitModule(void **handle)
{
    return 0;
}

int lockstep_stub(void)
{
    return 1;
}
