// Routes many short errands over a large warehouse floor with A*.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <queue>
#include <random>
#include <vector>

struct Cell {
    int x, y;
};

class Floor {
public:
    Floor(int w, int h) : w_(w), h_(h), cost_(size_t(w) * h, 1) {
        std::mt19937 rng(21);
        for (int k = 0; k < w * h / 130; ++k) {
            int x = int(rng() % (w - 12)), y = int(rng() % (h - 12));
            int len = 3 + int(rng() % 9);
            bool across = rng() & 1;
            for (int i = 0; i < len; ++i) cost_[index(across ? x + i : x, across ? y : y + i)] = 0;
        }
        for (auto& c : cost_)
            if (c && rng() % 6 == 0) c = 3;
    }
    int width() const { return w_; }
    int height() const { return h_; }
    size_t index(int x, int y) const { return size_t(y) * w_ + x; }
    uint8_t cost(size_t i) const { return cost_[i]; }

private:
    int w_, h_;
    std::vector<uint8_t> cost_;
};

class Router {
public:
    explicit Router(const Floor& floor) : floor_(floor), best_(size_t(floor.width()) * floor.height()) {}

    int route(Cell from, Cell to) {
        prepare();
        open_ = {};
        settle(floor_.index(from.x, from.y), 0, from, to);
        while (!open_.empty()) {
            Node n = open_.top();
            open_.pop();
            size_t i = floor_.index(n.x, n.y);
            if (n.spent > best_[i]) continue;
            ++expanded_;
            if (n.x == to.x && n.y == to.y) return n.spent;
            static const int dx[] = {1, -1, 0, 0}, dy[] = {0, 0, 1, -1};
            for (int d = 0; d < 4; ++d) {
                int x = n.x + dx[d], y = n.y + dy[d];
                if (x < 0 || y < 0 || x >= floor_.width() || y >= floor_.height()) continue;
                size_t j = floor_.index(x, y);
                if (!floor_.cost(j)) continue;
                int spent = n.spent + floor_.cost(j);
                if (spent < best_[j]) settle(j, spent, {x, y}, to);
            }
        }
        return -1;
    }
    uint64_t expanded() const { return expanded_; }

private:
    struct Node {
        int guess, spent, x, y;
        bool operator<(const Node& o) const { return guess != o.guess ? guess > o.guess : spent < o.spent; }
    };

    void prepare() { best_.assign(best_.size(), std::numeric_limits<int32_t>::max()); }

    void settle(size_t i, int spent, Cell at, Cell to) {
        best_[i] = spent;
        open_.push({spent + std::abs(at.x - to.x) + std::abs(at.y - to.y), spent, at.x, at.y});
    }

    const Floor& floor_;
    std::vector<int32_t> best_;
    std::priority_queue<Node> open_;
    uint64_t expanded_ = 0;
};

struct Errand {
    Cell from, to;
};

static std::vector<Errand> plan_errands(const Floor& floor, size_t n) {
    std::mt19937 rng(8);
    std::vector<Errand> out;
    while (out.size() < n) {
        Cell a{60 + int(rng() % (floor.width() - 120)), 60 + int(rng() % (floor.height() - 120))};
        Cell b{a.x + int(rng() % 120) - 60, a.y + int(rng() % 120) - 60};
        if (floor.cost(floor.index(a.x, a.y)) && floor.cost(floor.index(b.x, b.y))) out.push_back({a, b});
    }
    return out;
}

int main() {
    Floor floor(800, 800);
    Router router(floor);
    uint64_t total = 0, unreachable = 0;
    for (const Errand& e : plan_errands(floor, 17000)) {
        int d = router.route(e.from, e.to);
        if (d < 0) ++unreachable;
        else total += uint64_t(d);
    }
    std::printf("distance %llu unreachable %llu expanded %llu\n", (unsigned long long)total,
                (unsigned long long)unreachable, (unsigned long long)router.expanded());
    return 0;
}
