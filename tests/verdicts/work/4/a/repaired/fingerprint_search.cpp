// Similarity search in a compound library: Tanimoto coefficient over 1024-bit
// structural fingerprints, best hits per query compound.
#include <dwell/probe.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <queue>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr size_t kWords = 16;
constexpr size_t kLibrary = 30000;
constexpr size_t kScaffolds = 250;
constexpr size_t kQueries = 2700;
constexpr size_t kTop = 10;
constexpr double kThreshold = 0.35;

struct Compound {
    std::string name;
    std::string smiles;
    std::vector<uint64_t> bits;
    std::vector<float> descriptors;   // mass, logP, donors, acceptors, ...
    uint32_t popcount = 0;
};

uint32_t count_bits(uint64_t v) {
    v -= v >> 1 & 0x5555555555555555ull;
    v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
    v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return uint32_t(v * 0x0101010101010101ull >> 56);
}

uint32_t population(const std::vector<uint64_t>& bits) {
    uint32_t n = 0;
    for (uint64_t w : bits) n += count_bits(w);
    return n;
}

class Library {
public:
    void add(std::string name, std::string smiles, std::vector<uint64_t> bits,
             std::vector<float> descriptors) {
        Compound c;
        c.name = std::move(name);
        c.smiles = std::move(smiles);
        c.descriptors = std::move(descriptors);
        c.popcount = population(bits);
        c.bits = std::move(bits);
        compounds_.push_back(std::move(c));
    }
    size_t size() const { return compounds_.size(); }
    auto begin() const { return compounds_.begin(); }
    auto end() const { return compounds_.end(); }
    const Compound& at(size_t i) const { return compounds_.at(i); }

private:
    std::vector<Compound> compounds_;
};

struct Hit {
    double score;
    std::string name, smiles;
    bool operator<(const Hit& o) const {
        return score != o.score ? score > o.score : name < o.name;
    }
};

double tanimoto(const Compound& a, const Compound& b) {
    uint32_t common = 0;
    for (size_t w = 0; w < kWords; ++w) common += count_bits(a.bits[w] & b.bits[w]);
    return double(common) / double(a.popcount + b.popcount - common);
}

// Rough agreement of the bulk properties that the chemists ask for.
bool comparable(const Compound& a, const Compound& b) {
    return std::fabs(a.descriptors[0] - b.descriptors[0]) < 120 &&
           std::fabs(a.descriptors[1] - b.descriptors[1]) < 2.5f;
}

// An upper bound on the coefficient, from the sizes alone.
bool can_reach(const Compound& a, const Compound& b, double score) {
    uint32_t lo = std::min(a.popcount, b.popcount), hi = std::max(a.popcount, b.popcount);
    return double(lo) >= score * double(hi);
}

class Searcher {
public:
    explicit Searcher(const Library& library) : library_(library) {}

    std::vector<Hit> nearest(const Compound& query, size_t top) {
        std::priority_queue<Hit> best;
        for (const auto& compound : library_) {
            double floor = best.size() < top ? kThreshold : best.top().score;
            if (!can_reach(query, compound, floor) || !comparable(query, compound)) {
                ++skipped_;
                continue;
            }
            double score = tanimoto(query, compound);
            if (score < floor) continue;
            best.push({score, compound.name, compound.smiles});
            if (best.size() > top) best.pop();
        }
        std::vector<Hit> hits;
        for (; !best.empty(); best.pop()) hits.push_back(best.top());
        std::reverse(hits.begin(), hits.end());
        return hits;
    }

    uint64_t skipped() const { return skipped_; }

private:
    const Library& library_;
    uint64_t skipped_ = 0;
};

std::vector<std::vector<uint64_t>> make_scaffolds(std::mt19937_64& rng) {
    std::vector<std::vector<uint64_t>> scaffolds(kScaffolds, std::vector<uint64_t>(kWords));
    for (auto& s : scaffolds) {
        int bits = 40 + rng() % 160;
        for (int i = 0; i < bits; ++i) {
            uint32_t b = rng() % (kWords * 64);
            s[b / 64] |= 1ull << (b % 64);
        }
    }
    return scaffolds;
}

std::vector<uint64_t> decorate(std::vector<uint64_t> bits, std::mt19937_64& rng) {
    for (int i = 0, n = 10 + rng() % 50; i < n; ++i) {
        uint32_t b = rng() % (kWords * 64);
        if (rng() % 3)
            bits[b / 64] |= 1ull << (b % 64);
        else
            bits[b / 64] &= ~(1ull << (b % 64));
    }
    return bits;
}

std::vector<float> describe(uint32_t scaffold, std::mt19937_64& rng) {
    std::vector<float> d(20);
    d[0] = 180 + float(scaffold * 7 % 300) + float(rng() % 80);
    d[1] = float(scaffold * 13 % 60) / 10 - 1 + float(rng() % 10) / 10;
    for (size_t i = 2; i < d.size(); ++i) d[i] = float(rng() % 100) / 10;
    return d;
}

std::string write_smiles(std::mt19937_64& rng) {
    static const char* const parts[] = {"C", "CC", "c1ccccc1", "C(=O)N", "O", "N", "CF", "S"};
    std::string s;
    for (int i = 0, n = 8 + rng() % 12; i < n; ++i) s += parts[rng() % 8];
    return s;
}

std::string catalogue_number(size_t i) {
    char buf[48];
    std::snprintf(buf, sizeof buf, "ACME-SCREENING-%02zu-%07zu", i % 37, i);
    return buf;
}

}  // namespace

int main() {
    std::mt19937_64 rng(31337);
    auto scaffolds = make_scaffolds(rng);
    Library library;
    for (size_t i = 0; i < kLibrary; ++i) {
        uint32_t scaffold = rng() % kScaffolds;
        std::string smiles = write_smiles(rng);
        auto descriptors = describe(scaffold, rng);
        library.add(catalogue_number(i), smiles, decorate(scaffolds[scaffold], rng), descriptors);
    }

    Searcher searcher(library);
    double sum = 0, weakest = 1;
    size_t found = 0, self = 0, written = 0;
    for (size_t q = 0; q < kQueries; ++q) {
        DWELL_STEP();
        const Compound& query = library.at(rng() % library.size());
        std::vector<Hit> hits = searcher.nearest(query, kTop);
        for (const Hit& h : hits) {
            sum += h.score;
            weakest = std::min(weakest, h.score);
            self += h.name == query.name;
            written += h.smiles.size();
        }
        found += hits.size();
    }
    std::printf("library %zu, queries %zu, hits %zu, self hits %zu, smiles %zu bytes\n",
                library.size(), kQueries, found, self, written);
    std::printf("mean similarity %.5f, weakest %.5f, skipped early %.1f%%\n", sum / found, weakest,
                100.0 * double(searcher.skipped()) / (double(kLibrary) * kQueries));
    return 0;
}
