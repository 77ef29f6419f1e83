"""random_cuda.py: a random CUDA C++ program that compares the GPU with the host.

  random_cuda.py SEED [FUNCTIONS]      the program, on standard output

Its functions are __host__ __device__, so that nvcc's device compiler makes PTX of them and the host's
compiler makes a reference: integers of all widths, floats, halves, bit-fields, unions, switches, nested
loops, arrays with computed indices, pointers of every kind, recursion, calls through pointers, virtual
calls, 128-bit integers and SIMD intrinsics. Every function is run with 256 inputs on both; the program
prints "same", or the functions that differ. What C++ leaves open is avoided: signed arithmetic is done
unsigned, shifts and divisors are masked, NaNs are replaced. Compile it with -fmad=false.
"""
import random
import sys

INTS = ["uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t", "int16_t", "int32_t", "int64_t"]
UNSIGNED = {t: "u" + t.lstrip("u") for t in INTS}

# name, arguments, what the host computes with a, b, c (uint32_t)
INTRINSICS = [
    ("__popc", 1, "(uint32_t)__builtin_popcount(a)"),
    ("__clz", 1, "a ? (uint32_t)__builtin_clz(a) : 32u"),
    ("__ffs", 1, "(uint32_t)__builtin_ffs((int)a)"),
    ("__brev", 1, "lanes(a, 0, 0, 1, [](uint32_t x, uint32_t, uint32_t) { return x; }, true)"),
    ("__umulhi", 2, "(uint32_t)((uint64_t)a * b >> 32)"),
    ("__mulhi", 2, "(uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32)"),
    ("__usad", 3, "(a > b ? a - b : b - a) + c"),
    ("__sad", 3, "((int32_t)a > (int32_t)b ? a - b : b - a) + c"),
    ("__uhadd", 2, "(uint32_t)(((uint64_t)a + b) >> 1)"),
    ("__urhadd", 2, "(uint32_t)(((uint64_t)a + b + 1) >> 1)"),
    ("__hadd", 2, "(uint32_t)(((int64_t)(int32_t)a + (int32_t)b) >> 1)"),
    ("__rhadd", 2, "(uint32_t)(((int64_t)(int32_t)a + (int32_t)b + 1) >> 1)"),
    ("__umul24", 2, "(a & 0xffffff) * (b & 0xffffff)"),
    ("__mul24", 2, "(uint32_t)((int32_t)(a << 8) >> 8) * (uint32_t)((int32_t)(b << 8) >> 8)"),
    ("__funnelshift_l", 3, "(uint32_t)((((uint64_t)b << 32 | a) << (c & 31)) >> 32)"),
    ("__funnelshift_r", 3, "(uint32_t)(((uint64_t)b << 32 | a) >> (c & 31))"),
    ("__funnelshift_lc", 3, "(uint32_t)((((uint64_t)b << 32 | a) << (c < 32 ? c : 32)) >> 32)"),
    ("__funnelshift_rc", 3, "(uint32_t)(((uint64_t)b << 32 | a) >> (c < 32 ? c : 32))"),
    ("__byte_perm", 3, "permute(a, b, c)"),
    ("__dp4a:u", 3, "dot4<uint8_t, uint8_t>(a, b, c)"),
    ("__dp4a:s", 3, "dot4<int8_t, int8_t>(a, b, c)"),
    ("__dp2a_lo:u", 3, "dot2<uint16_t, uint8_t>(a, b, c)"),
    ("__dp2a_hi:s", 3, "dot2<int16_t, int8_t>(a, b >> 16, c)"),
    ("__viaddmax_s32:s", 3, "(uint32_t)std::max((int32_t)(a + b), (int32_t)c)"),
    ("__viaddmin_u32", 3, "std::min(a + b, c)"),
    ("__vimax3_s32:s", 3, "(uint32_t)std::max(std::max((int32_t)a, (int32_t)b), (int32_t)c)"),
    ("__vimin_s32_relu:s", 2, "(uint32_t)std::max(std::min((int32_t)a, (int32_t)b), 0)"),
]
# name: what is done with each part; u and s are parts as numbers, masked to the width when put back
SIMD = {
    "add": "x + y", "sub": "x - y", "avgu": "(x + y + 1) >> 1", "haddu": "(x + y) >> 1",
    "absdiffu": "x > y ? x - y : y - x", "maxu": "x > y ? x : y", "minu": "x < y ? x : y",
    "maxs": "X > Y ? x : y", "mins": "X < Y ? x : y", "absdiffs": "X > Y ? x - y : y - x",
    "cmpeq": "x == y ? ~0u : 0", "cmpne": "x != y ? ~0u : 0", "cmpgtu": "x > y ? ~0u : 0",
    "cmpges": "X >= Y ? ~0u : 0", "cmpltu": "x < y ? ~0u : 0", "cmples": "X <= Y ? ~0u : 0",
    "seteq": "x == y", "setgtu": "x > y", "setlts": "X < Y", "setgeu": "x >= y",
    "addus": "x + y > M ? M : x + y", "subus": "x > y ? x - y : 0",
    "addss": "clamp(X + Y, M)", "subss": "clamp(X - Y, M)",
}
UNARY_SIMD = {"abs": "X < 0 ? 0 - x : x", "neg": "0 - x", "absss": "clamp(X < 0 ? -X : X, M)",
              "negss": "clamp(-X, M)"}
