// readmap: maps simulated reads to a reference by k-mer seeds and banded
// affine-gap alignment, and reports the accuracy.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>
#include <dwell/probe.h>

namespace {

constexpr int kGenome = 2'000'000;
constexpr int kReads = 7'000;
constexpr int kReadLen = 1000;
constexpr int kSeed = 14;
constexpr int kBand = 64;
constexpr int kMatch = 2, kMismatch = -3, kOpen = -5, kExtend = -1;

uint32_t code(char c) { return c == 'A' ? 0 : c == 'C' ? 1 : c == 'G' ? 2 : 3; }

// All k-mers of the reference in one table: starts of buckets, then positions.
class SeedIndex {
public:
    explicit SeedIndex(const std::string& ref) : start_((size_t{1} << (2 * kSeed)) / 16 + 2) {
        std::vector<uint32_t> bucket(ref.size() - kSeed + 1);
        uint32_t k = 0;
        for (size_t i = 0; i < ref.size(); ++i) {
            k = (k << 2 | code(ref[i])) & kMask;
            if (i + 1 >= kSeed) bucket[i + 1 - kSeed] = fold(k);
        }
        for (uint32_t b : bucket) ++start_[b + 1];
        for (size_t b = 1; b < start_.size(); ++b) start_[b] += start_[b - 1];
        positions_.resize(bucket.size());
        std::vector<uint32_t> fill(start_.begin(), start_.end() - 1);
        for (size_t i = 0; i < bucket.size(); ++i) positions_[fill[bucket[i]]++] = static_cast<uint32_t>(i);
    }

    template <class F>
    void hits(uint32_t kmer, F f) const {
        uint32_t b = fold(kmer);
        for (uint32_t i = start_[b]; i < start_[b + 1]; ++i) f(positions_[i]);
    }

    static constexpr uint32_t kMask = (1u << (2 * kSeed)) - 1;

private:
    static uint32_t fold(uint32_t k) { return (k * 2654435761u) >> 8; }

    std::vector<uint32_t> start_, positions_;
};

class Aligner {
public:
    // Score of the read against ref[at - band, at + length + band), gaps within the band.
    int align(const std::string& read, const std::string& ref, int at) {
        constexpr int width = 2 * kBand + 1;
        constexpr int low = -1'000'000;
        int h[width + 1], e[width + 1];
        std::fill(h, h + width + 1, 0);
        std::fill(e, e + width + 1, low);
        h[width] = low;
        int best = 0;
        for (size_t i = 0; i < read.size(); ++i) {
            int f = low;
            int from = at + static_cast<int>(i) - kBand;
            for (int j = 0; j < width; ++j) {
                int pos = from + j;
                bool inside = pos >= 0 && pos < static_cast<int>(ref.size());
                int diag = h[j] + (inside && ref[pos] == read[i] ? kMatch : kMismatch);
                int up = j + 1 < width ? std::max(h[j + 1] + kOpen, e[j + 1] + kExtend) : low;
                int s = std::max(std::max(0, diag), std::max(up, f));
                h[j] = s;
                e[j] = up;
                f = std::max(s + kOpen, f + kExtend);
                best = std::max(best, s);
            }
        }
        return best;
    }
};

std::string make_genome(std::mt19937& gen) {
    std::string g(kGenome, 'A');
    for (char& c : g) c = "ACGT"[gen() & 3];
    for (int r = 0; r < 60; ++r) {  // repeats
        size_t a = gen() % (kGenome - 600), b = gen() % (kGenome - 600);
        std::copy_n(g.begin() + static_cast<long>(a), 500, g.begin() + static_cast<long>(b));
    }
    return g;
}

std::string make_read(const std::string& genome, size_t at, std::mt19937& gen) {
    std::string r;
    r.reserve(kReadLen);
    for (size_t i = at; r.size() < kReadLen && i < genome.size(); ++i) {
        uint32_t x = gen() % 1000;
        if (x < 8) continue;
        if (x < 16) r += "ACGT"[gen() & 3];
        r += x < 46 ? "ACGT"[gen() & 3] : genome[i];
    }
    r.resize(kReadLen, 'A');
    return r;
}

}  // namespace

int main() {
    std::mt19937 gen(31337);
    const std::string genome = make_genome(gen);
    const SeedIndex index(genome);
    Aligner aligner;
    std::vector<int> diagonals;
    std::vector<std::pair<int, int>> candidates;
    uint64_t alignments = 0, placed = 0, right = 0, score_sum = 0;
    for (int n = 0; n < kReads; ++n) {
        DWELL_STEP();
        size_t truth = gen() % (kGenome - kReadLen - 100);
        const std::string read = make_read(genome, truth, gen);
        diagonals.clear();
        uint32_t k = 0;
        for (int i = 0; i < kReadLen; ++i) {
            k = (k << 2 | code(read[i])) & SeedIndex::kMask;
            if (i + 1 >= kSeed)
                index.hits(k, [&](uint32_t p) { diagonals.push_back((static_cast<int>(p) - (i + 1 - kSeed)) / (kBand / 2)); });
        }
        std::sort(diagonals.begin(), diagonals.end());
        candidates.clear();
        for (size_t i = 0, j; i < diagonals.size(); i = j) {
            for (j = i; j < diagonals.size() && diagonals[j] == diagonals[i]; ++j) {}
            if (j - i >= 3) candidates.emplace_back(-static_cast<int>(j - i), diagonals[i] * (kBand / 2) + kBand / 4);
        }
        std::sort(candidates.begin(), candidates.end());
        if (candidates.size() > 5) candidates.resize(5);
        int best = 0, where = -1;
        for (const auto& [votes, at] : candidates) {
            int s = aligner.align(read, genome, at);
            ++alignments;
            if (s > best) {
                best = s;
                where = at;
            }
        }
        if (where < 0) continue;
        ++placed;
        score_sum += static_cast<uint64_t>(best);
        right += std::abs(where - static_cast<int>(truth)) <= 2 * kBand;
    }
    std::printf("reads %d placed %llu right %llu alignments %llu mean score %.3f\n", kReads, (unsigned long long)placed,
                (unsigned long long)right, (unsigned long long)alignments, double(score_sum) / double(placed));
    return placed > kReads * 9 / 10 ? 0 : 1;
}
