// road_router: answers a day's courier trips on a city road network.
//
// The network is a jittered street grid with motorways; trips are short
// compared with the city. For each trip the quickest route is found with A*,
// its length and turns are summed up, and the traversed segments are counted
// for the congestion report.
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

constexpr int kSide = 900;
constexpr int kTrips = 7000;
constexpr int kReach = 50;
constexpr double kTopSpeed = 30.0;  // metres per second

struct Arc {
    int to;
    float seconds;
};

class Network {
public:
    explicit Network(std::mt19937& rng) : x_(kSide * kSide), y_(kSide * kSide) {
        std::uniform_real_distribution<double> jitter(-20.0, 20.0), speed(6.0, 14.0), coin(0.0, 1.0);
        for (int r = 0; r < kSide; ++r)
            for (int c = 0; c < kSide; ++c) {
                x_[id(r, c)] = c * 100.0 + jitter(rng);
                y_[id(r, c)] = r * 100.0 + jitter(rng);
            }
        std::vector<std::pair<int, Arc>> arcs;
        arcs.reserve(std::size_t(kSide) * kSide * 4);
        auto street = [&](int a, int b, bool fast) {
            if (!fast && coin(rng) < 0.08) return;
            double v = fast ? kTopSpeed : speed(rng);
            float s = float(metres(a, b) / v);
            arcs.push_back({a, {b, s}});
            arcs.push_back({b, {a, s}});
        };
        for (int r = 0; r < kSide; ++r)
            for (int c = 0; c < kSide; ++c) {
                if (c + 1 < kSide) street(id(r, c), id(r, c + 1), r % 60 == 0);
                if (r + 1 < kSide) street(id(r, c), id(r + 1, c), c % 60 == 0);
            }
        first_.assign(size() + 1, 0);
        for (const auto& a : arcs) ++first_[a.first + 1];
        for (int v = 0; v < size(); ++v) first_[v + 1] += first_[v];
        arcs_.resize(arcs.size());
        std::vector<int> slot(first_.begin(), first_.end() - 1);
        for (const auto& a : arcs) arcs_[slot[a.first]++] = a.second;
    }

    static int id(int r, int c) { return r * kSide + c; }
    int size() const { return int(x_.size()); }
    double metres(int a, int b) const { return std::hypot(x_[a] - x_[b], y_[a] - y_[b]); }
    double angle(int a, int b) const { return std::atan2(y_[b] - y_[a], x_[b] - x_[a]); }
    int begin(int v) const { return first_[v]; }
    int end(int v) const { return first_[v + 1]; }
    const Arc& arc(int i) const { return arcs_[i]; }
    std::size_t arcCount() const { return arcs_.size(); }

private:
    std::vector<double> x_, y_;
    std::vector<int> first_;
    std::vector<Arc> arcs_;
};

struct Route {
    bool found = false;
    double seconds = 0;
    long settled = 0;
    std::vector<int> arcs;  // in driving order
};

class Router {
public:
    explicit Router(const Network& net)
        : net_(net), dist_(net.size(), kInf), via_(net.size(), -1), prev_(net.size(), -1), done_(net.size(), 0) {}

    Route find(int from, int to) {
        for (int v : touched_) {
            dist_[v] = kInf;
            via_[v] = prev_[v] = -1;
            done_[v] = 0;
        }
        touched_.clear();
        auto &dist = dist_;
        auto &via = via_, &prev = prev_;
        auto &done = done_;
        using Item = std::pair<double, int>;
        std::priority_queue<Item, std::vector<Item>, std::greater<Item>> open;
        Route route;
        dist[from] = 0;
        touched_.push_back(from);
        open.push({net_.metres(from, to) / kTopSpeed, from});
        while (!open.empty()) {
            int v = open.top().second;
            open.pop();
            if (done[v]) continue;
            done[v] = 1;
            ++route.settled;
            if (v == to) break;
            for (int i = net_.begin(v); i < net_.end(v); ++i) {
                const Arc& a = net_.arc(i);
                double d = dist[v] + a.seconds;
                if (d < dist[a.to]) {
                    if (dist[a.to] == kInf) touched_.push_back(a.to);
                    dist[a.to] = d;
                    via[a.to] = i;
                    prev[a.to] = v;
                    open.push({d + net_.metres(a.to, to) / kTopSpeed, a.to});
                }
            }
        }
        if (dist[to] < kInf) {
            route.found = true;
            route.seconds = dist[to];
            for (int v = to; v != from; v = prev[v]) route.arcs.push_back(via[v]);
            std::reverse(route.arcs.begin(), route.arcs.end());
        }
        return route;
    }

private:
    static constexpr double kInf = std::numeric_limits<double>::infinity();
    const Network& net_;
    std::vector<double> dist_;
    std::vector<int> via_, prev_;
    std::vector<char> done_;
    std::vector<int> touched_;
};

}  // namespace

int main() {
    std::mt19937 rng(20240611);
    Network net(rng);
    Router router(net);
    std::uniform_int_distribution<int> any(kReach, kSide - kReach - 1), near(-kReach, kReach);
    std::vector<std::uint32_t> load(net.arcCount(), 0);
    double hours = 0, kilometres = 0;
    long settled = 0, turns = 0;
    int unreachable = 0;

    for (int trip = 0; trip < kTrips; ++trip) {
        DWELL_STEP();
        int r = any(rng), c = any(rng);
        int from = Network::id(r, c), to = Network::id(r + near(rng), c + near(rng));
        Route route = router.find(from, to);
        settled += route.settled;
        if (!route.found) {
            ++unreachable;
            continue;
        }
        hours += route.seconds / 3600;
        int at = from;
        double heading = 0;
        for (std::size_t k = 0; k < route.arcs.size(); ++k) {
            int next = net.arc(route.arcs[k]).to;
            double h = net.angle(at, next);
            if (k > 0 && std::fabs(std::remainder(h - heading, 2 * M_PI)) > 0.8) ++turns;
            heading = h;
            kilometres += net.metres(at, next) / 1000;
            ++load[route.arcs[k]];
            at = next;
        }
    }
    std::uint32_t busiest = *std::max_element(load.begin(), load.end());
    std::printf("trips %d  unreachable %d  settled %ld\n", kTrips, unreachable, settled);
    std::printf("driven %.2f h  %.2f km  turns %ld  busiest segment %u\n", hours, kilometres, turns, busiest);
    return 0;
}