SUMS = {"sadu": "x > y ? x - y : y - x", "sads": "X > Y ? x - y : y - x"}

HEAD = r"""
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define BOTH __host__ __device__

template <class F> uint32_t lanes(uint32_t a, uint32_t b, uint32_t c, unsigned bits, F f, bool reversed = false)
{
    uint32_t mask = bits == 32 ? ~0u : (1u << bits) - 1, all = 0;
    for (unsigned at = 0; at < 32; at += bits)
        all |= (f(a >> at & mask, b >> at & mask, mask) & mask) << (reversed ? 32 - bits - at : at);
    return all;
}
inline uint32_t permute(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t both = (uint64_t)b << 32 | a;
    uint32_t all = 0;
    for (int i = 0; i < 4; i++)
        all |= (uint32_t)(both >> (c >> 4 * i & 7) * 8 & 255) << 8 * i;
    return all;
}
template <class A, class B> uint32_t dot4(uint32_t a, uint32_t b, uint32_t c)
{
    for (int i = 0; i < 4; i++)
        c += (uint32_t)((int32_t)(A)(a >> 8 * i) * (int32_t)(B)(b >> 8 * i));
    return c;
}
template <class A, class B> uint32_t dot2(uint32_t a, uint32_t b, uint32_t c)
{
    for (int i = 0; i < 2; i++)
        c += (uint32_t)((int32_t)(A)(a >> 16 * i) * (int32_t)(B)(b >> 8 * i));
    return c;
}
inline uint32_t clamp(int32_t x, uint32_t mask)
{
    int32_t most = (int32_t)(mask >> 1), least = -most - 1;
    return (uint32_t)(x < least ? least : x > most ? most : x);
}
inline int32_t widen(uint32_t x, uint32_t mask)
{
    return x > mask >> 1 ? (int32_t)(x | ~mask) : (int32_t)x;
}

BOTH inline float settle(float x) { return x == x ? x : 1.5f; }
BOTH inline double settle(double x) { return x == x ? x : 1.5; }
BOTH inline uint64_t bits(float x) { uint32_t b; x = settle(x); memcpy(&b, &x, 4); return b; }
BOTH inline uint64_t bits(double x) { uint64_t b; x = settle(x); memcpy(&b, &x, 8); return b; }
BOTH inline uint64_t bits(__half x) { return bits(__half2float(x)); }
BOTH inline uint64_t bits(__nv_bfloat16 x) { return bits(__bfloat162float(x)); }
BOTH inline float a_float(uint64_t x) { return (float)(int32_t)x * 0x1p-12f; }
BOTH inline double a_double(uint64_t x) { return (double)(int64_t)x * 0x1p-30; }
BOTH inline __half a_half(uint64_t x) { return __float2half_rn((float)(int16_t)x * 0x1p-6f); }
BOTH inline __nv_bfloat16 a_bf16(uint64_t x) { return __float2bfloat16_rn((float)(int16_t)x * 0x1p-6f); }
template <class T> BOTH inline int64_t an_integer(T x)
{
    return x > (T)-1e9 && x < (T)1e9 ? (int64_t)x : 77;
}

struct fields {
    uint32_t a : 3, b : 7;
    int32_t c : 11;
    uint64_t d : 37;
    int64_t e : 20;
};
union pieces {
    uint64_t whole;
    uint32_t words[2];
    uint16_t halves[4];
    int8_t bytes[8];
};
struct packed {
    uint8_t tag;
    uint16_t number;
    uint32_t word;
    uint64_t longs[3];
};
struct shape {
    BOTH virtual uint64_t area(uint64_t x) const = 0;
    BOTH virtual ~shape() {}
};
struct square : shape {
    uint64_t side;
    BOTH square(uint64_t side) : side(side) {}
    BOTH uint64_t area(uint64_t x) const override { return side * side + x; }
};
struct circle : shape {
    uint32_t radius;
    BOTH circle(uint32_t radius) : radius(radius) {}
    BOTH uint64_t area(uint64_t x) const override { return (uint64_t)radius * 3 ^ x >> 3; }
};
"""

