// depot_planner: fleet of transport robots in a warehouse.  Every planning cycle
// each robot gets a new goal and a path over the shared cost map (A*, 8-connected);
// traffic raises the cost of cells that were recently used.
#include <dwell/probe.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <queue>
#include <random>
#include <vector>

namespace {

struct Cell { int x, y; };

class CostMap {
public:
    CostMap(int w, int h) : w_(w), h_(h), cost_(size_t(w) * h, 1.0f) {
        // Shelves in blocks of 10 x 3 with aisles between them.
        for (int y = 4; y < h - 4; ++y)
            for (int x = 4; x < w - 4; ++x)
                if (x % 14 < 10 && y % 6 < 3) cost_[index(x, y)] = kBlocked;
    }
    static constexpr float kBlocked = 255.0f;
    int width() const { return w_; }
    int height() const { return h_; }
    int index(int x, int y) const { return y * w_ + x; }
    bool inside(int x, int y) const { return x >= 0 && y >= 0 && x < w_ && y < h_; }
    bool free(int i) const { return cost_[i] < kBlocked; }
    float cost(int i) const { return cost_[i]; }
    void add_traffic(int i) { cost_[i] = std::min(cost_[i] + 0.15f, 4.0f); }

private:
    int w_, h_;
    std::vector<float> cost_;
};

struct Node {
    float g = std::numeric_limits<float>::infinity();
    int parent = -1;
    bool closed = false;
};

class Planner {
public:
    explicit Planner(const CostMap &map)
        : map_(map), nodes_(size_t(map.width()) * map.height()) {}

    // Returns the cells from start to goal, both included; empty if there is no way.
    const std::vector<int> &plan(int start, int goal) {
        path_.clear();
        begin_query();
        Open open;
        node(start).g = 0.0f;
        open.push({heuristic(start, goal), start});
        while (!open.empty()) {
            int cur = open.top().second;
            open.pop();
            Node &n = node(cur);
            if (n.closed) continue;
            n.closed = true;
            ++expanded_;
            if (cur == goal) break;
            expand(cur, goal, open);
        }
        if (node(goal).closed)
            for (int i = goal; i >= 0; i = node(i).parent) path_.push_back(i);
        std::reverse(path_.begin(), path_.end());
        return path_;
    }

    float path_cost(int goal) { return node(goal).g; }
    uint64_t expanded() const { return expanded_; }

private:
    using Item = std::pair<float, int>;
    using Open = std::priority_queue<Item, std::vector<Item>, std::greater<Item>>;

    void begin_query() { std::fill(nodes_.begin(), nodes_.end(), Node{}); }

    Node &node(int i) { return nodes_[i]; }

    float heuristic(int a, int b) const {
        int w = map_.width();
        int dx = std::abs(a % w - b % w), dy = std::abs(a / w - b / w);
        return static_cast<float>(std::max(dx, dy)) + 0.41421356f * static_cast<float>(std::min(dx, dy));
    }

    void expand(int cur, int goal, Open &open) {
        static const int dx[8] = {1, -1, 0, 0, 1, 1, -1, -1};
        static const int dy[8] = {0, 0, 1, -1, 1, -1, 1, -1};
        int cx = cur % map_.width(), cy = cur / map_.width();
        float g0 = node(cur).g;
        for (int d = 0; d < 8; ++d) {
            int x = cx + dx[d], y = cy + dy[d];
            if (!map_.inside(x, y)) continue;
            int i = map_.index(x, y);
            if (!map_.free(i)) continue;
            Node &n = node(i);
            float g = g0 + map_.cost(i) * (d < 4 ? 1.0f : 1.41421356f);
            if (n.closed || g >= n.g) continue;
            n.g = g;
            n.parent = cur;
            open.push({g + heuristic(i, goal), i});
        }
    }

    const CostMap &map_;
    std::vector<Node> nodes_;
    std::vector<int> path_;
    uint64_t expanded_ = 0;
};

struct Robot { int at; double travelled = 0; };

}  // namespace

int main() {
    constexpr int kCycles = 400, kRobots = 12;
    CostMap map(1800, 1400);
    Planner planner(map);
    std::mt19937 rng(7);
    auto below = [&](int n) { return static_cast<int>(rng() % static_cast<unsigned>(n)); };
    auto random_free = [&](int near, int radius) {
        for (;;) {
            int x = near % map.width() + below(2 * radius + 1) - radius;
            int y = near / map.width() + below(2 * radius + 1) - radius;
            if (map.inside(x, y) && map.free(map.index(x, y))) return map.index(x, y);
        }
    };

    std::vector<Robot> fleet(kRobots);
    for (int r = 0; r < kRobots; ++r)
        fleet[r].at = random_free(map.index(120 + 130 * r, 700), 60);

    uint64_t failed = 0, cells = 0;
    for (int cycle = 0; cycle < kCycles; ++cycle) {
        DWELL_STEP();
        for (Robot &robot : fleet) {
            int goal = random_free(robot.at, below(8) == 0 ? 160 : 45);
            const std::vector<int> &path = planner.plan(robot.at, goal);
            if (path.empty()) { ++failed; continue; }
            for (int i : path) map.add_traffic(i);
            robot.travelled += planner.path_cost(goal);
            robot.at = goal;
            cells += path.size();
        }
    }
    double total = 0;
    for (const Robot &r : fleet) total += r.travelled;
    std::printf("plans %d failed %llu cells %llu expanded %llu cost %.1f\n", kCycles * kRobots,
                static_cast<unsigned long long>(failed), static_cast<unsigned long long>(cells),
                static_cast<unsigned long long>(planner.expanded()), total);
    return 0;
}
