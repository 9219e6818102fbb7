// Local alignment of query proteins against a small database with affine gaps;
// worker threads take queries from a shared counter and keep the best hits.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int TARGETS = 260;
constexpr int QUERIES = 40;
constexpr int WORKERS = 2;
constexpr int GAP_OPEN = 11, GAP_EXTEND = 1;
constexpr int AA = 20;

using Sequence = std::vector<uint8_t>;

struct Hit {
    int query = -1, target = -1, score = 0;
};

struct Matrix {
    int8_t s[AA][AA];

    Matrix()
    {
        // groups of similar residues score higher than unrelated ones
        static const char group[AA + 1] = "AABBCDDEEFFFGGHHIIJJ";
        for (int i = 0; i < AA; i++)
            for (int j = 0; j < AA; j++)
                s[i][j] = i == j ? 6 : group[i] == group[j] ? 2 : -(2 + (i * 7 + j * 7) % 3);
    }
};

// Score rows per residue of the query, so that the inner loop reads in order.
class Profile {
public:
    Profile(const Sequence &query, const Matrix &m) : n_(query.size()), rows_(AA * query.size())
    {
        for (int a = 0; a < AA; a++)
            for (size_t i = 0; i < n_; i++)
                rows_[a * n_ + i] = m.s[a][query[i]];
    }

    const int8_t *row(int aa) const { return &rows_[aa * n_]; }
    size_t length() const { return n_; }

private:
    size_t n_;
    std::vector<int8_t> rows_;
};

class Aligner {
public:
    // Gotoh's recurrences with two rows; only the score is needed.
    int score(const Profile &profile, const Sequence &target)
    {
        const size_t n = profile.length();
        h_.assign(n + 1, 0);
        e_.assign(n + 1, -10000);
        int best = 0;
        for (uint8_t aa : target) {
            const int8_t *row = profile.row(aa);
            int diag = 0, f = -10000, left = 0;
            for (size_t i = 1; i <= n; i++) {
                int e = std::max(e_[i] - GAP_EXTEND, h_[i] - GAP_OPEN);
                f = std::max(f - GAP_EXTEND, left - GAP_OPEN);
                int h = std::max(std::max(0, diag + row[i - 1]), std::max(e, f));
                diag = h_[i];
                h_[i] = left = h;
                e_[i] = e;
                best = std::max(best, h);
            }
        }
        return best;
    }

private:
    std::vector<int> h_, e_;
};

struct Database {
    std::vector<Sequence> targets;
    size_t residues = 0;
};

Sequence random_protein(std::mt19937 &rng, int lo, int hi)
{
    Sequence s(lo + rng() % (hi - lo));
    for (auto &c : s)
        c = rng() % AA;
    return s;
}

Sequence mutate(const Sequence &s, std::mt19937 &rng)
{
    Sequence out;
    for (uint8_t c : s) {
        unsigned r = rng() % 100;
        if (r < 4) continue;
        out.push_back(r < 30 ? rng() % AA : c);
        if (r > 96) out.push_back(rng() % AA);
    }
    return out;
}

void worker(const Database &db, const std::vector<Sequence> &queries, const Matrix &m,
            std::atomic<int> &next, std::vector<Hit> &best)
{
    Aligner aligner;
    for (int q; (q = next.fetch_add(1, std::memory_order_relaxed)) < (int)queries.size();) {
        Profile profile(queries[q], m);
        Hit top;
        for (int t = 0; t < (int)db.targets.size(); t++) {
            int s = aligner.score(profile, db.targets[t]);
            if (s > top.score) top = {q, t, s};
        }
        best[q] = top;
    }
}

}  // namespace

int main()
{
    std::mt19937 rng(404);
    Matrix m;
    Database db;
    for (int i = 0; i < TARGETS; i++) {
        db.targets.push_back(random_protein(rng, 200, 700));
        db.residues += db.targets.back().size();
    }
    std::vector<Sequence> queries;
    std::vector<int> truth;
    for (int i = 0; i < QUERIES; i++) {
        truth.push_back(rng() % TARGETS);
        queries.push_back(mutate(db.targets[truth.back()], rng));
    }

    std::vector<Hit> best(queries.size());
    std::atomic<int> next{0};
    std::vector<std::thread> pool;
    for (int w = 0; w < WORKERS; w++)
        pool.emplace_back(worker, std::cref(db), std::cref(queries), std::cref(m), std::ref(next),
                          std::ref(best));
    for (auto &t : pool)
        t.join();

    int right = 0;
    long total = 0;
    size_t cells = 0;
    for (size_t q = 0; q < best.size(); q++) {
        right += best[q].target == truth[q];
        total += best[q].score;
        cells += queries[q].size() * db.residues;
    }
    std::printf("queries %zu cells %.3e right %d score sum %ld\n", best.size(), (double)cells, right,
                total);
    return 0;
}
