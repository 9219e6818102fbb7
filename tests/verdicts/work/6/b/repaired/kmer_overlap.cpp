// kmer_overlap: first stage of the assembler.
//
// Counts the canonical k-mers of all reads, drops those that are likely to be
// sequencing errors or repeats, and from the rest lists candidate overlaps:
// pairs of reads that share enough solid k-mers on a consistent diagonal.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

constexpr int K = 21;
constexpr int kGenome = 420000;
constexpr int kReadLength = 240;
constexpr int kReads = 16000;
constexpr double kErrorRate = 0.004;

struct Kmer {
    std::uint64_t bits;
    bool operator==(const Kmer& o) const { return bits == o.bits; }
};

struct KmerHash {
    std::size_t operator()(const Kmer& k) const noexcept {
        std::uint64_t h = k.bits * 0x9E3779B97F4A7C15ull;
        return static_cast<std::size_t>(h ^ (h >> 32));
    }
};

struct Hit {
    std::uint32_t read;
    std::uint16_t pos;
    bool reverse;
};

using Counts = std::unordered_map<Kmer, std::uint32_t, KmerHash>;
using Postings = std::unordered_map<Kmer, std::vector<Hit>, KmerHash>;

int code(char c) {
    switch (c) {
        case 'A': return 0;
        case 'C': return 1;
        case 'G': return 2;
        default: return 3;
    }
}

std::vector<std::string> sequence(std::mt19937& rng) {
    const char* bases = "ACGT";
    std::string genome(kGenome, 'A');
    for (char& c : genome) c = bases[rng() & 3];
    // a repeat family, as in any real genome
    std::string element = genome.substr(1000, 900);
    for (int i = 0; i < 40; ++i) genome.replace(rng() % (kGenome - 900), 900, element);

    std::uniform_real_distribution<double> u(0, 1);
    std::vector<std::string> reads;
    reads.reserve(kReads);
    for (int i = 0; i < kReads; ++i) {
        std::string r = genome.substr(rng() % (kGenome - kReadLength), kReadLength);
        for (char& c : r)
            if (u(rng) < kErrorRate) c = bases[rng() & 3];
        if (rng() & 1) {
            std::reverse(r.begin(), r.end());
            for (char& c : r) c = bases[3 - code(c)];
        }
        reads.push_back(std::move(r));
    }
    return reads;
}

// Calls f(canonical k-mer, position, on the reverse strand) along the read.
template <class F>
void scan(const std::string& read, F f) {
    constexpr std::uint64_t mask = (std::uint64_t(1) << (2 * K)) - 1;
    std::uint64_t fwd = 0, rev = 0;
    for (std::size_t i = 0; i < read.size(); ++i) {
        std::uint64_t c = code(read[i]);
        fwd = ((fwd << 2) | c) & mask;
        rev = (rev >> 2) | ((3 - c) << (2 * (K - 1)));
        if (i + 1 >= K) f(Kmer{std::min(fwd, rev)}, std::uint16_t(i + 1 - K), rev < fwd);
    }
}

Counts count(const std::vector<std::string>& reads) {
    Counts counts;
    counts.reserve(kGenome * 2);
    for (const auto& r : reads) scan(r, [&](Kmer k, std::uint16_t, bool) { ++counts[k]; });
    return counts;
}

Postings index(const std::vector<std::string>& reads, const Counts& counts, std::uint32_t low, std::uint32_t high) {
    Postings postings;
    postings.reserve(kGenome);
    for (std::uint32_t id = 0; id < reads.size(); ++id)
        scan(reads[id], [&](Kmer k, std::uint16_t pos, bool rev) {
            if (k.bits % 4 != 0) return;  // sampled
            std::uint32_t n = counts.find(k)->second;
            if (n >= low && n <= high) postings[k].push_back({id, pos, rev});
        });
    return postings;
}

struct Overlap {
    std::uint64_t pair;
    int diagonal;
    bool flipped;
};

}  // namespace

int main() {
    std::mt19937 rng(77);
    std::vector<std::string> reads = sequence(rng);
    Counts counts = count(reads);

    std::vector<std::size_t> spectrum(64, 0);
    for (const auto& c : counts) ++spectrum[std::min<std::uint32_t>(c.second, 63)];
    Postings postings = index(reads, counts, 3, 30);

    std::vector<Overlap> seeds;
    for (const auto& p : postings) {
        const auto& hits = p.second;
        for (std::size_t i = 0; i < hits.size(); ++i)
            for (std::size_t j = i + 1; j < hits.size(); ++j) {
                const Hit &a = hits[i], &b = hits[j];
                if (a.read == b.read) continue;
                bool flip = a.reverse != b.reverse;
                int diagonal = flip ? a.pos + b.pos : int(a.pos) - int(b.pos);
                seeds.push_back({std::uint64_t(a.read) << 32 | b.read, diagonal, flip});
            }
    }
    std::sort(seeds.begin(), seeds.end(), [](const Overlap& x, const Overlap& y) {
        if (x.pair != y.pair) return x.pair < y.pair;
        if (x.flipped != y.flipped) return x.flipped < y.flipped;
        return x.diagonal < y.diagonal;
    });

    std::size_t overlaps = 0, flipped = 0;
    long shared = 0;
    for (std::size_t i = 0; i < seeds.size();) {
        std::size_t j = i;
        while (j < seeds.size() && seeds[j].pair == seeds[i].pair && seeds[j].flipped == seeds[i].flipped &&
               seeds[j].diagonal - seeds[i].diagonal <= 2)
            ++j;
        if (j - i >= 5) {
            ++overlaps;
            flipped += seeds[i].flipped;
            shared += long(j - i);
        }
        i = j;
    }
    std::printf("k-mers %zu  single %zu  solid postings %zu\n", counts.size(), spectrum[1], postings.size());
    std::printf("overlaps %zu  of opposite strands %zu  shared k-mers %ld\n", overlaps, flipped, shared);
    return 0;
}
