// Plans pick tours for carts in a large warehouse: shortest paths between the
// bays of an order on a grid with shelves, then a tour improved by 2-opt.
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

constexpr int kWidth = 640;
constexpr int kHeight = 480;
constexpr float kInf = std::numeric_limits<float>::infinity();

struct Cell {
    int x, y;
};

class Warehouse {
public:
    explicit Warehouse(std::mt19937 &gen) : cost_(std::size_t(kWidth) * kHeight, 1.0f) {
        for (int y = 4; y < kHeight - 4; y++)
            for (int x = 4; x < kWidth - 4; x++)
                if (x % 6 < 3 && y % 30 > 2)
                    cost_[y * kWidth + x] = 0.0f;
        for (float &c : cost_)
            if (c > 0 && gen() % 12 == 0)
                c = 1.5f;
    }
    bool open(int i) const { return cost_[i] > 0; }
    float cost(int i) const { return cost_[i]; }

    Cell aisle_near(int x, int y, std::mt19937 &gen) const {
        for (;;) {
            int nx = std::clamp(x + int(gen() % 41) - 20, 0, kWidth - 1);
            int ny = std::clamp(y + int(gen() % 41) - 20, 0, kHeight - 1);
            if (open(ny * kWidth + nx))
                return {nx, ny};
        }
    }

private:
    std::vector<float> cost_;
};

class PathFinder {
public:
    explicit PathFinder(const Warehouse &w)
        : w_(w), best_(std::size_t(kWidth) * kHeight, kInf), closed_(std::size_t(kWidth) * kHeight, false) {}

    float distance(Cell from, Cell to) {
        for (int i : touched_) {
            best_[i] = kInf;
            closed_[i] = false;
        }
        touched_.clear();
        open_.clear();
        const int goal = to.y * kWidth + to.x;
        push(from.y * kWidth + from.x, 0.0f, to);
        while (!open_.empty()) {
            std::pop_heap(open_.begin(), open_.end());
            const int i = open_.back().cell;
            open_.pop_back();
            if (closed_[i])
                continue;
            closed_[i] = true;
            expanded_++;
            if (i == goal)
                return best_[i];
            const int x = i % kWidth, y = i / kWidth;
            const float g = best_[i];
            if (x > 0) push(i - 1, g + w_.cost(i - 1), to);
            if (x + 1 < kWidth) push(i + 1, g + w_.cost(i + 1), to);
            if (y > 0) push(i - kWidth, g + w_.cost(i - kWidth), to);
            if (y + 1 < kHeight) push(i + kWidth, g + w_.cost(i + kWidth), to);
        }
        return kInf;
    }

    std::uint64_t expanded() const { return expanded_; }

private:
    struct Node {
        float f;
        int cell;
        bool operator<(const Node &o) const { return f != o.f ? f > o.f : cell > o.cell; }
    };

    void push(int i, float g, Cell to) {
        if (!w_.open(i) || g >= best_[i])
            return;
        if (best_[i] == kInf)
            touched_.push_back(i);
        best_[i] = g;
        float h = float(std::abs(i % kWidth - to.x) + std::abs(i / kWidth - to.y));
        open_.push_back({g + h, i});
        std::push_heap(open_.begin(), open_.end());
    }

    const Warehouse &w_;
    std::vector<float> best_;
    std::vector<bool> closed_;
    std::vector<Node> open_;
    std::vector<int> touched_;
    std::uint64_t expanded_ = 0;
};

// Nearest neighbour start, then 2-opt until nothing improves.
float tour_length(const std::vector<float> &d, int n) {
    std::vector<int> t{0};
    std::vector<bool> used(n);
    used[0] = true;
    while (int(t.size()) < n) {
        int next = -1;
        for (int j = 0; j < n; j++)
            if (!used[j] && (next < 0 || d[t.back() * n + j] < d[t.back() * n + next]))
                next = j;
        used[next] = true;
        t.push_back(next);
    }
    for (bool better = true; better;) {
        better = false;
        for (int i = 1; i + 1 < n; i++)
            for (int j = i + 1; j < n; j++) {
                int a = t[i - 1], b = t[i], c = t[j], e = t[(j + 1) % n];
                if (d[a * n + c] + d[b * n + e] + 1e-3f < d[a * n + b] + d[c * n + e]) {
                    std::reverse(t.begin() + i, t.begin() + j + 1);
                    better = true;
                }
            }
    }
    float len = 0;
    for (int i = 0; i < n; i++)
        len += d[t[i] * n + t[(i + 1) % n]];
    return len;
}

}  // namespace

int main() {
    std::mt19937 gen(31337);
    const Warehouse house(gen);
    PathFinder finder(house);
    double metres = 0;
    const int orders = 2400;
    for (int o = 0; o < orders; o++) {
        DWELL_STEP();
        const int n = 11 + int(gen() % 6);
        const int zx = 30 + int(gen() % (kWidth - 60)), zy = 30 + int(gen() % (kHeight - 60));
        std::vector<Cell> stops;
        for (int i = 0; i < n; i++)
            stops.push_back(house.aisle_near(zx, zy, gen));
        std::vector<float> d(std::size_t(n) * n, 0.0f);
        for (int i = 0; i < n; i++)
            for (int j = i + 1; j < n; j++)
                d[i * n + j] = d[j * n + i] = finder.distance(stops[i], stops[j]);
        metres += tour_length(d, n);
    }
    std::printf("%d orders, %.1f m, %llu cells expanded\n", orders, metres,
                (unsigned long long)finder.expanded());
    return 0;
}
