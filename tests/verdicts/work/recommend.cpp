// Film recommendations by matrix factorisation, learnt with stochastic gradient descent.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>
#include "dwell/dwell.h"

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

static const int Rank = 16;
struct alignas(64) Factors { float v[Rank]; };
struct Rating { int user, film; float stars; };

class Random {
public:
    uint32_t bits() {
        s_ = s_ * 6364136223846793005ull + 1442695040888963407ull;
        return uint32_t(s_ >> 32);
    }
    float uniform() { return (bits() >> 8) / 16777216.f; }
    int below(int n) { return int(uint64_t(bits()) * n >> 32); }

private:
    uint64_t s_ = 11;
};

static float dot(const Factors& a, const Factors& b) {
    float part[4] = {0, 0, 0, 0};
    for (int k = 0; k < Rank; k += 4)
        for (int j = 0; j < 4; ++j) part[j] += a.v[k + j] * b.v[k + j];
    return (part[0] + part[1]) + (part[2] + part[3]);
}

class Model {
public:
    Model(int users, int films, Random& rnd) : user_(users), film_(films), user_bias_(users, 0.f), film_bias_(films, 0.f) {
        for (auto& f : user_) for (float& x : f.v) x = 0.2f * (rnd.uniform() - 0.5f);
        for (auto& f : film_) for (float& x : f.v) x = 0.2f * (rnd.uniform() - 0.5f);
    }
    float predict(int u, int f) const { return mean_ + user_bias_[u] + film_bias_[f] + dot(user_[u], film_[f]); }

    double learn(const std::vector<Rating>& ratings, float rate, float decay) {
        double sum = 0;
        for (const Rating& r : ratings) {
            Factors &p = user_[r.user], &q = film_[r.film];
            float e = r.stars - predict(r.user, r.film);
            sum += double(e) * e;
            user_bias_[r.user] += rate * (e - decay * user_bias_[r.user]);
            film_bias_[r.film] += rate * (e - decay * film_bias_[r.film]);
            for (int k = 0; k < Rank; ++k) {
                float a = p.v[k], b = q.v[k];
                p.v[k] += rate * (e * b - decay * a);
                q.v[k] += rate * (e * a - decay * b);
            }
        }
        return std::sqrt(sum / ratings.size());
    }
    double error(const std::vector<Rating>& ratings) const {
        double sum = 0;
        for (const Rating& r : ratings) {
            float e = r.stars - predict(r.user, r.film);
            sum += double(e) * e;
        }
        return std::sqrt(sum / ratings.size());
    }
    std::vector<std::pair<float, int>> best(int user, size_t n) const {
        std::vector<std::pair<float, int>> all(film_.size());
        for (size_t f = 0; f < film_.size(); ++f) all[f] = {predict(user, int(f)), int(f)};
        std::partial_sort(all.begin(), all.begin() + n, all.end(), [](auto& a, auto& b) { return a.first > b.first; });
        all.resize(n);
        return all;
    }
    void set_mean(float m) { mean_ = m; }

private:
    std::vector<Factors> user_, film_;
    std::vector<float> user_bias_, film_bias_;
    float mean_ = 0;
};

int main() {
    auto start = Clock::now();
    const int users = 6000, films = 1500;
    Random rnd;
    std::vector<Factors> taste(users), kind(films);
    for (auto& f : taste) for (float& x : f.v) x = rnd.uniform() - 0.5f;
    for (auto& f : kind) for (float& x : f.v) x = 2 * (rnd.uniform() - 0.5f);
    std::vector<Rating> train, test;
    double sum = 0;
    for (int i = 0; i < 1600000; ++i) {
        int u = rnd.below(users), f = std::min(rnd.below(films), rnd.below(films));
        float stars = 3.2f + 1.1f * dot(taste[u], kind[f]) + 0.5f * (rnd.uniform() - 0.5f) + 0.4f * std::sin(f * 1.7f);
        stars = std::min(5.f, std::max(1.f, stars));
        (i % 10 ? train : test).push_back({u, f, stars});
        sum += stars;
    }
    Model model(users, films, rnd);
    model.set_mean(float(sum / 1600000));
    for (int epoch = 1; epoch <= 110; ++epoch) {
        DWELL_STEP();
        double fit = model.learn(train, 0.02f / (1 + 0.03f * epoch), 0.04f);
        if (epoch % 22 == 0) printf("epoch %d: error %.4f, on unseen ratings %.4f\n", epoch, fit, model.error(test));
    }
    double stars = 0;
    for (int u = 0; u < 600; ++u)
        for (auto [s, f] : model.best(u, 10)) stars += s / 6000;
    for (auto [s, f] : model.best(17, 3)) printf("user 17 should see film %d (%.2f)\n", f, s);
    printf("mean promise %.3f\n", stars);
    printf("TRUTH {\"share\": 0, \"seconds\": %.1f}\n", since(start));
}
