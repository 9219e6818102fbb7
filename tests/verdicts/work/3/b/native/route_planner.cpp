// Travel times on a synthetic road network: CSR adjacency, Dijkstra with a
// binary heap, accessibility score per depot.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <queue>
#include <random>
#include <utility>
#include <vector>

namespace {

struct Edge {
    uint32_t from, to;
    float seconds;
};

struct Graph {
    std::vector<uint32_t> first;
    std::vector<uint32_t> to;
    std::vector<float> seconds;
    size_t nodes() const { return first.size() - 1; }
};

std::vector<Edge> make_roads(uint32_t side)
{
    std::mt19937 rng(31);
    std::uniform_real_distribution<float> u(0.0f, 1.0f);
    std::vector<Edge> roads;
    roads.reserve(static_cast<size_t>(side) * side * 5);
    auto both = [&](uint32_t a, uint32_t b, float t) {
        roads.push_back({a, b, t});
        roads.push_back({b, a, t * (0.9f + 0.2f * u(rng))});
    };
    for (uint32_t y = 0; y < side; y++)
        for (uint32_t x = 0; x < side; x++) {
            uint32_t n = y * side + x;
            float speed = (x % 32 == 0 || y % 32 == 0) ? 3.0f : 1.0f;
            if (x + 1 < side)
                both(n, n + 1, (8.0f + 6.0f * u(rng)) / speed);
            if (y + 1 < side)
                both(n, n + side, (8.0f + 6.0f * u(rng)) / speed);
        }
    return roads;
}

Graph build_graph(const std::vector<Edge>& roads, size_t nodes)
{
    Graph g;
    g.first.assign(nodes + 1, 0);
    for (const Edge& e : roads)
        g.first[e.from + 1]++;
    for (size_t i = 0; i < nodes; i++)
        g.first[i + 1] += g.first[i];
    g.to.resize(roads.size());
    g.seconds.resize(roads.size());
    std::vector<uint32_t> at(g.first.begin(), g.first.end() - 1);
    for (const Edge& e : roads) {
        uint32_t slot = at[e.from]++;
        g.to[slot] = e.to;
        g.seconds[slot] = e.seconds;
    }
    return g;
}

using Item = std::pair<float, uint32_t>;
using Heap = std::priority_queue<Item, std::vector<Item>, std::greater<Item>>;

size_t travel_times(const Graph& g, uint32_t depot, std::vector<float>& time)
{
    std::fill(time.begin(), time.end(), 1e30f);
    std::vector<Item> storage;
    storage.reserve(g.nodes());
    Heap heap(std::greater<Item>(), std::move(storage));
    size_t settled = 0;
    time[depot] = 0;
    heap.emplace(0.0f, depot);
    while (!heap.empty()) {
        auto [t, n] = heap.top();
        heap.pop();
        if (t > time[n])
            continue;
        settled++;
        for (uint32_t k = g.first[n]; k < g.first[n + 1]; k++) {
            float nt = t + g.seconds[k];
            if (nt < time[g.to[k]]) {
                time[g.to[k]] = nt;
                heap.emplace(nt, g.to[k]);
            }
        }
    }
    return settled;
}

double accessibility(const std::vector<float>& time, float horizon)
{
    double score = 0;
    for (float t : time)
        if (t < horizon)
            score += 1.0 - static_cast<double>(t / horizon);
    return score;
}

}  // namespace

int main(int argc, char** argv)
{
    int depots = argc > 1 ? std::atoi(argv[1]) : 60;
    const uint32_t side = 700;
    Graph g = build_graph(make_roads(side), static_cast<size_t>(side) * side);
    std::mt19937 rng(8);
    std::vector<float> time(g.nodes());
    double best = 0;
    uint32_t where = 0;
    size_t settled = 0;
    for (int d = 0; d < depots; d++) {
        uint32_t depot = static_cast<uint32_t>(rng() % g.nodes());
        settled += travel_times(g, depot, time);
        double score = accessibility(time, 2500.0f);
        if (score > best) {
            best = score;
            where = depot;
        }
    }
    std::printf("depots %d settled %zu best %u score %.4f\n", depots, settled, where, best);
    return 0;
}
