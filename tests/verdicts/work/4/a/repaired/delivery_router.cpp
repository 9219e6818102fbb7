// Travel times for a courier dispatch desk: point-to-point queries on a road
// network, most of them within a neighbourhood of the city.
#include <dwell/probe.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <queue>
#include <random>
#include <vector>

namespace {

constexpr uint32_t kWidth = 900;
constexpr uint32_t kHeight = 700;
constexpr uint32_t kNodes = kWidth * kHeight;
constexpr uint32_t kQueries = 3400;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Arc {
    uint32_t head;
    float seconds;
};

class RoadNetwork {
public:
    explicit RoadNetwork(uint32_t seed) : first_(kNodes + 1) {
        std::mt19937 rng(seed);
        std::uniform_real_distribution<float> jam(1.0f, 1.8f);
        arcs_.reserve(4 * kNodes);
        for (uint32_t v = 0; v < kNodes; ++v) {
            first_[v] = arcs_.size();
            uint32_t x = v % kWidth, y = v / kWidth;
            if (x > 0) connect(v, v - 1, y % 20 == 0, rng, jam);
            if (x + 1 < kWidth) connect(v, v + 1, y % 20 == 0, rng, jam);
            if (y > 0) connect(v, v - kWidth, x % 20 == 0, rng, jam);
            if (y + 1 < kHeight) connect(v, v + kWidth, x % 20 == 0, rng, jam);
        }
        first_[kNodes] = arcs_.size();
    }

    const Arc* begin(uint32_t v) const { return arcs_.data() + first_[v]; }
    const Arc* end(uint32_t v) const { return arcs_.data() + first_[v + 1]; }
    size_t arcs() const { return arcs_.size(); }

private:
    void connect(uint32_t, uint32_t to, bool arterial, std::mt19937& rng,
                 std::uniform_real_distribution<float>& jam) {
        arcs_.push_back({to, (arterial ? 4.0f : 9.0f) * jam(rng)});
    }

    std::vector<uint32_t> first_;
    std::vector<Arc> arcs_;
};

struct Route {
    float seconds;
    std::vector<uint32_t> nodes;
};

class Router {
public:
    explicit Router(const RoadNetwork& net)
        : net_(net), dist_(kNodes, kInfinity), parent_(kNodes, kNodes) {}

    Route shortest(uint32_t from, uint32_t to) {
        for (uint32_t v : touched_) {
            dist_[v] = kInfinity;
            parent_[v] = kNodes;
        }
        touched_.clear();
        queue_.clear();
        std::vector<float>& dist = dist_;
        std::vector<uint32_t>& parent = parent_;
        dist[from] = 0;
        touched_.push_back(from);
        push(from, estimate(from, to));
        while (!queue_.empty()) {
            Item top = pop();
            if (top.node == to) break;
            if (top.key > dist[top.node] + estimate(top.node, to)) continue;
            ++settled_;
            for (const Arc* a = net_.begin(top.node); a != net_.end(top.node); ++a) {
                float d = dist[top.node] + a->seconds;
                if (d < dist[a->head]) {
                    if (dist[a->head] == kInfinity) touched_.push_back(a->head);
                    dist[a->head] = d;
                    parent[a->head] = top.node;
                    push(a->head, d + estimate(a->head, to));
                }
            }
        }
        Route route{dist[to], {}};
        for (uint32_t v = to; v != kNodes; v = parent[v]) route.nodes.push_back(v);
        std::reverse(route.nodes.begin(), route.nodes.end());
        return route;
    }

    uint64_t settled() const { return settled_; }

private:
    struct Item {
        float key;
        uint32_t node;
        bool operator<(const Item& o) const { return key > o.key; }
    };

    static float estimate(uint32_t v, uint32_t to) {
        int dx = int(v % kWidth) - int(to % kWidth), dy = int(v / kWidth) - int(to / kWidth);
        return 4.0f * float(std::abs(dx) + std::abs(dy));
    }

    void push(uint32_t node, float key) {
        queue_.push_back({key, node});
        std::push_heap(queue_.begin(), queue_.end());
    }

    Item pop() {
        std::pop_heap(queue_.begin(), queue_.end());
        Item top = queue_.back();
        queue_.pop_back();
        return top;
    }

    const RoadNetwork& net_;
    std::vector<Item> queue_;
    std::vector<float> dist_;
    std::vector<uint32_t> parent_, touched_;
    uint64_t settled_ = 0;
};

struct Job {
    uint32_t pickup, dropoff;
};

std::vector<Job> make_jobs(uint32_t seed) {
    std::mt19937 rng(seed);
    std::normal_distribution<float> spread(0.0f, 16.0f);
    std::vector<Job> jobs;
    while (jobs.size() < kQueries) {
        int x = 60 + int(rng() % (kWidth - 120)), y = 60 + int(rng() % (kHeight - 120));
        int tx = x + int(spread(rng)), ty = y + int(spread(rng));
        if (tx < 0 || ty < 0 || tx >= int(kWidth) || ty >= int(kHeight)) continue;
        jobs.push_back({uint32_t(y) * kWidth + x, uint32_t(ty) * kWidth + tx});
    }
    return jobs;
}

}  // namespace

int main() {
    RoadNetwork net(7);
    Router router(net);
    std::vector<Job> jobs = make_jobs(11);
    double total = 0;
    float longest = 0;
    uint64_t hops = 0;
    std::vector<uint32_t> usage(kNodes);

    for (const Job& job : jobs) {
        DWELL_STEP();
        Route r = router.shortest(job.pickup, job.dropoff);
        total += r.seconds;
        longest = std::max(longest, r.seconds);
        hops += r.nodes.size() - 1;
        for (uint32_t v : r.nodes) ++usage[v];
    }

    uint32_t busiest = std::max_element(usage.begin(), usage.end()) - usage.begin();
    std::printf("arcs %zu, jobs %zu, mean %.2f s, longest %.1f s, hops %llu\n", net.arcs(),
                jobs.size(), total / jobs.size(), longest, (unsigned long long)hops);
    std::printf("settled per job %.1f, busiest crossing %u/%u used %u times\n",
                double(router.settled()) / jobs.size(), busiest % kWidth, busiest / kWidth,
                usage[busiest]);
    return 0;
}
