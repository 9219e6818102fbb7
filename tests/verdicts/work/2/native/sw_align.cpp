// Aligns simulated reads to a reference window with banded affine Smith-Waterman.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

struct Scoring {
    int match = 2, mismatch = -4, open = 5, extend = 1;
};

struct Hit {
    int score = 0;
    int ref_end = 0;
    int read_end = 0;
};

class Aligner {
public:
    Aligner(Scoring s, int band) : band_(band), open_(s.open), extend_(s.extend) {
        for (int a = 0; a < 4; ++a)
            for (int b = 0; b < 4; ++b) score_[a * 4 + b] = a == b ? s.match : s.mismatch;
    }

    Hit align(const std::vector<uint8_t>& ref, size_t ref_from, size_t ref_len, const std::vector<uint8_t>& read) {
        const int n = int(read.size()), m = int(ref_len);
        h_.assign(size_t(m) + 1, 0);
        e_.assign(size_t(m) + 1, -1000000);
        Hit best;
        const uint8_t* window = ref.data() + ref_from;
        for (int i = 1; i <= n; ++i) {
            int from = std::max(1, i - band_), to = std::min(m, i + band_);
            int diagonal = h_[from - 1], f = -1000000;
            if (from > 1) h_[from - 1] = 0;
            const int* row = &score_[read[i - 1] * 4];
            int left = h_[from - 1];
            for (int j = from; j <= to; ++j) {
                int up = h_[j];
                int e = std::max(e_[j] - extend_, up - open_);
                f = std::max(f - extend_, left - open_);
                int h = std::max(std::max(0, diagonal + row[window[j - 1]]), std::max(e, f));
                e_[j] = e;
                h_[j] = h;
                diagonal = up;
                left = h;
                if (h > best.score) best = {h, j, i};
            }
        }
        return best;
    }

private:
    int band_, open_, extend_;
    std::array<int, 16> score_;
    std::vector<int> h_, e_;
};

class Simulator {
public:
    Simulator(const std::vector<uint8_t>& ref, uint32_t seed) : ref_(ref), rng_(seed) {}
    size_t next(std::vector<uint8_t>& read, size_t length) {
        size_t start = rng_() % (ref_.size() - 2 * length);
        read.clear();
        size_t p = start;
        while (read.size() < length) {
            uint32_t k = rng_() % 200;
            if (k == 0) {
                ++p;
            } else if (k == 1) {
                read.push_back(uint8_t(rng_() & 3));
            } else if (k < 5) {
                read.push_back(uint8_t(rng_() & 3));
                ++p;
            } else {
                read.push_back(ref_[p++]);
            }
        }
        return start;
    }

private:
    const std::vector<uint8_t>& ref_;
    std::mt19937 rng_;
};

int main() {
    std::mt19937 rng(4);
    std::vector<uint8_t> ref(500000);
    for (auto& b : ref) b = uint8_t(rng() & 3);
    Simulator sim(ref, 99);
    Aligner aligner(Scoring{}, 48);
    std::vector<uint8_t> read;
    std::array<uint64_t, 8> histogram{};
    uint64_t total = 0;
    for (int i = 0; i < 42000; ++i) {
        size_t start = sim.next(read, 400);
        Hit hit = aligner.align(ref, start, 460, read);
        total += uint64_t(hit.score);
        histogram[std::min<size_t>(7, size_t(hit.score) / 110)]++;
    }
    std::printf("total %llu :", (unsigned long long)total);
    for (auto h : histogram) std::printf(" %llu", (unsigned long long)h);
    std::printf("\n");
    return 0;
}
