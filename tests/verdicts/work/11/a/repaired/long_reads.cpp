// Aligns long reads of a sequencer to the place in the reference that seeding proposes.
//
// Banded global alignment with affine gaps is enough here: the place is known to within a
// few dozen bases. The trace of each alignment gives its CIGAR string.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kReferenceBases = 400000;
constexpr int kReads = 800;
constexpr int kBand = 40;
constexpr int kMatch = 2, kMismatch = -4, kGapOpen = -4, kGapExtend = -1;
constexpr int kNever = -1000000;

struct Read {
    std::string bases;
    int origin;  // where seeding puts it
    int span;    // bases of the reference that it covers
};

struct Alignment {
    int score = 0;
    int matches = 0;
    std::string cigar;
};

// One cell of the dynamic programme: best scores that end in a match, a deletion, an insertion.
struct Score {
    int match;
    int del;
    int ins;
};

class Aligner {
public:
    Alignment align(std::string_view query, std::string_view target) {
        const int n = static_cast<int>(query.size()), m = static_cast<int>(target.size());
        const size_t width = static_cast<size_t>(m) + 1;
        const size_t cells = (n + 1) * width;
        if (cells > capacity_) {
            grid_.reset(new Score[cells]);
            capacity_ = cells;
        }
        Score* grid = grid_.get();
        auto cell = [&](int i, int j) -> Score& { return grid[i * width + j]; };

        const double slope = static_cast<double>(m) / std::max(1, n);
        for (int i = 0; i <= n; ++i) {
            const int middle = static_cast<int>(i * slope);
            const int lo = std::max(0, middle - kBand), hi = std::min(m, middle + kBand);
            if (lo > 0) cell(i, lo - 1) = {kNever, kNever, kNever};
            if (hi < m) cell(i, hi + 1) = {kNever, kNever, kNever};
            for (int j = lo; j <= hi; ++j) {
                if (i == 0 || j == 0) {
                    cell(i, j) = border(i, j);
                    continue;
                }
                const Score& diagonal = cell(i - 1, j - 1);
                const Score& above = cell(i - 1, j);
                const Score& left = cell(i, j - 1);
                const int bonus = query[i - 1] == target[j - 1] ? kMatch : kMismatch;
                Score s;
                s.match = best(diagonal) + bonus;
                s.ins = std::max(best(above) + kGapOpen, above.ins) + kGapExtend;
                s.del = std::max(best(left) + kGapOpen, left.del) + kGapExtend;
                cell(i, j) = s;
            }
            // The next row looks one past this row's right end.
            const int next = std::min(m, static_cast<int>((i + 1) * slope) + kBand);
            for (int j = hi + 1; j <= next; ++j) cell(i, j) = {kNever, kNever, kNever};
        }

        Alignment out;
        out.score = best(cell(n, m));
        trace(cell, query, target, n, m, out);
        return out;
    }

private:
    std::unique_ptr<Score[]> grid_;
    size_t capacity_ = 0;

    static int best(const Score& s) { return std::max(s.match, std::max(s.del, s.ins)); }

    static Score border(int i, int j) {
        if (i == 0 && j == 0) return {0, kNever, kNever};
        const int gap = kGapOpen + kGapExtend * (i + j);
        return i == 0 ? Score{kNever, gap, kNever} : Score{kNever, kNever, gap};
    }

    template <typename CellAt>
    static void trace(CellAt& cell, std::string_view query, std::string_view target, int i, int j, Alignment& out) {
        std::vector<std::pair<int, char>> runs;
        auto push = [&](char op) {
            if (!runs.empty() && runs.back().second == op)
                ++runs.back().first;
            else
                runs.emplace_back(1, op);
        };
        while (i > 0 || j > 0) {
            const Score& s = cell(i, j);
            const int top = best(s);
            if (i > 0 && j > 0 && s.match == top) {
                out.matches += query[i - 1] == target[j - 1];
                push('M');
                --i, --j;
            } else if (j > 0 && s.del == top) {
                push('D');
                --j;
            } else {
                push('I');
                --i;
            }
        }
        for (auto run = runs.rbegin(); run != runs.rend(); ++run) {
            out.cigar += std::to_string(run->first);
            out.cigar += run->second;
        }
    }
};

std::string randomReference(std::mt19937& rng) {
    std::string s(kReferenceBases, 'A');
    for (char& c : s) c = "ACGT"[rng() & 3];
    return s;
}

// A read with the error profile of a nanopore: 3% substitutions, 1% each of insertions and deletions.
Read sequence(const std::string& reference, std::mt19937& rng) {
    Read r;
    r.span = 2600 + static_cast<int>(rng() % 1200);
    r.origin = static_cast<int>(rng() % (reference.size() - r.span));
    r.bases.reserve(r.span + r.span / 16);
    for (int k = 0; k < r.span; ++k) {
        const unsigned die = rng() % 100;
        if (die < 3)
            r.bases += "ACGT"[rng() & 3];
        else if (die == 3)
            continue;
        else
            r.bases += reference[r.origin + k];
        if (die == 4) r.bases += "ACGT"[rng() & 3];
    }
    return r;
}

}  // namespace

int main() {
    std::mt19937 rng(4242);
    const std::string reference = randomReference(rng);
    const std::string_view whole = reference;
    Aligner aligner;

    long bases = 0, matches = 0, score = 0;
    uint64_t digest = 1469598103934665603ull;
    std::array<int, 5> identity{};
    for (int n = 0; n < kReads; ++n) {
        const Read read = sequence(reference, rng);
        const Alignment a = aligner.align(read.bases, whole.substr(read.origin, read.span));
        bases += static_cast<long>(read.bases.size());
        matches += a.matches;
        score += a.score;
        const double share = static_cast<double>(a.matches) / read.span;
        identity[std::clamp(static_cast<int>((share - 0.90) * 50), 0, 4)]++;
        for (char c : a.cigar) digest = (digest ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    }
    std::printf("reads %d, bases %ld, identity %.4f, score %ld\n", kReads, bases, static_cast<double>(matches) / bases, score);
    std::printf("identity classes %d %d %d %d %d, cigars %016llx\n", identity[0], identity[1], identity[2], identity[3],
                identity[4], static_cast<unsigned long long>(digest));
    return 0;
}