TAIL = r"""
int main()
{
    static uint64_t host[FUNCTIONS][THREADS];
    static uint64_t table[64];
    uint64_t *results, *there;
    int wrong = 0;
    for (int i = 0; i < 64; i++)
        table[i] = (i + 1) * 0x9e3779b97f4a7c15ull ^ (uint64_t)i << 50;
    cudaMalloc(&results, sizeof(host));
    cudaMalloc(&there, sizeof(table));
    cudaMemcpy(there, table, sizeof(table), cudaMemcpyHostToDevice);
    cudaDeviceSetLimit(cudaLimitStackSize, 16384);
    for (int f = 0; f < FUNCTIONS; f++) {
        run_one<<<THREADS / 64, 64>>>(f, results + f * THREADS, there);
        for (int i = 0; i < THREADS; i++)
            host[f][i] = call(f, (uint64_t)i * 0xd1342543de82ef95ull + f, table);
    }
    static uint64_t device[FUNCTIONS][THREADS];
    if (cudaMemcpy(device, results, sizeof(host), cudaMemcpyDeviceToHost))
        return printf("%s\n", cudaGetErrorString(cudaGetLastError())), 2;
    for (int f = 0; f < FUNCTIONS; f++)
        for (int i = 0; i < THREADS; i++)
            if (host[f][i] != device[f][i]) {
                printf("function %d, input %d: %016llx on the host, %016llx on the GPU\n", f, i,
                       (unsigned long long)host[f][i], (unsigned long long)device[f][i]);
                wrong++;
                break;
            }
    printf(wrong ? "%d differ\n" : "same\n", wrong);
    return wrong ? 1 : 0;
}
"""


