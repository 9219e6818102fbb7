// Implicit-feedback matrix factorisation (alternating least squares) for a
// shop's recommendations; two workers share the rows of each half-sweep.
#include <dwell/probe.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int kUsers = 9000;
constexpr int kItems = 2500;
constexpr int kRank = 40;
constexpr int kSweeps = 24;
constexpr int kWorkers = 2;
constexpr float kLambda = 0.1f;
constexpr float kAlpha = 8.0f;

struct Sparse {
    std::vector<uint32_t> first, index;
    std::vector<float> value;
    size_t rows() const { return first.size() - 1; }
};

using Factors = std::vector<float>;

struct Event {
    uint32_t user, item;
    float count;
};

std::vector<Event> make_events() {
    std::mt19937 rng(99);
    std::vector<Event> events;
    std::vector<char> seen(kItems);
    for (uint32_t u = 0; u < kUsers; ++u) {
        std::fill(seen.begin(), seen.end(), 0);
        int taste = rng() % 20, n = 10 + rng() % 40;
        for (int k = 0; k < n; ++k) {
            uint32_t item = rng() % 4 ? (taste + 20 * (rng() % (kItems / 20))) : rng() % kItems;
            if (seen[item]) continue;
            seen[item] = 1;
            events.push_back({u, item, 1.0f + float(rng() % 4)});
        }
    }
    return events;
}

Sparse to_rows(const std::vector<Event>& events, size_t rows, bool by_user) {
    Sparse m;
    m.first.assign(rows + 1, 0);
    for (const Event& e : events) ++m.first[(by_user ? e.user : e.item) + 1];
    for (size_t r = 0; r < rows; ++r) m.first[r + 1] += m.first[r];
    m.index.resize(events.size());
    m.value.resize(events.size());
    std::vector<uint32_t> at(m.first.begin(), m.first.end() - 1);
    for (const Event& e : events) {
        uint32_t p = at[by_user ? e.user : e.item]++;
        m.index[p] = by_user ? e.item : e.user;
        m.value[p] = e.count;
    }
    return m;
}

void gram(const Factors& f, float* g) {
    std::fill(g, g + kRank * kRank, 0.0f);
    for (size_t r = 0; r < f.size(); r += kRank)
        for (int i = 0; i < kRank; ++i)
            for (int j = 0; j < kRank; ++j) g[i * kRank + j] += f[r + i] * f[r + j];
}

// Solves the symmetric positive definite system in place by Cholesky.
void solve(float* a, float* b) {
    for (int i = 0; i < kRank; ++i) {
        for (int j = 0; j <= i; ++j) {
            float s = a[i * kRank + j];
            for (int k = 0; k < j; ++k) s -= a[i * kRank + k] * a[j * kRank + k];
            a[i * kRank + j] = i == j ? std::sqrt(s) : s / a[j * kRank + j];
        }
    }
    for (int i = 0; i < kRank; ++i) {
        for (int k = 0; k < i; ++k) b[i] -= a[i * kRank + k] * b[k];
        b[i] /= a[i * kRank + i];
    }
    for (int i = kRank - 1; i >= 0; --i) {
        for (int k = i + 1; k < kRank; ++k) b[i] -= a[k * kRank + i] * b[k];
        b[i] /= a[i * kRank + i];
    }
}

void update_rows(const Sparse& m, const Factors& fixed, const float* base, Factors& target,
                 size_t begin, size_t end) {
    float a[kRank * kRank], b[kRank];
    for (size_t r = begin; r < end; ++r) {
        std::copy(base, base + kRank * kRank, a);
        std::fill(b, b + kRank, 0.0f);
        for (int i = 0; i < kRank; ++i) a[i * kRank + i] += kLambda;
        for (uint32_t p = m.first[r]; p < m.first[r + 1]; ++p) {
            const float* y = &fixed[size_t(m.index[p]) * kRank];
            float c = kAlpha * m.value[p];
            for (int i = 0; i < kRank; ++i) {
                float ci = c * y[i];
                for (int j = 0; j <= i; ++j) a[i * kRank + j] += ci * y[j];
                b[i] += (1.0f + c) * y[i];
            }
        }
        solve(a, b);
        std::copy(b, b + kRank, &target[r * kRank]);
    }
}

void half_sweep(const Sparse& m, const Factors& fixed, Factors& target) {
    float base[kRank * kRank];
    gram(fixed, base);
    // equal shares of entries, not of rows
    std::vector<size_t> cut{0};
    for (int w = 1; w < kWorkers; ++w)
        cut.push_back(std::lower_bound(m.first.begin(), m.first.end(),
                                       m.index.size() * w / kWorkers) - m.first.begin());
    cut.push_back(m.rows());
    std::vector<std::thread> pool;
    for (int w = 0; w < kWorkers; ++w)
        pool.emplace_back(update_rows, std::cref(m), std::cref(fixed), base, std::ref(target),
                          cut[w], cut[w + 1]);
    for (auto& t : pool) t.join();
}

double fit(const Sparse& m, const Factors& u, const Factors& v) {
    double error = 0;
    for (size_t r = 0; r < m.rows(); ++r)
        for (uint32_t p = m.first[r]; p < m.first[r + 1]; ++p) {
            float s = 0;
            for (int k = 0; k < kRank; ++k) s += u[r * kRank + k] * v[m.index[p] * size_t(kRank) + k];
            error += (1.0f - s) * (1.0f - s);
        }
    return std::sqrt(error / m.index.size());
}

}  // namespace

int main() {
    std::vector<Event> events = make_events();
    Sparse by_user = to_rows(events, kUsers, true), by_item = to_rows(events, kItems, false);
    std::mt19937 rng(5);
    std::normal_distribution<float> noise(0.0f, 0.1f);
    Factors users(size_t(kUsers) * kRank), items(size_t(kItems) * kRank);
    for (float& x : items) x = noise(rng);

    double error = 0;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        DWELL_STEP();
        half_sweep(by_user, items, users);
        half_sweep(by_item, users, items);
        error = fit(by_user, users, items);
    }
    std::printf("events %zu, rank %d, sweeps %d, rmse on observed %.4f\n", events.size(), kRank,
                kSweeps, error);
    return 0;
}
