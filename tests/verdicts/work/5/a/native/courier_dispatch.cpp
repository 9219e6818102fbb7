// courier_dispatch: assigns the delivery jobs of one evening to couriers by
// travel time over the street network.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <queue>
#include <random>
#include <vector>

namespace {

constexpr float kFar = std::numeric_limits<float>::infinity();

struct Arc {
    int32_t to;
    float seconds;
};

// Streets in compressed rows: the arcs of node n are arcs[first[n]] .. arcs[first[n + 1]].
struct Network {
    int side;
    std::vector<int32_t> first;
    std::vector<Arc> arcs;
    int nodes() const { return static_cast<int>(first.size()) - 1; }
};

Network buildNetwork(int side, std::mt19937& gen) {
    std::uniform_real_distribution<float> pace(8, 30), chance(0, 1);
    Network net;
    net.side = side;
    net.first.push_back(0);
    std::vector<float> east(side * side), south(side * side);
    for (auto& s : east) s = chance(gen) < 0.06f ? kFar : pace(gen);
    for (auto& s : south) s = chance(gen) < 0.06f ? kFar : pace(gen);
    auto link = [&](int to, float s) {
        if (s != kFar)
            net.arcs.push_back({to, s});
    };
    for (int y = 0; y < side; ++y) {
        for (int x = 0; x < side; ++x) {
            int n = y * side + x;
            if (x + 1 < side) link(n + 1, east[n]);
            if (x > 0) link(n - 1, east[n - 1]);
            if (y + 1 < side) link(n + side, south[n]);
            if (y > 0) link(n - side, south[n - side]);
            net.first.push_back(static_cast<int32_t>(net.arcs.size()));
        }
    }
    return net;
}

class Router {
public:
    explicit Router(const Network& net) : net_(net) {}

    // Travel times from a node to all nodes within the limit; reports each once, in order of time.
    template <class Visit>
    void reach(int from, float limit, Visit visit) {
        best_.assign(net_.nodes(), kFar);
        parent_.assign(net_.nodes(), -1);
        heap_.clear();
        best_[from] = 0;
        push({0, from});
        while (!heap_.empty()) {
            Item it = pop();
            if (it.time > best_[it.node])
                continue;
            if (!visit(it.node, it.time))
                return;
            for (int a = net_.first[it.node]; a < net_.first[it.node + 1]; ++a) {
                const Arc& arc = net_.arcs[a];
                float t = it.time + arc.seconds;
                if (t < best_[arc.to] && t <= limit) {
                    best_[arc.to] = t;
                    parent_[arc.to] = it.node;
                    push({t, arc.to});
                }
            }
        }
    }

    int hops(int node) const {
        int n = 0;
        for (; parent_[node] >= 0; node = parent_[node]) ++n;
        return n;
    }

private:
    struct Item {
        float time;
        int32_t node;
        bool operator<(const Item& o) const { return time > o.time; }
    };
    void push(Item it) {
        heap_.push_back(it);
        std::push_heap(heap_.begin(), heap_.end());
    }
    Item pop() {
        std::pop_heap(heap_.begin(), heap_.end());
        Item it = heap_.back();
        heap_.pop_back();
        return it;
    }

    const Network& net_;
    std::vector<float> best_;
    std::vector<int32_t> parent_;
    std::vector<Item> heap_;
};

struct Dispatcher {
    const Network& net;
    Router router;
    std::vector<int> courier_at;             // node of each courier
    std::vector<std::vector<int>> standing;  // couriers at each node
    std::vector<float> load;

    Dispatcher(const Network& n, int couriers, std::mt19937& gen)
        : net(n), router(n), courier_at(couriers), standing(n.nodes()), load(couriers) {
        std::uniform_int_distribution<int> any(0, n.nodes() - 1);
        for (int c = 0; c < couriers; ++c) {
            courier_at[c] = any(gen);
            standing[courier_at[c]].push_back(c);
        }
    }

    void moveTo(int c, int node) {
        auto& old = standing[courier_at[c]];
        old.erase(std::find(old.begin(), old.end(), c));
        courier_at[c] = node;
        standing[node].push_back(c);
    }

    // The courier who can be at the pick-up first, his other work taken into account.
    int assign(int pickup, int dropoff, float now, float& wait, int& hops) {
        int chosen = -1, seen = 0;
        float when = kFar;
        router.reach(pickup, 900, [&](int node, float t) {
            for (int c : standing[node]) {
                float ready = std::max(load[c] - now, 0.0f) + t;
                if (ready < when) {
                    when = ready;
                    chosen = c;
                }
                ++seen;
            }
            return seen < 6;
        });
        if (chosen < 0)
            return -1;
        hops = router.hops(courier_at[chosen]);
        wait = when;
        load[chosen] = now + when + 240;
        moveTo(chosen, dropoff);
        return chosen;
    }
};

}  // namespace

int main() {
    constexpr int kSide = 420, kCouriers = 1500, kJobs = 42000;
    std::mt19937 gen(42);
    Network net = buildNetwork(kSide, gen);
    Dispatcher d(net, kCouriers, gen);
    std::uniform_int_distribution<int> any(0, net.nodes() - 1), offset(-15, 15);

    double wait_sum = 0;
    long hop_sum = 0;
    int served = 0, refused = 0;
    for (int j = 0; j < kJobs; ++j) {
        int pickup = any(gen);
        int x = std::clamp(pickup % kSide + offset(gen), 0, kSide - 1);
        int y = std::clamp(pickup / kSide + offset(gen), 0, kSide - 1);
        float wait = 0;
        int hops = 0;
        if (d.assign(pickup, y * kSide + x, j * 0.9f, wait, hops) < 0) {
            ++refused;
            continue;
        }
        ++served;
        wait_sum += wait;
        hop_sum += hops;
    }
    std::printf("%d nodes, %zu arcs: %d jobs served, %d refused, mean wait %.2f s, mean way %.2f streets\n",
                net.nodes(), net.arcs.size(), served, refused, wait_sum / served,
                static_cast<double>(hop_sum) / served);
    return 0;
}
