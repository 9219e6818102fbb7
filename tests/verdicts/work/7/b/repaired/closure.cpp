// closure - structural statistics of a large social graph: PageRank of the
// members and the clustering coefficient by degree class, estimated from
// sampled wedges (two neighbours of a member: are they connected?).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr uint32_t kMembers = 220000;
constexpr int kLinksPerMember = 7;
constexpr int kRounds = 24;
constexpr int kWedges = 4500000;
constexpr int kClasses = 6;

class Graph {
public:
    explicit Graph(uint32_t n) : adjacency_(n) {}

    void connect(uint32_t a, uint32_t b)
    {
        adjacency_[a].push_back(b);
        adjacency_[b].push_back(a);
    }

    // Sorts the adjacency lists and removes parallel edges.
    void freeze()
    {
        for (auto& l : adjacency_) {
            std::sort(l.begin(), l.end());
            l.erase(std::unique(l.begin(), l.end()), l.end());
            l.shrink_to_fit();
        }
    }

    uint32_t size() const { return static_cast<uint32_t>(adjacency_.size()); }
    size_t degree(uint32_t v) const { return adjacency_[v].size(); }
    const std::vector<uint32_t>& neighbours(uint32_t v) const { return adjacency_[v]; }

    bool connected(uint32_t a, uint32_t b) const
    {
        if (degree(a) > degree(b))
            std::swap(a, b);
        const auto& list = neighbours(a);
        return std::binary_search(list.begin(), list.end(), b);
    }

    template <class Visit>
    void for_each_neighbour(uint32_t v, Visit&& visit) const
    {
        for (uint32_t u : adjacency_[v])
            visit(u);
    }

private:
    std::vector<std::vector<uint32_t>> adjacency_;
};

// Preferential attachment with triad formation (Holme and Kim).
Graph make_graph()
{
    std::mt19937_64 rng(31337);
    Graph g(kMembers);
    std::vector<uint32_t> ends;     // every edge contributes both ends
    ends.reserve(2ull * kMembers * kLinksPerMember);
    auto link = [&](uint32_t a, uint32_t b) {
        g.connect(a, b);
        ends.push_back(a);
        ends.push_back(b);
    };
    for (uint32_t v = 1; v <= kLinksPerMember; v++)
        for (uint32_t u = 0; u < v; u++)
            link(v, u);
    for (uint32_t v = kLinksPerMember + 1; v < kMembers; v++) {
        uint32_t target = ends[rng() % ends.size()];
        link(v, target);
        for (int k = 1; k < kLinksPerMember; k++) {
            uint32_t next = ends[rng() % ends.size()];
            if (rng() % 100 < 45) {         // close a triangle through an edge of the target
                size_t pick = rng() % g.degree(target);
                g.for_each_neighbour(target, [&, i = size_t{0}](uint32_t u) mutable {
                    if (i++ == pick)
                        next = u;
                });
            }
            if (next != v)
                link(v, next);
        }
    }
    g.freeze();
    return g;
}

std::vector<double> pagerank(const Graph& g)
{
    const double damping = 0.85;
    std::vector<double> rank(g.size(), 1.0 / g.size()), share(g.size());
    for (int round = 0; round < kRounds; round++) {
        for (uint32_t v = 0; v < g.size(); v++)
            share[v] = rank[v] / static_cast<double>(g.degree(v));
        for (uint32_t v = 0; v < g.size(); v++) {
            double in = 0.0;
            g.for_each_neighbour(v, [&](uint32_t u) { in += share[u]; });
            rank[v] = (1.0 - damping) / g.size() + damping * in;
        }
    }
    return rank;
}

struct ClassCount {
    long wedges = 0, closed = 0;
};

int degree_class(size_t degree)
{
    int c = 0;
    for (size_t limit = 12; degree > limit && c < kClasses - 1; limit *= 3)
        c++;
    return c;
}

std::array<ClassCount, kClasses> sample_wedges(const Graph& g)
{
    // Members are drawn in proportion to their degree so that hubs are covered.
    std::vector<uint64_t> upto(g.size() + 1, 0);
    for (uint32_t v = 0; v < g.size(); v++)
        upto[v + 1] = upto[v] + g.degree(v);
    std::mt19937_64 rng(2718);
    std::array<ClassCount, kClasses> count{};
    for (int i = 0; i < kWedges; i++) {
        uint64_t end = rng() % upto.back();
        uint32_t centre = static_cast<uint32_t>(
            std::upper_bound(upto.begin(), upto.end(), end) - upto.begin() - 1);
        if (g.degree(centre) < 2)
            continue;
        const auto& around = g.neighbours(centre);
        size_t a = rng() % around.size(), b = rng() % (around.size() - 1);
        if (b >= a)
            b++;
        auto& c = count[degree_class(around.size())];
        c.wedges++;
        c.closed += g.connected(around[a], around[b]);
    }
    return count;
}

}  // namespace

int main()
{
    const Graph g = make_graph();
    size_t edges = 0, top = 0;
    for (uint32_t v = 0; v < g.size(); v++) {
        edges += g.degree(v);
        top = std::max(top, g.degree(v));
    }
    std::printf("%u members, %zu links, largest degree %zu\n", g.size(), edges / 2, top);

    const auto rank = pagerank(g);
    double entropy = 0.0;
    for (double r : rank)
        entropy -= r * std::log2(r);
    auto best = std::max_element(rank.begin(), rank.end()) - rank.begin();
    std::printf("pagerank: entropy %.6f bits, first member %td (%.6e)\n", entropy, best, rank[best]);

    int i = 0;
    for (const auto& c : sample_wedges(g))
        std::printf("degree class %d: %8ld wedges, clustering %.5f\n", i++, c.wedges,
                    c.wedges ? static_cast<double>(c.closed) / c.wedges : 0.0);
    return 0;
}