class Writer:
    def __init__(self, rng, index):
        self.rng, self.index, self.lines, self.depth, self.loops = rng, index, [], 1, 0
        self.names = 0
        self.budget = rng.randint(12, 40)

    def put(self, text):
        self.lines.append("    " * self.depth + text)

    def pick(self, items):
        return self.rng.choice(list(items))

    def fresh(self, stem):
        self.names += 1
        return f"{stem}{self.names}"

    # Values: v[0..5] are uint64_t, f[0..3] float, d[0..2] double, h half, g bf16, all in arrays of the
    # function, so that computed indices put them into local memory now and then.
    def value(self):
        roll = self.rng.random()
        if roll < 0.6:
            return f"v{self.rng.randrange(6)}"
        if roll < 0.7:
            return f"a[{self.index_of('v%d' % self.rng.randrange(6), 8)}]"
        if roll < 0.8:
            return f"table[{self.index_of('v%d' % self.rng.randrange(6), 64)}]"
        if roll < 0.85:
            return f"constants[{self.index_of('v%d' % self.rng.randrange(6), 16)}]"
        return f"{self.rng.getrandbits(self.pick([3, 8, 16, 31, 32, 63]))}ull"

    def index_of(self, value, size):
        return f"{value} % {size}"

    def word(self):
        return f"(uint32_t)({self.value()})"

    def target(self):
        return f"v{self.rng.randrange(6)}" if self.rng.random() < 0.85 else f"a[{self.index_of('v0', 8)}]"

    def integer(self):
        kind = self.pick(INTS)
        wide = UNSIGNED[kind]
        x, y = self.value(), self.value()
        work = "uint64_t" if "64" in wide else "uint32_t"
        width = {"uint8_t": 8, "uint16_t": 16, "uint32_t": 32, "uint64_t": 64}[wide]
        op = self.pick(["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%", "<", "==", ">=", "neg", "rot"])
        if op in "+-*&|^":
            text = f"({kind})(({work})({wide})({x}) {op} ({work})({wide})({y}))"
        elif op in ("<<", ">>"):
            left = wide if op == "<<" else kind
            text = f"({kind})(({left})({x}) {op} ({y} & {width - 1}))"
        elif op in "/%":
            left = f"(({kind})({x}) >> 1)" if kind == wide else f"({kind})((({kind})({x})) / 2)"
            text = f"({kind})({left} {op} (({kind})({y} | 1)))"
        elif op == "neg":
            text = f"({kind})(0 - ({work})({wide})({x}))"
        elif op == "rot":
            n = self.rng.randint(1, width - 1)
            text = f"({wide})(({work})({wide})({x}) << {n} | ({work})({wide})({x}) >> {width - n})"
        else:
            text = f"(({kind})({x}) {op} ({kind})({y}) ? {self.value()} : {self.value()})"
        self.put(f"{self.target()} {self.pick(['=', '+=', '^=', '-='])} (uint64_t){text};")

    def wide(self):
        x, y, z = self.value(), self.value(), self.value()
        out = self.target()
        self.put(self.pick([
            f"{out} = (uint64_t)((unsigned __int128)({x}) * ({y}) >> {self.rng.randint(0, 127)});",
            f"{out} ^= (uint64_t)((((unsigned __int128)({x}) << 64 | ({y})) + (({z}) | 1)) >> {self.rng.randint(1, 100)});",
            f"{out} = (uint64_t)(((unsigned __int128)({x}) << 64 | ({y})) / (({z}) >> 20 | 1));",
            f"{out} += (uint64_t)((__int128)(int64_t)({x}) * (int64_t)({y}) >> 64);",
            f"{out} = (uint64_t)(((unsigned __int128)({x}) << 64 | ({y})) % (({z}) | 3));"]))

    def intrinsic(self):
        number = self.rng.randrange(len(CALLS))
        self.put(f"{self.target()} += call_{number}({self.word()}, {self.word()}, {self.word()});")

    def floating(self):
        r, kind = self.rng, self.pick(["float", "float", "double", "half", "bf16"])
        name, count = {"float": ("f", 4), "double": ("d", 3), "half": ("h", 2), "bf16": ("g", 2)}[kind]
        x, y, z = (f"{name}{r.randrange(count)}" for _ in range(3))
        out = f"{name}{r.randrange(count)}"
        if kind in ("half", "bf16"):
            convert = "a_half" if kind == "half" else "a_bf16"
            self.put(self.pick([f"{out} = {x} + {y};", f"{out} = {x} - {y};", f"{out} = {x} * {y};",
                                f"{out} = {x} / {y};", f"{out} = {convert}({self.value()});",
                                f"{self.target()} += bits({x});", f"{out} = {x} < {y} ? {x} : {z};",
                                f"{out} = -{x};", f"f0 = settle((float){x});",
                                f"{out} = __hmin({x}, {y});" if kind == "half" else f"{out} = __hmax({x}, {y});",
                                f"{out} = {'__float2half_rn' if kind == 'half' else '__float2bfloat16_rn'}(f{r.randrange(4)});"]))
            return
        s = "f" if kind == "float" else ""
        other = f"d{r.randrange(3)}" if kind == "float" else f"f{r.randrange(4)}"
        text = self.pick([
            f"{x} + {y}", f"{x} - {y}", f"{x} * {y}", f"{x} / {y}", f"sqrt{s}(fabs{s}({x}))",
            f"fma{s}({x}, {y}, {z})", f"fmin{s}({x}, {y})", f"fmax{s}({x}, {y})", f"floor{s}({x})",
            f"ceil{s}({x})", f"trunc{s}({x})", f"rint{s}({x})", f"({kind}){other}", f"a_{kind}({self.value()})",
            f"copysign{s}({x}, {y})", f"ldexp{s}({x}, (int)({self.value()} % 40) - 20)", f"fmod{s}({x}, {y})",
            f"({kind})(int64_t)({self.value()})", f"({kind})({self.value()})", f"({kind}){self.word()}",
            f"{x} < {y} ? {z} : -{x}", f"nextafter{s}({x}, {y})", f"round{s}({x})", f"fdim{s}({x}, {y})",
            f"remainder{s}({x}, {y})"])
        self.put(f"{out} = settle(({kind})({text}));")
        if r.random() < 0.4:
            self.put(self.pick([f"{self.target()} ^= bits({out});",
                                f"{self.target()} += (uint64_t)an_integer({out});",
                                f"{self.target()} += {x} < {y} || isinf({z});",
                                f"{self.target()} += (uint64_t)llrint(fmod((double){x}, 1e6));"]))

    def memory(self):
        r, x, out = self.rng, self.value(), self.target()
        roll = r.randrange(9)
        if roll == 0:
            self.put(f"bit.{self.pick('abcde')} = ({x});")
            self.put(f"{out} += (uint64_t)(int64_t)bit.{self.pick('abcde')};")
        elif roll == 1:
            self.put(f"u.whole ^= {x}; u.{self.pick(['words[v1 & 1]', 'halves[v2 & 3]', 'bytes[v3 & 7]'])} += {r.randrange(99)};")
            self.put(f"{out} ^= u.whole;")
        elif roll == 2:
            name = self.fresh("p")
            self.put(f"uint64_t *{name} = {self.word()} & 1 ? &a[v1 % 8] : ({self.word()} & 2 ? &v{r.randrange(6)} : longs);")
            self.put(f"*{name} += {x}; {out} ^= *{name};")
        elif roll == 3:
            name = self.fresh("p")
            self.put(f"const uint64_t *{name} = {self.word()} & 4 ? table + ({x}) % 60 : {self.word()} & 8 ? a + v0 % 5 : constants + v2 % 13;")
            self.put(f"{out} += {name}[{r.randrange(3)}] ^ {name}[v4 % 3];")
        elif roll == 4:
            self.put(f"bytes[({x}) % 24] ^= (uint8_t){self.value()};")
            self.put(f"{out} += bytes[({self.value()}) % 24];")
        elif roll == 5:
            name = self.fresh("s")
            self.put(f"packed {name} = one; one.tag += (uint8_t){x}; one.longs[v3 % 3] ^= {self.value()};")
            self.put(f"if ({self.word()} & 16) one = {name};")
            self.put(f"{out} ^= one.longs[v1 % 3] + one.number + {name}.tag;")
        elif roll == 6:
            self.put(f"one.number = (uint16_t)({x}); one.word += one.number * 5u; {out} += one.word;")
        elif roll == 7:
            self.put(f"memcpy((char *)bytes + v2 % 8, &{self.pick(['v1', 'u', 'a[3]', 'd1'])}, {self.pick([1, 2, 3, 5, 8])});")
            self.put(f"{out} ^= bytes[v2 % 8 + {r.randrange(8)}];")
        else:
            name = self.fresh("m")
            self.put(f"uint16_t {name}[3][5] = {{}};")
            self.put(f"for (int i = 0; i < 15; i++) {name}[(i + ({x}) % 7) % 3][i % 5] += (uint16_t)(i * v1);")
            self.put(f"{out} += {name}[v2 % 3][v3 % 5];")

    def call(self):
        r, x, y, out = self.rng, self.value(), self.value(), self.target()
        self.put(self.pick([
            f"{out} += recurse_{self.index}({x}, (int)({y} % 6), table);",
            f"{out} ^= pick_{self.index}({y} % 4)({x}, v1);",
            f"{{ square q({x}); circle c({self.word()}); const shape *w = {self.word()} & 1 ? (const shape *)&q : &c; {out} += w->area({y}); }}",
            f"{{ auto add = [&](uint64_t k) {{ v{r.randrange(6)} += k ^ {x}; return v2 >> 5; }}; {out} ^= add({y}); }}",
            f"{{ uint32_t *room = (uint32_t *)__builtin_alloca(4 * (2 + {y} % 9)); room[1] = (uint32_t){x}; room[0] = room[1] + 3; {out} += room[v1 & 1]; }}",
            f"{out} += twice<{r.randrange(2, 9)}>({x});"]))

    def block(self, most):
        self.depth += 1
        for _ in range(self.rng.randint(1, most)):
            self.statement()
        self.depth -= 1

    def control(self):
        r = self.rng
        roll = r.randrange(6)
        if roll <= 1:
            self.put(f"if ({self.value()} {self.pick(['<', '&', '>', '==', '%'])} ({self.value()} | 1)) {{")
            self.block(3)
            if r.random() < 0.6:
                self.put("} else {")
                self.block(3)
            self.put("}")
        elif roll <= 3 and self.loops < 3:
            name = self.fresh("i")
            self.loops += 1
            self.put(f"for (uint32_t {name} = 0; {name} < {self.pick(['3u', '5u', '(uint32_t)(%s %% 7)' % self.value()])}; {name}++) {{")
            self.depth += 1
            self.put(f"v{r.randrange(6)} += {name};")
            if r.random() < 0.5:
                self.put(f"if ({self.value()} % 5 == {name}) {self.pick(['break', 'continue'])};")
            self.depth -= 1
            self.block(3)
            self.put("}")
            self.loops -= 1
        elif roll == 4:
            count = r.randint(3, 9)
            self.put(f"switch ({self.value()} % {count + 2}) {{")
            for k in range(count):
                self.put(f"case {k}: {{")
                self.block(2)
                self.put("}")
                if r.random() < 0.75:
                    self.put("    break;")
            self.put("default: {")
            self.block(1)
            self.put("}")
            self.put("}")
        elif r.random() < 0.3:
            self.put(f"if ({self.value()} % 11 == 3) return {self.value()} ^ v0;")
        else:
            self.integer()

    def statement(self):
        self.budget -= 1
        if self.budget < 0:
            self.integer()
            return
        roll = self.rng.random()
        for bound, make in ((0.3, self.integer), (0.36, self.wide), (0.46, self.intrinsic), (0.64, self.floating),
                            (0.78, self.memory), (0.86, self.call), (1.1, self.control)):
            if roll < bound:
                make()
                return

    def function(self):
        while self.budget > 0:
            self.statement()
        body = "\n".join(self.lines)
        n, r = self.index, self.rng
        return f"""
BOTH uint64_t leaf0_{n}(uint64_t x, uint64_t y) {{ return x * {r.getrandbits(30)}u + y; }}
BOTH uint64_t leaf1_{n}(uint64_t x, uint64_t y) {{ return x ^ y >> {r.randint(1, 30)}; }}
BOTH uint64_t leaf2_{n}(uint64_t x, uint64_t y) {{ return x < y ? x : y + {r.randrange(99)}; }}
BOTH uint64_t leaf3_{n}(uint64_t x, uint64_t y) {{ return leaf0_{n}(y, x) - leaf1_{n}(x, y); }}
typedef uint64_t (*leaf_{n})(uint64_t, uint64_t);
BOTH leaf_{n} pick_{n}(uint64_t which)
{{
    return which == 0 ? leaf0_{n} : which == 1 ? leaf1_{n} : which == 2 ? leaf2_{n} : leaf3_{n};
}}
BOTH uint64_t recurse_{n}(uint64_t x, int depth, const uint64_t *table)
{{
    uint64_t mine[3] = {{x, x >> 7, table[x % 64]}};
    if (depth <= 0)
        return mine[x % 3];
    uint64_t below = recurse_{n}(mine[(x + 1) % 3] * 5 + 1, depth - 1, table);
    return x & 1 ? below + recurse_{n}(below, depth - 2, table) : below ^ mine[below % 3];
}}
BOTH uint64_t work_{n}(uint64_t seed, const uint64_t *table)
{{
    uint64_t v0 = seed, v1 = seed * 7 + 1, v2 = seed >> 9, v3 = ~seed, v4 = seed << 13, v5 = table[seed % 64];
    uint64_t a[8] = {{v1, v2, v3, v4, v5, 6, 7, 8}}, longs[2] = {{v0 ^ 5, 9}};
    uint8_t bytes[32] = {{1, 2, 3}};
    float f0 = a_float(v1), f1 = a_float(v3), f2 = a_float(v5), f3 = 0.75f;
    double d0 = a_double(v2), d1 = a_double(v4), d2 = -3.25;
    __half h0 = a_half(v1), h1 = a_half(v3);
    __nv_bfloat16 g0 = a_bf16(v2), g1 = a_bf16(v5);
    fields bit = {{1, 2, 3, 4, 5}};
    pieces u = {{v5}};
    packed one = {{3, 4, 5, {{6, 7, 8}}}};
{body}
    uint64_t all = v0 ^ v1 * 3 ^ v2 * 5 ^ v3 * 7 ^ v4 * 9 ^ v5 * 11 ^ u.whole ^ longs[0] ^ longs[1] * 3;
    for (int i = 0; i < 8; i++)
        all = all * 0x100000001b3ull ^ a[i];
    for (int i = 0; i < 32; i++)
        all = all * 31 + bytes[i];
    all ^= bits(f0) * 3 ^ bits(f1) * 5 ^ bits(f2) * 7 ^ bits(f3) * 9;
    all ^= bits(d0) * 11 ^ bits(d1) * 13 ^ bits(d2) * 15;
    all ^= bits(h0) * 17 ^ bits(h1) * 19 ^ bits(g0) * 21 ^ bits(g1) * 23;
    all += bit.a + bit.b + (uint64_t)(int64_t)bit.c + bit.d + (uint64_t)(int64_t)bit.e;
    return all ^ one.tag ^ one.number ^ one.word ^ one.longs[0] ^ one.longs[1] * 3 ^ one.longs[2] * 5;
}}
"""


