// Bit-heavy loops: SHA-256 with a small proof-of-work search, CRC-32 by table in constant memory,
// MD5-like rotations, base64, RC4-like byte shuffles in local memory, a lock-free hash table.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

__constant__ uint32_t K[64];
__constant__ uint32_t crc_table[256];

static const uint32_t host_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ inline uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

__device__ void sha256_block(uint32_t (&state)[8], const uint32_t *block)
{
    uint32_t w[64];
    for (int i = 0; i < 16; i++)
        w[i] = block[i];
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t v[8];
    for (int i = 0; i < 8; i++)
        v[i] = state[i];
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + choice + K[i] + w[i];
        uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        for (int j = 7; j > 0; j--)
            v[j] = v[j - 1];
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        state[i] += v[i];
}

__device__ void sha256_short(const unsigned char *text, int length,
                             uint32_t (&state)[8]) // below 56 bytes
{
    const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    unsigned char bytes[64] = {};
    for (int i = 0; i < length; i++)
        bytes[i] = text[i];
    bytes[length] = 0x80;
    uint32_t block[16];
    for (int i = 0; i < 16; i++)
        block[i] =
            bytes[i * 4] << 24 | bytes[i * 4 + 1] << 16 | bytes[i * 4 + 2] << 8 | bytes[i * 4 + 3];
    block[15] = (uint32_t)length * 8;
    for (int i = 0; i < 8; i++)
        state[i] = start[i];
    sha256_block(state, block);
}

__global__ void hash_texts(const unsigned char *texts, const int *lengths, uint32_t *out)
{
    int t = threadIdx.x;
    uint32_t state[8];
    sha256_short(texts + t * 56, lengths[t], state);
    for (int i = 0; i < 8; i++)
        out[t * 8 + i] = state[i];
}

// The smallest nonce below 2048 for which the hash of "block NNNN" starts with eight zero bits.
__global__ void mine(unsigned *best)
{
    unsigned nonce = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned char text[10] = {'b', 'l', 'o', 'c', 'k', ' ', 0, 0, 0, 0};
    for (unsigned i = 0, n = nonce; i < 4; i++, n /= 10)
        text[9 - i] = (unsigned char)('0' + n % 10);
    uint32_t state[8];
    sha256_short(text, 10, state);
    if (state[0] >> 24 == 0)
        atomicMin(best, nonce);
}

__global__ void crcs(const unsigned char *data, int length, uint32_t *out)
{
    uint32_t crc = ~0u;
    const unsigned char *p = data + threadIdx.x * length;
    for (int i = 0; i < length; i++)
        crc = crc >> 8 ^ crc_table[(crc ^ p[i]) & 255];
    out[threadIdx.x] = ~crc;
}

__global__ void stream_cipher(const unsigned char *keys, unsigned char *out, int n)
{
    unsigned char s[256]; // dynamically indexed: local memory
    const unsigned char *key = keys + threadIdx.x * 8;
    for (int i = 0; i < 256; i++)
        s[i] = (unsigned char)i;
    for (int i = 0, j = 0; i < 256; i++) {
        j = (j + s[i] + key[i & 7]) & 255;
        unsigned char swap = s[i];
        s[i] = s[j], s[j] = swap;
    }
    for (int k = 0, i = 0, j = 0; k < n; k++) {
        i = (i + 1) & 255;
        j = (j + s[i]) & 255;
        unsigned char swap = s[i];
        s[i] = s[j], s[j] = swap;
        out[threadIdx.x * n + k] = s[(s[i] + s[j]) & 255];
    }
}

const unsigned EMPTY = ~0u, SLOTS = 2048;

__global__ void count_words(const unsigned *words, int n, unsigned *keys, unsigned *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned word = words[i], slot = word * 2654435761u >> 21;
    for (;;) {
        unsigned old = atomicCAS(&keys[slot], EMPTY, word);
        if (old == EMPTY || old == word) {
            atomicAdd(&counts[slot], 1u);
            return;
        }
        slot = (slot + 1) & (SLOTS - 1);
    }
}

template <class T> static T *managed(size_t n)
{
    T *p;
    cudaMallocManaged(&p, n * sizeof(T));
    return p;
}

int main()
{
    cudaMemcpyToSymbol(K, host_k, sizeof host_k);
    uint32_t table[256];
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
        table[i] = c;
    }
    cudaMemcpyToSymbol(crc_table, table, sizeof table);

    const char *inputs[] = {"", "abc", "The quick brown fox jumps over the lazy dog", "lockstep"};
    auto *texts = managed<unsigned char>(4 * 56);
    int *lengths = managed<int>(4);
    auto *out = managed<uint32_t>(64);
    for (int i = 0; i < 4; i++) {
        lengths[i] = (int)strlen(inputs[i]);
        memcpy(texts + i * 56, inputs[i], lengths[i]);
    }
    hash_texts<<<1, 4>>>(texts, lengths, out);
    cudaDeviceSynchronize();
    for (int i = 0; i < 4; i++) {
        printf("sha256(%s) = ", inputs[i]);
        for (int k = 0; k < 8; k++)
            printf("%08x", out[i * 8 + k]);
        printf("\n");
    }
    unsigned *best = managed<unsigned>(1);
    *best = ~0u;
    mine<<<16, 128>>>(best);
    cudaDeviceSynchronize();
    printf("nonce %u\n", *best);

    auto *data = managed<unsigned char>(32 * 100);
    for (int i = 0; i < 3200; i++)
        data[i] = (unsigned char)(i * i);
    memcpy(data, "123456789", 9);
    crcs<<<1, 1>>>(data, 9, out);
    cudaDeviceSynchronize();
    printf("crc32 %08x", out[0]);
    crcs<<<1, 32>>>(data, 100, out);
    cudaDeviceSynchronize();
    printf(" %08x %08x\n", out[1], out[31]);
    auto *cipher = managed<unsigned char>(32 * 64);
    stream_cipher<<<1, 32>>>(data, cipher, 64);
    cudaDeviceSynchronize();
    uint32_t digest = 0;
    for (int i = 0; i < 32 * 64; i++)
        digest = digest * 31 + cipher[i];
    printf("cipher %02x %02x %02x digest %08x\n", cipher[0], cipher[64], cipher[2047], digest);

    const int n = 6000;
    auto *words = managed<unsigned>(n), *keys = managed<unsigned>(SLOTS),
         *counts = managed<unsigned>(SLOTS);
    std::vector<unsigned> expected(1000, 0);
    for (int i = 0; i < n; i++)
        expected[words[i] = (unsigned)(i * i + i / 7) % 997]++;
    for (unsigned i = 0; i < SLOTS; i++)
        keys[i] = EMPTY, counts[i] = 0;
    count_words<<<(n + 255) / 256, 256>>>(words, n, keys, counts);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    int distinct = 0, wrong = 0;
    for (unsigned i = 0; i < SLOTS; i++)
        if (keys[i] != EMPTY) {
            distinct++;
            wrong += expected[keys[i]] != counts[i];
        }
    printf("hash table: %d words, wrong %d\n", distinct, wrong);
    return 0;
}
