// Counts canonical k-mers of simulated reads and prints their abundance spectrum.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kK = 21;
constexpr uint64_t kMask = (uint64_t(1) << (2 * kK)) - 1;

struct KmerHash {
    size_t operator()(uint64_t k) const noexcept {
        uint64_t head = k >> 28, middle = (k >> 14) & 0x3fff, tail = k & 0x3fff;
        return 31 * head + 7 * middle + tail;
    }
};

using KmerTable = std::unordered_map<uint64_t, uint32_t, KmerHash>;

std::string make_genome(size_t n, std::mt19937& rng) {
    static const char base[] = "ACGT";
    std::string g(n, 'A');
    for (size_t i = 0; i < n; ++i) g[i] = base[rng() & 3];
    for (int copy = 0; copy < 12; ++copy) {
        size_t from = rng() % (n - 3000), to = rng() % (n - 3000);
        for (int i = 0; i < 2500; ++i) g[to + i] = g[from + i];
    }
    return g;
}

struct ReadSimulator {
    const std::string& genome;
    std::mt19937& rng;
    size_t length;
    void next(std::string& out) {
        static const char base[] = "ACGT";
        size_t start = rng() % (genome.size() - length);
        out.assign(genome, start, length);
        if (rng() % 4 == 0) out[rng() % length] = base[rng() & 3];
        if (rng() & 1) {
            std::reverse(out.begin(), out.end());
            for (char& c : out) c = c == 'A' ? 'T' : c == 'T' ? 'A' : c == 'C' ? 'G' : 'C';
        }
    }
};

inline uint64_t code(char c) { return c == 'A' ? 0 : c == 'C' ? 1 : c == 'G' ? 2 : 3; }

void count_read(const std::string& read, KmerTable& table) {
    uint64_t fwd = 0, rev = 0;
    int filled = 0;
    for (char c : read) {
        uint64_t v = code(c);
        fwd = ((fwd << 2) | v) & kMask;
        rev = (rev >> 2) | ((3 - v) << (2 * (kK - 1)));
        if (++filled >= kK) ++table[std::min(fwd, rev)];
    }
}

std::vector<uint64_t> spectrum(const KmerTable& table, size_t bins) {
    std::vector<uint64_t> h(bins, 0);
    for (const auto& kv : table) ++h[std::min<size_t>(kv.second, bins - 1)];
    return h;
}

size_t trough(const std::vector<uint64_t>& h) {
    size_t best = 1;
    for (size_t i = 2; i + 1 < h.size(); ++i) {
        if (h[i] > h[i - 1]) break;
        best = i;
    }
    return best;
}

}  // namespace

int main() {
    std::mt19937 rng(2024);
    std::string genome = make_genome(900000, rng);
    KmerTable table;
    table.reserve(1 << 21);
    ReadSimulator sim{genome, rng, 125};
    std::string read;
    for (int i = 0; i < 230000; ++i) {
        sim.next(read);
        count_read(read, table);
    }
    auto h = spectrum(table, 64);
    size_t cut = trough(h);
    uint64_t solid = 0;
    for (size_t i = cut; i < h.size(); ++i) solid += h[i];
    std::printf("distinct %zu cut %zu solid %llu\n", table.size(), cut, (unsigned long long)solid);
    for (size_t i = 1; i < 12; ++i) std::printf("%zu:%llu ", i, (unsigned long long)h[i]);
    std::printf("\n");
    return 0;
}
