// Modern C++ in kernels: extended lambdas with captures passed to a generic kernel, __host__
// __device__ lambdas, variadic templates and fold expressions, constexpr tables, if constexpr,
// CRTP, expression templates, operator overloading, structured bindings, a static vector.
// flags: -std=c++17 --extended-lambda --expt-relaxed-constexpr

#include <array>
#include <cstdio>
#include <type_traits>
#include <utility>

template <class F> __global__ void for_each_index(int n, F f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        f(i);
}

template <class F> void parallel_for(int n, F f)
{
    for_each_index<<<(n + 63) / 64, 64>>>(n, f);
    cudaDeviceSynchronize();
}

template <class T, class F> __global__ void reduce_with(const T *in, T *out, int n, T start, F f)
{
    T value = start;
    for (int i = 0; i < n; i++)
        value = f(value, in[i]);
    *out = value;
}

template <class... T> __host__ __device__ constexpr auto sum_of(T... values)
{
    return (values + ... + 0);
}

constexpr std::array<int, 10> squares = [] {
    std::array<int, 10> a{};
    for (int i = 0; i < 10; i++)
        a[i] = i * i;
    return a;
}();

template <class T> __device__ int kind_of(T)
{
    if constexpr (std::is_floating_point_v<T>)
        return sizeof(T) * 10;
    else if constexpr (std::is_signed_v<T>)
        return -(int)sizeof(T);
    else
        return sizeof(T);
}

template <class Derived> struct animal {
    __device__ int speak() const
    {
        return static_cast<const Derived *>(this)->sound() * 2;
    }
};
struct dog : animal<dog> {
    __device__ int sound() const
    {
        return 21;
    }
};

template <class L, class R> struct plus_expression {
    L l;
    R r;
    __host__ __device__ float operator[](int i) const
    {
        return l[i] + r[i];
    }
};
struct vector_view {
    const float *p;
    __host__ __device__ float operator[](int i) const
    {
        return p[i];
    }
};
template <class L, class R> __host__ __device__ plus_expression<L, R> operator+(L l, R r)
{
    return {l, r};
}

template <class E> __global__ void evaluate(E e, float *out, int n)
{
    int i = threadIdx.x;
    if (i < n)
        out[i] = e[i];
}

template <class T, int N> struct static_vector {
    T items[N];
    int count = 0;
    __device__ void push(T x)
    {
        if (count < N)
            items[count++] = x;
    }
    __device__ T *begin()
    {
        return items;
    }
    __device__ T *end()
    {
        return items + count;
    }
};

struct fraction {
    long long n, d;
    __host__ __device__ fraction(long long a = 0, long long b = 1) : n(a), d(b)
    {
        long long x = a < 0 ? -a : a, y = b;
        while (y)
            x %= y, x ^= y, y ^= x, x ^= y;
        n = a / x, d = b / x;
    }
    __host__ __device__ friend fraction operator+(fraction a, fraction b)
    {
        return fraction(a.n * b.d + b.n * a.d, a.d * b.d);
    }
    __host__ __device__ friend fraction operator*(fraction a, fraction b)
    {
        return fraction(a.n * b.n, a.d * b.d);
    }
};

__global__ void vocabulary(int *out)
{
    out[0] = sum_of(1, 2, 3, (int)threadIdx.x);
    out[1] = squares[7];
    out[2] = kind_of(1.0) * 1000000 + kind_of(1.0f) * 1000 + kind_of((short)1) * 10 + kind_of(1ull);
    out[3] = dog().speak();
    static_vector<int, 5> v;
    for (int i = 0; i < 9; i++)
        if (i % 2)
            v.push(i * i);
    int total = 0;
    for (int x : v)
        total = total * 3 + x;
    out[4] = total;
    fraction f(0);
    for (int i = 1; i <= 8; i++)
        f = f + fraction(1, i * (i + 1));
    auto [n, d] = std::pair<long long, long long>(f.n, f.d);
    out[5] = (int)(n * 100 + d);
    auto local = [=](int x) { return x * out[1]; };
    out[6] = local(2);
}

int main()
{
    const int n = 200;
    int *a, *b;
    cudaMallocManaged(&a, n * sizeof(int));
    cudaMallocManaged(&b, n * sizeof(int));
    int factor = 7;
    parallel_for(n, [=] __device__(int i) { a[i] = i * factor; });
    parallel_for(n, [a, b, factor] __device__(int i) { b[n - 1 - i] = a[i] % (factor + 4); });
    auto both = [] __host__ __device__(int x, int y) { return x > y ? x : y; };
    int *result;
    cudaMallocManaged(&result, 64);
    reduce_with<<<1, 1>>>(a, result, n, 0, both);
    reduce_with<<<1, 1>>>(b, result + 1, n, 0, [] __device__(int x, int y) { return x * 3 + y; });
    cudaDeviceSynchronize();
    printf("lambdas: %d %d %d %d, max %d (host says %d), folded %d\n", a[0], a[199], b[0], b[199],
           result[0], both(1393, 5), result[1]);
    float *x, *y;
    cudaMallocManaged(&x, 64 * 4);
    cudaMallocManaged(&y, 64 * 4);
    for (int i = 0; i < 64; i++)
        x[i] = (float)i, y[i] = 0;
    vector_view v{x};
    evaluate<<<1, 64>>>(v + v + (v + v), y, 60);
    cudaDeviceSynchronize();
    printf("expressions: %g %g %g\n", y[1], y[59], y[60]);
    vocabulary<<<1, 1>>>(result);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    for (int i = 0; i < 7; i++)
        printf("%d ", result[i]);
    printf("\n");
    return 0;
}
