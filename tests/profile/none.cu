// A program without kernels.
int main()
{
    return 0;
}
