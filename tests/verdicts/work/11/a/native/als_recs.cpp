// Recommends films from implicit feedback: alternating least squares over a sparse
// matrix of plays, with the confidence weights of Hu, Koren and Volinsky.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>
#include <vector>

#include "dwell.h"

namespace {

constexpr int kUsers = 3000;
constexpr int kItems = 1500;
constexpr int kFactors = 32;
constexpr int kSweeps = 100;
constexpr float kAlpha = 12.0f;
constexpr float kRegular = 0.08f;

struct Play {
    int column;
    float count;
};

// Compressed rows.
struct Sparse {
    std::vector<size_t> start;
    std::vector<Play> plays;
    int rows() const { return static_cast<int>(start.size()) - 1; }
};

struct Factors {
    explicit Factors(int n) : rows(n), v(static_cast<size_t>(n) * kFactors) {}
    float* row(int i) { return v.data() + static_cast<size_t>(i) * kFactors; }
    const float* row(int i) const { return v.data() + static_cast<size_t>(i) * kFactors; }
    int rows;
    std::vector<float> v;
};

using Square = float[kFactors][kFactors];

float dot(const float* a, const float* b) {
    float s = 0;
    for (int k = 0; k < kFactors; ++k) s += a[k] * b[k];
    return s;
}

Sparse fromTriples(std::vector<std::pair<std::pair<int, int>, float>> t, int rows) {
    std::sort(t.begin(), t.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Sparse s;
    s.start.assign(rows + 1, 0);
    s.plays.reserve(t.size());
    for (size_t i = 0; i < t.size(); ++i) {
        if (i > 0 && t[i].first == t[i - 1].first) {
            s.plays.back().count += t[i].second;
            continue;
        }
        s.plays.push_back({t[i].first.second, t[i].second});
        s.start[t[i].first.first + 1]++;
    }
    for (int r = 0; r < rows; ++r) s.start[r + 1] += s.start[r];
    return s;
}

Sparse transposed(const Sparse& m, int columns) {
    Sparse s;
    s.start.assign(columns + 1, 0);
    s.plays.resize(m.plays.size());
    for (const Play& p : m.plays) s.start[p.column + 1]++;
    for (int c = 0; c < columns; ++c) s.start[c + 1] += s.start[c];
    std::vector<size_t> at(s.start.begin(), s.start.end() - 1);
    for (int r = 0; r < m.rows(); ++r)
        for (size_t i = m.start[r]; i < m.start[r + 1]; ++i) s.plays[at[m.plays[i].column]++] = {r, m.plays[i].count};
    return s;
}

// Users like a few genres; films are more or less popular.
Sparse makePlays(std::mt19937& rng) {
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<std::pair<std::pair<int, int>, float>> t;
    for (int u = 0; u < kUsers; ++u) {
        const int genres[2] = {static_cast<int>(rng() % 20), static_cast<int>(rng() % 20)};
        const int n = 15 + static_cast<int>(rng() % 50);
        for (int k = 0; k < n; ++k) {
            int item = static_cast<int>(kItems * std::pow(unit(rng), 1.7));
            if (unit(rng) < 0.8) item = item / 20 * 20 + genres[rng() % 2];
            t.push_back({{u, std::min(item, kItems - 1)}, 1.0f + static_cast<float>(rng() % 4)});
        }
    }
    return fromTriples(std::move(t), kUsers);
}

void gram(const Factors& f, Square& g) {
    for (auto& row : g) std::fill(row, row + kFactors, 0.0f);
    for (int i = 0; i < f.rows; ++i) {
        const float* v = f.row(i);
        for (int a = 0; a < kFactors; ++a)
            for (int b = 0; b < kFactors; ++b) g[a][b] += v[a] * v[b];
    }
}

// Solves A x = b by Cholesky's method; A is overwritten.
void solve(Square& a, float* x) {
    for (int j = 0; j < kFactors; ++j) {
        for (int k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
        a[j][j] = std::sqrt(a[j][j]);
        const float inverse = 1.0f / a[j][j];
        for (int i = j + 1; i < kFactors; ++i) {
            for (int k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
            a[i][j] *= inverse;
        }
    }
    for (int i = 0; i < kFactors; ++i) {
        for (int k = 0; k < i; ++k) x[i] -= a[i][k] * x[k];
        x[i] /= a[i][i];
    }
    for (int i = kFactors - 1; i >= 0; --i) {
        for (int k = i + 1; k < kFactors; ++k) x[i] -= a[k][i] * x[k];
        x[i] /= a[i][i];
    }
}

void update(const Sparse& plays, const Factors& fixed, Factors& free) {
    Square base, a;
    gram(fixed, base);
    for (int r = 0; r < plays.rows(); ++r) {
        std::copy(&base[0][0], &base[0][0] + kFactors * kFactors, &a[0][0]);
        float* x = free.row(r);
        std::fill(x, x + kFactors, 0.0f);
        for (size_t i = plays.start[r]; i < plays.start[r + 1]; ++i) {
            const float* v = fixed.row(plays.plays[i].column);
            const float extra = kAlpha * plays.plays[i].count;
            for (int p = 0; p < kFactors; ++p) {
                const float scaled = extra * v[p];
                for (int q = 0; q <= p; ++q) a[p][q] += scaled * v[q];
                x[p] += (1.0f + extra) * v[p];
            }
        }
        for (int p = 0; p < kFactors; ++p) a[p][p] += kRegular;
        solve(a, x);
    }
}

}  // namespace

int main() {
    std::mt19937 rng(31337);
    const Sparse byUser = makePlays(rng);
    const Sparse byItem = transposed(byUser, kItems);
    Factors users(kUsers), items(kItems);
    std::normal_distribution<float> normal(0.0f, 0.1f);
    for (float& v : items.v) v = normal(rng);

    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        update(byUser, items, users);
        update(byItem, users, items);
        DWELL_STEP();
    }

    double seen = 0;
    for (int u = 0; u < kUsers; ++u)
        for (size_t i = byUser.start[u]; i < byUser.start[u + 1]; ++i) seen += dot(users.row(u), items.row(byUser.plays[i].column));
    double any = 0;
    for (int u = 0; u < kUsers; u += 10)
        for (int i = 0; i < kItems; ++i) any += dot(users.row(u), items.row(i));
    std::printf("plays %zu of %d users and %d items\n", byUser.plays.size(), kUsers, kItems);
    std::printf("mean score: played %.4f, any %.4f\n", seen / byUser.plays.size(), any / (kUsers / 10.0 * kItems));
    return 0;
}
