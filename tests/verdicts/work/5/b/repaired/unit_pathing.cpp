// Simulates unit movement orders of a strategy map: every tick a few units get
// a new destination nearby and a path is searched over the terrain grid.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <queue>
#include <random>
#include <vector>

#include <dwell/probe.h>

namespace {

constexpr int kWidth = 960;
constexpr int kHeight = 960;
constexpr int kUnits = 900;
constexpr int kTicks = 5000;
constexpr int kOrdersPerTick = 8;

struct Cell {
    int x, y;
};

class Terrain {
public:
    explicit Terrain(uint32_t seed) : cost_(kWidth * kHeight, 10) {
        std::mt19937 rng(seed);
        // Smooth hills out of a few octaves of value noise, then rivers with fords.
        for (int y = 0; y < kHeight; y++)
            for (int x = 0; x < kWidth; x++) {
                double h = std::sin(x * 0.031) * std::cos(y * 0.027) +
                           0.5 * std::sin(x * 0.093 + y * 0.071);
                cost_[index(x, y)] = static_cast<uint8_t>(10 + 8 * std::max(0.0, h));
            }
        for (int r = 0; r < 40; r++) {
            double x = rng() % kWidth, y = rng() % kHeight, a = (rng() % 628) / 100.0;
            for (int i = 0; i < 260; i++) {
                if (inside(int(x), int(y)) && i % 23 > 2)
                    cost_[index(int(x), int(y))] = 0;
                a += ((rng() % 100) - 49.5) * 0.004;
                x += std::cos(a);
                y += std::sin(a);
            }
        }
    }

    static bool inside(int x, int y) { return x >= 0 && y >= 0 && x < kWidth && y < kHeight; }
    static int index(int x, int y) { return y * kWidth + x; }
    int cost(int i) const { return cost_[i]; }

private:
    std::vector<uint8_t> cost_; // 0: impassable
};

class PathFinder {
public:
    explicit PathFinder(const Terrain &t) : terrain_(t), nodes_(kWidth * kHeight) {}

    // Returns the cost of the path, or -1; the path runs from goal back to start.
    int find(Cell from, Cell to, std::vector<int> &path) {
        search_++;
        std::priority_queue<Open> open;

        const int start = Terrain::index(from.x, from.y);
        const int goal = Terrain::index(to.x, to.y);
        node(start).best = 0;
        open.push({heuristic(from, to), start, 0});
        path.clear();
        while (!open.empty()) {
            Open o = open.top();
            open.pop();
            if (o.node == goal) {
                for (int n = goal; n != -1; n = node(n).parent)
                    path.push_back(n);
                return o.g;
            }
            if (o.g > node(o.node).best)
                continue;
            expanded_++;
            const int x = o.node % kWidth, y = o.node / kWidth;
            for (int d = 0; d < 8; d++) {
                const int nx = x + kDx[d], ny = y + kDy[d];
                if (!Terrain::inside(nx, ny))
                    continue;
                const int n = Terrain::index(nx, ny);
                const int c = terrain_.cost(n);
                if (c == 0)
                    continue;
                const int g = o.g + (d < 4 ? c * 10 : c * 14);
                Node &nd = node(n);
                if (g < nd.best) {
                    nd.best = g;
                    nd.parent = o.node;
                    open.push({g + heuristic({nx, ny}, to), n, g});
                }
            }
        }
        return -1;
    }

    long expanded() const { return expanded_; }

private:
    static constexpr int kUnreached = 1 << 30;
    static constexpr int kDx[8] = {1, -1, 0, 0, 1, 1, -1, -1};
    static constexpr int kDy[8] = {0, 0, 1, -1, 1, -1, 1, -1};

    struct Open {
        int f, node, g;
        bool operator<(const Open &o) const { return f != o.f ? f > o.f : node > o.node; }
    };

    static int heuristic(Cell a, Cell b) {
        const int dx = std::abs(a.x - b.x), dy = std::abs(a.y - b.y);
        return 100 * std::max(dx, dy) + 40 * std::min(dx, dy);
    }

    // State of a node; it counts only when it was written by the current search.
    struct Node {
        int best = kUnreached, parent = -1;
        uint32_t search = 0;
    };

    Node &node(int i) {
        Node &n = nodes_[i];
        if (n.search != search_)
            n = {kUnreached, -1, search_};
        return n;
    }

    const Terrain &terrain_;
    std::vector<Node> nodes_;
    uint32_t search_ = 0;
    long expanded_ = 0;
};

struct Unit {
    Cell at;
    std::vector<int> path;
};

} // namespace

int main() {
    Terrain terrain(2024);
    PathFinder finder(terrain);
    std::mt19937 rng(7);
    std::vector<Unit> units(kUnits);
    for (auto &u : units) {
        do
            u.at = {int(rng() % kWidth), int(rng() % kHeight)};
        while (terrain.cost(Terrain::index(u.at.x, u.at.y)) == 0);
    }

    long orders = 0, refused = 0, total_cost = 0, moves = 0;
    for (int tick = 0; tick < kTicks; tick++) {
        DWELL_STEP();
        for (int k = 0; k < kOrdersPerTick; k++) {
            Unit &u = units[rng() % units.size()];
            Cell to{u.at.x + int(rng() % 101) - 50, u.at.y + int(rng() % 101) - 50};
            to.x = std::clamp(to.x, 0, kWidth - 1);
            to.y = std::clamp(to.y, 0, kHeight - 1);
            if (terrain.cost(Terrain::index(to.x, to.y)) == 0) {
                refused++;
                continue;
            }
            const int c = finder.find(u.at, to, u.path);
            orders++;
            if (c >= 0)
                total_cost += c;
        }
        for (auto &u : units) {
            if (u.path.empty())
                continue;
            u.at = {u.path.back() % kWidth, u.path.back() / kWidth};
            u.path.pop_back();
            moves++;
        }
    }
    std::printf("%ld orders (%ld refused), mean cost %.1f, %ld moves, %ld nodes expanded\n", orders,
                refused, double(total_cost) / orders, moves, finder.expanded());
}