def simd_calls():
    calls = []
    for count, width in ((2, 16), (4, 8)):
        def lanes(expression):
            return (f"lanes(a, b, 0, {width}, [](uint32_t x, uint32_t y, uint32_t M) {{ "
                    f"int32_t X = widen(x, M), Y = widen(y, M); (void)X; (void)Y; (void)M; "
                    f"return (uint32_t)({expression}); }})")
        calls += [(f"__v{name}{count}", 2, lanes(text)) for name, text in SIMD.items()]
        calls += [(f"__v{name}{count}", 1, lanes(text)) for name, text in UNARY_SIMD.items()]
        for name, text in SUMS.items():
            parts = " + ".join(f"(lanes(a, b, 0, {width}, part) >> {i * width} & {(1 << width) - 1}u)"
                               for i in range(count))
            calls.append((f"__v{name}{count}", 2,
                          f"[&]() {{ auto part = [](uint32_t x, uint32_t y, uint32_t M) {{ int32_t X = widen(x, M), "
                          f"Y = widen(y, M); (void)X; (void)Y; return (uint32_t)({text}); }}; return {parts}; }}()"))
    return calls


CALLS = INTRINSICS + simd_calls()


def intrinsic_functions():
    text = ""
    for number, (name, count, host) in enumerate(CALLS):
        name, _, kind = name.partition(":")
        arguments = ", ".join((f"(int){x}" if kind == "s" else x) for x in "abc"[:count])
        text += (f"BOTH inline uint32_t call_{number}(uint32_t a, uint32_t b, uint32_t c)\n{{\n"
                 f"#ifdef __CUDA_ARCH__\n    return (uint32_t){name}({arguments});\n#else\n    return {host};\n"
                 f"#endif\n}}\n")
    return text


