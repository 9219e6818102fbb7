// Builds an FM-index over a reference genome and counts seeds of reads.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

// Prefix doubling with radix sorting: O(n log n).
std::vector<std::uint32_t> suffix_array(const std::vector<std::uint8_t> &s) {
    const std::uint32_t n = std::uint32_t(s.size());
    std::vector<std::uint32_t> sa(n), tmp(n), rank(n), next(n), count(std::max<std::uint32_t>(n, 256) + 1);
    for (std::uint32_t i = 0; i < n; i++)
        count[s[i] + 1]++;
    std::partial_sum(count.begin(), count.begin() + 257, count.begin());
    for (std::uint32_t i = 0; i < n; i++)
        sa[count[s[i]]++] = i;
    std::uint32_t classes = 0;
    for (std::uint32_t i = 0; i < n; i++) {
        if (i && s[sa[i]] != s[sa[i - 1]])
            classes++;
        rank[sa[i]] = classes;
    }
    for (std::uint32_t k = 1; k < n && classes + 1 < n; k *= 2) {
        // order by second key: suffixes that end first, then those of sa shifted
        std::uint32_t m = 0;
        for (std::uint32_t i = n - k; i < n; i++)
            tmp[m++] = i;
        for (std::uint32_t i = 0; i < n; i++)
            if (sa[i] >= k)
                tmp[m++] = sa[i] - k;
        std::fill(count.begin(), count.begin() + classes + 2, 0);
        for (std::uint32_t i = 0; i < n; i++)
            count[rank[i] + 1]++;
        std::partial_sum(count.begin(), count.begin() + classes + 2, count.begin());
        for (std::uint32_t i = 0; i < n; i++)
            sa[count[rank[tmp[i]]]++] = tmp[i];
        classes = 0;
        next[sa[0]] = 0;
        for (std::uint32_t i = 1; i < n; i++) {
            const std::uint32_t a = sa[i - 1], b = sa[i];
            const bool same = rank[a] == rank[b] && a + k < n && b + k < n && rank[a + k] == rank[b + k];
            classes += !same;
            next[b] = classes;
        }
        rank.swap(next);
    }
    return sa;
}

class FmIndex {
public:
    explicit FmIndex(const std::vector<std::uint8_t> &text) {
        const auto sa = suffix_array(text);
        const std::size_t n = text.size();
        blocks_.resize(n / kBlock + 2);
        std::array<std::uint32_t, 4> seen{};
        for (std::size_t i = 0; i < n; i++) {
            if (i % kBlock == 0)
                blocks_[i / kBlock].rank = seen;
            const std::uint8_t c = sa[i] ? text[sa[i] - 1] : 0;
            if (c) {
                seen[c - 1]++;
                blocks_[i / kBlock].bits[c - 1] |= std::uint64_t(1) << (i % kBlock);
            }
        }
        if (n % kBlock == 0)
            blocks_[n / kBlock].rank = seen;
        std::uint32_t sum = 1;
        for (int c = 0; c < 4; c++) {
            first_[c] = sum;
            sum += seen[c];
        }
        n_ = std::uint32_t(n);
    }

    std::uint32_t count(const std::uint8_t *p, int len) const {
        std::uint32_t lo = 0, hi = n_;
        for (int i = len - 1; i >= 0 && lo < hi; i--) {
            const int c = p[i] - 1;
            lo = first_[c] + occ(c, lo);
            hi = first_[c] + occ(c, hi);
        }
        return hi - lo;
    }

private:
    static constexpr std::size_t kBlock = 64;
    struct Block {
        std::array<std::uint32_t, 4> rank{};
        std::array<std::uint64_t, 4> bits{};
    };

    std::uint32_t occ(int c, std::uint32_t i) const {
        const Block &b = blocks_[i / kBlock];
        const std::uint64_t mask = (std::uint64_t(1) << (i % kBlock)) - 1;
        return b.rank[c] + std::uint32_t(__builtin_popcountll(b.bits[c] & mask));
    }

    std::vector<Block> blocks_;
    std::array<std::uint32_t, 4> first_{};
    std::uint32_t n_ = 0;
};

// A genome with repeats: segments are copied with a few mutations.
std::vector<std::uint8_t> make_genome(std::size_t n, std::mt19937 &gen) {
    std::vector<std::uint8_t> g;
    g.reserve(n + 1);
    while (g.size() < n) {
        const std::size_t len = std::min<std::size_t>(200 + gen() % 800, n - g.size());
        if (g.size() > 5000 && gen() % 4 == 0) {
            const std::size_t from = gen() % (g.size() - len);
            for (std::size_t i = 0; i < len; i++)
                g.push_back(gen() % 50 ? g[from + i] : std::uint8_t(1 + gen() % 4));
        } else {
            for (std::size_t i = 0; i < len; i++)
                g.push_back(std::uint8_t(1 + gen() % 4));
        }
    }
    g.push_back(0);
    return g;
}

}  // namespace

int main() {
    std::mt19937 gen(1234567);
    const auto genome = make_genome(4000000, gen);
    const FmIndex index(genome);

    std::uint64_t unique = 0, repeated = 0, absent = 0;
    for (int r = 0; r < 6000000; r++) {
        std::array<std::uint8_t, 24> read;
        const std::size_t at = gen() % (genome.size() - 25);
        std::copy_n(genome.begin() + long(at), 24, read.begin());
        if (gen() % 3 == 0)
            read[gen() % 24] = std::uint8_t(1 + gen() % 4);
        const std::uint32_t hits = index.count(read.data(), 24);
        unique += hits == 1;
        repeated += hits > 1;
        absent += hits == 0;
    }
    std::printf("unique %llu, repeated %llu, absent %llu\n", (unsigned long long)unique,
                (unsigned long long)repeated, (unsigned long long)absent);
    return 0;
}
