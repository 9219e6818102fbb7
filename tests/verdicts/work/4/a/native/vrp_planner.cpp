// Daily van tours: savings construction, then annealing (2-opt inside a tour,
// relocation between tours) under a capacity limit, for several districts.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int kDistricts = 8;
constexpr int kStops = 900;
constexpr int kCapacity = 120;
constexpr int kPlannedLoad = 100;  // leaves room for the search
constexpr int kNeighbours = 24;
constexpr int kIterations = 15000000;

class District {
public:
    explicit District(uint32_t seed) : demand_(kStops + 1), dist_((kStops + 1) * (kStops + 1)) {
        std::mt19937 rng(seed);
        std::uniform_real_distribution<float> unit(0, 100);
        std::vector<float> x(kStops + 1), y(kStops + 1);
        x[0] = y[0] = 50;
        for (int i = 1; i <= kStops; ++i) {
            x[i] = unit(rng);
            y[i] = unit(rng);
            demand_[i] = 1 + int(rng() % 12);
        }
        for (int i = 0; i <= kStops; ++i)
            for (int j = 0; j <= kStops; ++j)
                dist_[i * (kStops + 1) + j] = std::hypot(x[i] - x[j], y[i] - y[j]);
        near_.resize(kStops + 1);
        std::vector<int> all(kStops);
        for (int i = 1; i <= kStops; ++i) {
            for (int j = 0; j < kStops; ++j) all[j] = j + 1;
            auto closer = [&](int a, int b) { return dist(i, a) < dist(i, b); };
            std::partial_sort(all.begin(), all.begin() + kNeighbours + 1, all.end(), closer);
            near_[i].assign(all.begin() + 1, all.begin() + kNeighbours + 1);
        }
    }
    float dist(int a, int b) const { return dist_[a * (kStops + 1) + b]; }
    int demand(int i) const { return demand_[i]; }
    const std::vector<int>& near(int i) const { return near_[i]; }

private:
    std::vector<int> demand_;
    std::vector<float> dist_;
    std::vector<std::vector<int>> near_;
};

using Tour = std::vector<int>;

class Plan {
public:
    explicit Plan(const District& d) : district_(&d), tour_of_(kStops + 1), place_(kStops + 1) {}

    void construct() {
        tours_.assign(kStops, {});
        load_.assign(kStops, 0);
        for (int i = 1; i <= kStops; ++i) {
            tours_[i - 1] = {i};
            tour_of_[i] = i - 1;
            load_[i - 1] = district_->demand(i);
        }
        struct Saving {
            float gain;
            int a, b;
        };
        std::vector<Saving> savings;
        for (int i = 1; i <= kStops; ++i)
            for (int j = i + 1; j <= kStops; ++j)
                savings.push_back({district_->dist(0, i) + district_->dist(0, j) - district_->dist(i, j), i, j});
        std::sort(savings.begin(), savings.end(),
                  [](const Saving& l, const Saving& r) { return l.gain > r.gain; });
        for (const Saving& s : savings) {
            int ta = tour_of_[s.a], tb = tour_of_[s.b];
            if (ta == tb || load_[ta] + load_[tb] > kPlannedLoad) continue;
            Tour &a = tours_[ta], &b = tours_[tb];
            if (a.front() == s.a) std::reverse(a.begin(), a.end());
            if (b.back() == s.b) std::reverse(b.begin(), b.end());
            if (a.back() != s.a || b.front() != s.b) continue;
            for (int v : b) tour_of_[v] = ta;
            a.insert(a.end(), b.begin(), b.end());
            load_[ta] += load_[tb];
            b.clear();
            load_[tb] = 0;
        }
        size_t kept = 0;
        for (size_t t = 0; t < tours_.size(); ++t) {
            if (tours_[t].empty()) continue;
            std::swap(tours_[kept], tours_[t]);
            std::swap(load_[kept], load_[t]);
            renumber(int(kept++));
        }
        tours_.resize(kept);
        load_.resize(kept);
    }

    // Simulated annealing over moves between near stops.
    void anneal(std::mt19937& rng, int iterations) {
        std::uniform_real_distribution<float> unit(0, 1);
        float hot = 2.0f, cold = 0.01f, cool = std::pow(cold / hot, 1.0f / iterations);
        for (float heat = hot; iterations > 0; --iterations, heat *= cool) {
            int v = 1 + int(rng() % kStops), w = district_->near(v)[rng() % kNeighbours];
            float limit = -heat * std::log(1 - unit(rng));
            if (tour_of_[v] == tour_of_[w])
                two_opt(v, w, limit);
            else
                relocate(v, w, limit);
        }
    }

    double length() const {
        double sum = 0;
        for (const Tour& t : tours_) {
            int prev = 0;
            for (int v : t) {
                sum += district_->dist(prev, v);
                prev = v;
            }
            sum += district_->dist(prev, 0);
        }
        return sum;
    }

    int vans() const {
        return int(std::count_if(tours_.begin(), tours_.end(), [](const Tour& t) { return !t.empty(); }));
    }

private:
    int at(const Tour& t, int i) const { return i < 0 || i >= int(t.size()) ? 0 : t[i]; }

    void renumber(int t, size_t from = 0) {
        for (size_t i = from; i < tours_[t].size(); ++i) {
            place_[tours_[t][i]] = int(i);
            tour_of_[tours_[t][i]] = t;
        }
    }

    // Joins v and w by reversing what lies between them, if that costs less
    // than the limit.
    void two_opt(int v, int w, float limit) {
        if (place_[v] > place_[w]) std::swap(v, w);
        int t = tour_of_[v], i = place_[v] + 1, j = place_[w];
        Tour& s = tours_[t];
        int after_v = at(s, i), after_w = at(s, j + 1);
        float delta = district_->dist(v, w) + district_->dist(after_v, after_w) -
                      district_->dist(v, after_v) - district_->dist(w, after_w);
        if (i >= j || delta > limit) return;
        std::reverse(s.begin() + i, s.begin() + j + 1);
        for (int k = i; k <= j; ++k) place_[s[k]] = k;
    }

    // Moves v behind w, into the other tour.
    void relocate(int v, int w, float limit) {
        int from = tour_of_[v], to = tour_of_[w], i = place_[v];
        if (load_[to] + district_->demand(v) > kCapacity) return;
        int before = at(tours_[from], i - 1), after = at(tours_[from], i + 1);
        int next = at(tours_[to], place_[w] + 1);
        float delta = district_->dist(before, after) - district_->dist(before, v) -
                      district_->dist(v, after) + district_->dist(w, v) +
                      district_->dist(v, next) - district_->dist(w, next);
        if (delta > limit) return;
        int place = place_[w] + 1;
        tours_[from].erase(tours_[from].begin() + i);
        tours_[to].insert(tours_[to].begin() + place, v);
        load_[from] -= district_->demand(v);
        load_[to] += district_->demand(v);
        renumber(from, i);
        renumber(to, place);
    }

    const District* district_;
    std::vector<Tour> tours_;
    std::vector<int> load_, tour_of_, place_;
};

}  // namespace

int main() {
    double total = 0;
    for (int k = 0; k < kDistricts; ++k) {
        District district(100 + k);
        std::mt19937 rng(k);
        Plan plan(district);
        plan.construct();
        double start = plan.length();
        plan.anneal(rng, kIterations);
        double length = plan.length();
        std::printf("district %d: %d vans, %.1f km, after search %.1f km\n", k, plan.vans(), start,
                    length);
        total += length;
    }
    std::printf("total %.1f km\n", total);
    return 0;
}
