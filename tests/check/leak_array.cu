// leak_array.cu: an array for textures that is never freed
int main()
{
    cudaArray_t array;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaMallocArray(&array, &format, 64, 64); // expect: leak
#ifdef FIXED
    cudaFreeArray(array);
#endif
}
