/*
 * library.c: device code that the program loads itself, as data or from a file.
 */
#include "cudart/cudart.h"

#include <stdint.h>

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, CUjit_option *jitOptions,
                                void **jitOptionsValues, unsigned numJitOptions,
                                CUlibraryOption *libraryOptions, void **libraryOptionValues,
                                unsigned numLibraryOptions)
{
    return CUDART_CALL(cuLibraryLoadData(library, code, jitOptions, jitOptionsValues, numJitOptions,
                                         libraryOptions, libraryOptionValues, numLibraryOptions));
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName,
                                    CUjit_option *jitOptions, void **jitOptionsValues,
                                    unsigned numJitOptions, CUlibraryOption *libraryOptions,
                                    void **libraryOptionValues, unsigned numLibraryOptions)
{
    return CUDART_CALL(cuLibraryLoadFromFile(library, fileName, jitOptions, jitOptionsValues,
                                             numJitOptions, libraryOptions, libraryOptionValues,
                                             numLibraryOptions));
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    return CUDART_CALL(cuLibraryUnload(library));
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library, const char *name)
{
    return CUDART_CALL(cuLibraryGetKernel(pKernel, library, name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
    return CUDART_CALL(cuLibraryGetKernelCount(count, library));
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned numKernels,
                                        cudaLibrary_t library)
{
    return CUDART_CALL(cuLibraryEnumerateKernels(kernels, numKernels, library));
}

cudaError_t cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library,
                                 const char *name)
{
    CUdeviceptr address = 0;
    cudaError_t error = CUDART_CALL(cuLibraryGetGlobal(&address, bytes, library, name));
    if (dptr && !error)
        *dptr = (void *)(uintptr_t)address;
    return error;
}

cudaError_t cudaLibraryGetManaged(void **dptr, size_t *bytes, cudaLibrary_t library,
                                  const char *name)
{
    CUdeviceptr address = 0;
    cudaError_t error = CUDART_CALL(cuLibraryGetManaged(&address, bytes, library, name));
    if (dptr && !error)
        *dptr = (void *)(uintptr_t)address;
    return error;
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, CUfunction_attribute attr,
                                            int value, int device)
{
    return CUDART_CALL(cuKernelSetAttribute(attr, value, kernel, device));
}