def program(seed, count):
    rng = random.Random(seed)
    text = HEAD + intrinsic_functions()
    text += "template <int N> BOTH uint64_t twice(uint64_t x) { return twice<N - 1>(x * N + 1) ^ x; }\n"
    text += "template <> BOTH inline uint64_t twice<0>(uint64_t x) { return x; }\n"
    numbers = ", ".join(f"{rng.getrandbits(64)}ull" for _ in range(16))
    text += (f"__constant__ uint64_t device_constants[16] = {{{numbers}}};\n"
             f"static const uint64_t host_constants[16] = {{{numbers}}};\n"
             "#ifdef __CUDA_ARCH__\n#define constants device_constants\n#else\n#define constants host_constants\n#endif\n")
    text += f"enum {{ FUNCTIONS = {count}, THREADS = 256 }};\n"
    for index in range(count):
        text += Writer(rng, index).function()
    cases = "\n".join(f"    case {i}: return work_{i}(seed, table);" for i in range(count))
    text += f"BOTH uint64_t call(int f, uint64_t seed, const uint64_t *table)\n{{\n    switch (f) {{\n{cases}\n    }}\n    return 0;\n}}\n"
    text += ("__global__ void run_one(int f, uint64_t *results, const uint64_t *table)\n{\n"
             "    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;\n"
             "    results[i] = call(f, (uint64_t)i * 0xd1342543de82ef95ull + f, table);\n}\n")
    return text + TAIL


if __name__ == "__main__":
    print(f"// random_cuda.py {' '.join(sys.argv[1:])}")
    print(program(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 20))
