// Re-wraps the entries of a credential store under a new master secret. Every
// entry has its own salt; keys come from PBKDF2-HMAC-SHA256 as the policy asks.
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kEntries = 560;
constexpr int kOldRounds = 8000;
constexpr int kNewRounds = 20000;
constexpr int kWorkers = 2;

using Digest = std::array<uint8_t, 32>;

constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

inline uint32_t rotr(uint32_t v, int n) { return v >> n | v << (32 - n); }

struct State {
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

void compress(State &st, const uint32_t block[16]) {
    uint32_t w[64];
    std::memcpy(w, block, 64);
    for (int i = 16; i < 64; i++) {
        const uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = st.h[0], b = st.h[1], c = st.h[2], d = st.h[3];
    uint32_t e = st.h[4], f = st.h[5], g = st.h[6], h = st.h[7];
    for (int i = 0; i < 64; i++) {
        const uint32_t t1 = h + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                            kRound[i] + w[i];
        const uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    st.h[0] += a, st.h[1] += b, st.h[2] += c, st.h[3] += d;
    st.h[4] += e, st.h[5] += f, st.h[6] += g, st.h[7] += h;
}

// One message block of at most 55 bytes that follows a 64-byte key pad.
void final_block(uint32_t block[16], const uint8_t *msg, size_t n) {
    uint8_t raw[64] = {0};
    std::memcpy(raw, msg, n);
    raw[n] = 0x80;
    for (int i = 0; i < 16; i++)
        block[i] = uint32_t(raw[4 * i]) << 24 | uint32_t(raw[4 * i + 1]) << 16 |
                   uint32_t(raw[4 * i + 2]) << 8 | raw[4 * i + 3];
    block[15] = uint32_t((64 + n) * 8);
}

// HMAC with the two padded-key states computed once for each secret.
class Hmac {
public:
    explicit Hmac(const std::string &secret) { // at most 64 bytes
        uint8_t key[64] = {0};
        std::memcpy(key, secret.data(), secret.size());
        uint32_t in[16], out[16];
        for (int i = 0; i < 16; i++) {
            const uint32_t k = uint32_t(key[4 * i]) << 24 | uint32_t(key[4 * i + 1]) << 16 |
                               uint32_t(key[4 * i + 2]) << 8 | key[4 * i + 3];
            in[i] = k ^ 0x36363636u;
            out[i] = k ^ 0x5c5c5c5cu;
        }
        compress(inner_, in);
        compress(outer_, out);
    }

    // block: prepared final block of the message; the tag is left in its first 8 words
    void tag(uint32_t block[16]) const {
        State s = inner_;
        compress(s, block);
        uint32_t next[16] = {0};
        std::memcpy(next, s.h, 32);
        next[8] = 0x80000000u;
        next[15] = (64 + 32) * 8;
        s = outer_;
        compress(s, next);
        std::memcpy(next, s.h, 32);
        std::memcpy(block, next, 64);
    }

private:
    State inner_, outer_;
};

Digest pbkdf2(const Hmac &mac, const std::string &salt, int rounds) {
    uint8_t first[55];
    std::memcpy(first, salt.data(), salt.size());
    const uint8_t counter[4] = {0, 0, 0, 1};
    std::memcpy(first + salt.size(), counter, 4);
    uint32_t u[16], acc[8];
    final_block(u, first, salt.size() + 4);
    mac.tag(u);
    std::memcpy(acc, u, 32);
    for (int r = 1; r < rounds; r++) {
        mac.tag(u);
        for (int i = 0; i < 8; i++)
            acc[i] ^= u[i];
    }
    Digest d;
    for (int i = 0; i < 32; i++)
        d[i] = uint8_t(acc[i / 4] >> (24 - 8 * (i % 4)));
    return d;
}

struct Entry {
    std::string salt;
    Digest wrapped;
};

} // namespace

int main() {
    const Hmac check("password");
    const Digest known = pbkdf2(check, "salt", 1); // RFC 7914 style self-test
    if (known[0] != 0x12 || known[1] != 0x0f || known[2] != 0xb6) {
        std::fprintf(stderr, "self-test failed\n");
        return 1;
    }
    std::mt19937 rng(5);
    std::vector<Entry> store(kEntries);
    for (auto &e : store) {
        for (int i = 0; i < 16; i++)
            e.salt.push_back(char(rng()));
        for (auto &b : e.wrapped)
            b = uint8_t(rng());
    }
    const Hmac old_secret("correct horse battery staple"), new_secret("tr0ub4dor&3-2026");
    std::atomic<int> cursor{0};
    auto worker = [&] {
        for (int i; (i = cursor.fetch_add(1)) < kEntries;) {
            Entry &e = store[i];
            const Digest from = pbkdf2(old_secret, e.salt, kOldRounds);
            const Digest to = pbkdf2(new_secret, e.salt, kNewRounds);
            for (size_t k = 0; k < to.size(); k++)
                e.wrapped[k] ^= uint8_t(from[k] ^ to[k]);
        }
    };
    std::vector<std::thread> pool;
    for (int i = 0; i < kWorkers; i++)
        pool.emplace_back(worker);
    for (auto &t : pool)
        t.join();
    Digest sum{};
    for (const auto &e : store)
        for (size_t k = 0; k < sum.size(); k++)
            sum[k] ^= e.wrapped[k];
    std::printf("%d entries re-wrapped, digest ", kEntries);
    for (uint8_t b : sum)
        std::printf("%02x", b);
    std::printf("\n");
}
