// Courier dispatch: builds a road network, then plans delivery rounds.  Each
// round is a chain of short point-to-point shortest paths around one depot.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <queue>
#include <random>
#include <vector>
#include <dwell/probe.h>

namespace {

constexpr int kWidth = 900;
constexpr int kHeight = 700;
constexpr int kRounds = 1300;
constexpr int kStops = 14;

struct Edge {
    int to;
    float seconds;
};

class RoadNetwork {
public:
    RoadNetwork(int width, int height, uint32_t seed) : width_(width), height_(height) {
        std::mt19937 rng(seed);
        std::uniform_real_distribution<float> traffic(0.8f, 2.4f);
        const int n = width * height;
        std::vector<std::pair<int, Edge>> roads;
        roads.reserve(size_t(n) * 4);
        auto connect = [&](int a, int b, float base) {
            roads.push_back({a, {b, base * traffic(rng)}});
            roads.push_back({b, {a, base * traffic(rng)}});
        };
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                const bool avenue = x % 12 == 0 || y % 12 == 0;
                if (x + 1 < width && (avenue || rng() % 10 != 0)) connect(id(x, y), id(x + 1, y), y % 12 == 0 ? 6.0f : 11.0f);
                if (y + 1 < height && (avenue || rng() % 10 != 0)) connect(id(x, y), id(x, y + 1), x % 12 == 0 ? 6.0f : 11.0f);
            }
        first_.assign(n + 1, 0);
        for (const auto& r : roads) ++first_[r.first + 1];
        for (int i = 0; i < n; ++i) first_[i + 1] += first_[i];
        edges_.resize(roads.size());
        std::vector<int> cursor(first_.begin(), first_.end() - 1);
        for (const auto& r : roads) edges_[cursor[r.first]++] = r.second;
    }

    int size() const { return width_ * height_; }
    int id(int x, int y) const { return y * width_ + x; }
    int width() const { return width_; }
    int height() const { return height_; }
    const Edge* begin(int v) const { return edges_.data() + first_[v]; }
    const Edge* end(int v) const { return edges_.data() + first_[v + 1]; }

    // Lower bound of the travel time, used to direct the search.
    float bound(int a, int b) const {
        const int dx = std::abs(a % width_ - b % width_), dy = std::abs(a / width_ - b / width_);
        return 4.8f * float(dx + dy);
    }

private:
    int width_, height_;
    std::vector<int> first_;
    std::vector<Edge> edges_;
};

struct Leg {
    float seconds;
    int hops;
};

class Planner {
public:
    explicit Planner(const RoadNetwork& net) : net_(net) {}

    Leg plan(int from, int to) {
        std::vector<float> dist(net_.size(), kFar);
        std::vector<int> parent(net_.size(), -1);
        std::priority_queue<Item, std::vector<Item>, std::greater<Item>> open;
        dist[from] = 0.0f;
        open.push({net_.bound(from, to), from});
        while (!open.empty()) {
            const Item top = open.top();
            open.pop();
            const int v = top.second;
            if (v == to) break;
            if (top.first > dist[v] + net_.bound(v, to) + 1e-3f) continue;
            ++settled_;
            for (const Edge* e = net_.begin(v); e != net_.end(v); ++e) {
                const float d = dist[v] + e->seconds;
                if (d < dist[e->to]) {
                    dist[e->to] = d;
                    parent[e->to] = v;
                    open.push({d + net_.bound(e->to, to), e->to});
                }
            }
        }
        Leg leg{dist[to], 0};
        for (int v = to; v != from && v >= 0; v = parent[v]) ++leg.hops;
        return leg;
    }

    long settled() const { return settled_; }

private:
    using Item = std::pair<float, int>;
    static constexpr float kFar = std::numeric_limits<float>::infinity();
    const RoadNetwork& net_;
    long settled_ = 0;
};

std::vector<int> draw_stops(const RoadNetwork& net, std::mt19937& rng) {
    const int cx = 40 + int(rng() % uint32_t(net.width() - 80));
    const int cy = 40 + int(rng() % uint32_t(net.height() - 80));
    std::vector<int> stops{net.id(cx, cy)};
    for (int i = 0; i < kStops; ++i)
        stops.push_back(net.id(cx + int(rng() % 37) - 18, cy + int(rng() % 37) - 18));
    // Nearest-neighbour order keeps the legs short.
    for (size_t i = 1; i + 1 < stops.size(); ++i) {
        auto nearer = [&](int a, int b) { return net.bound(stops[i - 1], a) < net.bound(stops[i - 1], b); };
        std::iter_swap(stops.begin() + i, std::min_element(stops.begin() + i, stops.end(), nearer));
    }
    stops.push_back(stops.front());
    return stops;
}

}  // namespace

int main() {
    RoadNetwork net(kWidth, kHeight, 4711);
    Planner planner(net);
    std::mt19937 rng(99);
    double total = 0.0, longest = 0.0;
    long hops = 0, unreachable = 0;
    for (int round = 0; round < kRounds; ++round) {
        DWELL_STEP();
        const std::vector<int> stops = draw_stops(net, rng);
        double duration = 0.0;
        for (size_t i = 0; i + 1 < stops.size(); ++i) {
            const Leg leg = planner.plan(stops[i], stops[i + 1]);
            if (!std::isfinite(leg.seconds)) {
                ++unreachable;
                continue;
            }
            duration += leg.seconds;
            hops += leg.hops;
        }
        total += duration;
        longest = std::max(longest, duration);
    }
    std::printf("rounds %d, mean %.2f s, longest %.2f s, hops %ld, settled %ld, unreachable %ld\n", kRounds,
                total / kRounds, longest, hops, planner.settled(), unreachable);
    return 0;
}
