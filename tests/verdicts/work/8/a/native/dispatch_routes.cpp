// dispatch_routes: travel-time matrix and courier assignment for a delivery town.
//
// Builds a street graph with one-way and slow streets, computes the travel times
// from every depot and courier to the open orders, and assigns orders greedily
// with a local improvement at the end.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <queue>
#include <random>
#include <vector>

namespace {

constexpr int kSide = 420;
constexpr int kNodes = kSide * kSide;
constexpr int kCouriers = 380;
constexpr int kOrders = 700;
constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max();

struct Edge {
    int to;
    uint32_t seconds;
};

// Compressed adjacency: the edges of node n are edges[first[n] .. first[n + 1]).
struct Streets {
    std::vector<int> first;
    std::vector<Edge> edges;
};

Streets build_streets(std::mt19937& rng) {
    Streets s;
    s.first.reserve(kNodes + 1);
    s.edges.reserve(4 * kNodes);
    std::vector<uint8_t> blocked(kNodes);
    for (uint8_t& b : blocked)
        b = rng() % 100 < 6;
    const int dx[] = {1, -1, 0, 0}, dy[] = {0, 0, 1, -1};
    for (int n = 0; n < kNodes; ++n) {
        s.first.push_back(static_cast<int>(s.edges.size()));
        if (blocked[n])
            continue;
        int x = n % kSide, y = n / kSide;
        for (int d = 0; d < 4; ++d) {
            int u = x + dx[d], v = y + dy[d];
            if (u < 0 || v < 0 || u >= kSide || v >= kSide || blocked[v * kSide + u])
                continue;
            if (rng() % 100 < 8)  // one-way street
                continue;
            bool artery = (d < 2 ? y : x) % 15 == 0;
            uint32_t t = artery ? 6 + rng() % 3 : 11 + rng() % 14;
            s.edges.push_back({v * kSide + u, t});
        }
    }
    s.first.push_back(static_cast<int>(s.edges.size()));
    return s;
}

class Router {
public:
    explicit Router(const Streets& streets) : streets_(streets), time_(kNodes) {}

    // Travel times from one node to the given targets; stops when all are settled.
    void times_from(int source, const std::vector<int>& targets, uint32_t* out) {
        std::fill(time_.begin(), time_.end(), kFar);
        wanted_.assign(kNodes, 0);
        size_t open = 0;
        for (int t : targets)
            if (!wanted_[t]) {
                wanted_[t] = 1;
                ++open;
            }
        heap_.clear();
        push(source, 0);
        while (!heap_.empty() && open > 0) {
            std::pop_heap(heap_.begin(), heap_.end(), later);
            Entry e = heap_.back();
            heap_.pop_back();
            if (e.time != time_[e.node])
                continue;
            ++settled_;
            open -= wanted_[e.node];
            wanted_[e.node] = 0;
            for (int i = streets_.first[e.node]; i < streets_.first[e.node + 1]; ++i)
                push(streets_.edges[i].to, e.time + streets_.edges[i].seconds);
        }
        for (size_t i = 0; i < targets.size(); ++i)
            out[i] = time_[targets[i]];
    }

    long settled() const { return settled_; }

private:
    struct Entry {
        uint32_t time;
        int node;
    };
    static bool later(const Entry& a, const Entry& b) { return a.time > b.time; }

    void push(int node, uint32_t time) {
        if (time >= time_[node])
            return;
        time_[node] = time;
        heap_.push_back({time, node});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    const Streets& streets_;
    std::vector<uint32_t> time_;
    std::vector<uint8_t> wanted_;
    std::vector<Entry> heap_;
    long settled_ = 0;
};

int place(const Streets& s, std::mt19937& rng) {
    for (;;) {
        int n = static_cast<int>(rng() % kNodes);
        if (s.first[n + 1] - s.first[n] >= 2)
            return n;
    }
}

struct Plan {
    std::vector<int> courier_of;
    std::vector<uint64_t> load;
};

Plan assign(const std::vector<uint32_t>& times) {
    Plan p{std::vector<int>(kOrders, -1), std::vector<uint64_t>(kCouriers, 0)};
    for (int o = 0; o < kOrders; ++o) {
        int best = -1;
        for (int c = 0; c < kCouriers; ++c) {
            uint32_t t = times[c * kOrders + o];
            if (t == kFar)
                continue;
            if (best < 0 || p.load[c] + t < p.load[best] + times[best * kOrders + o])
                best = c;
        }
        if (best >= 0) {
            p.courier_of[o] = best;
            p.load[best] += times[best * kOrders + o];
        }
    }
    return p;
}

// Swaps two orders between couriers as long as the total travel time falls.
int improve(Plan& p, const std::vector<uint32_t>& times) {
    int swaps = 0;
    for (int round = 0; round < 4; ++round)
        for (int a = 0; a < kOrders; ++a)
            for (int b = a + 1; b < kOrders; ++b) {
                int ca = p.courier_of[a], cb = p.courier_of[b];
                if (ca < 0 || cb < 0 || ca == cb)
                    continue;
                uint64_t now = uint64_t(times[ca * kOrders + a]) + times[cb * kOrders + b];
                uint64_t then = uint64_t(times[ca * kOrders + b]) + times[cb * kOrders + a];
                if (then < now) {
                    std::swap(p.courier_of[a], p.courier_of[b]);
                    ++swaps;
                }
            }
    return swaps;
}

}  // namespace

int main() {
    std::mt19937 rng(60601);
    Streets streets = build_streets(rng);
    std::vector<int> orders(kOrders);
    for (int& o : orders)
        o = place(streets, rng);

    Router router(streets);
    std::vector<uint32_t> times(size_t(kCouriers) * kOrders);
    for (int c = 0; c < kCouriers; ++c)
        router.times_from(place(streets, rng), orders, &times[size_t(c) * kOrders]);

    Plan plan = assign(times);
    int swaps = improve(plan, times);
    uint64_t total = 0, served = 0;
    for (int o = 0; o < kOrders; ++o)
        if (plan.courier_of[o] >= 0) {
            total += times[plan.courier_of[o] * kOrders + o];
            ++served;
        }
    std::printf("nodes %d  edges %zu  settled %ld\n", kNodes, streets.edges.size(),
                router.settled());
    std::printf("served %llu of %d  mean travel %.2f s  swaps %d\n",
                static_cast<unsigned long long>(served), kOrders, double(total) / served, swaps);
    return 0;
}
