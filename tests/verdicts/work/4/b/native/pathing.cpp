// Unit movement for the strategy map: every turn, units that reached their
// goal pick a new one nearby and get a path from an A* search.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <queue>
#include <random>
#include <vector>
#include <dwell/probe.h>

namespace {

constexpr int W = 640, H = 640;
constexpr int UNITS = 220;
constexpr int TURNS = 520;
constexpr int RANGE = 40;

struct Map {
    std::vector<uint8_t> cost;      // 0 is blocked
    uint8_t at(int x, int y) const { return cost[y * W + x]; }
};

struct Unit {
    int x, y;
    std::vector<int> path;          // reversed: the next cell is last
    long walked = 0;
};

Map make_map(std::mt19937 &rng)
{
    Map m{std::vector<uint8_t>(W * H, 2)};
    std::uniform_int_distribution<int> px(0, W - 1), py(0, H - 1), len(4, 22), kind(0, 5);
    for (int i = 0; i < 4200; i++) {
        int x = px(rng), y = py(rng), n = len(rng), k = kind(rng);
        uint8_t c = k < 2 ? 0 : k < 4 ? 4 : 1;
        for (int s = 0; s < n; s++) {
            if (x < 0 || y < 0 || x >= W || y >= H) break;
            m.cost[y * W + x] = c;
            (k & 1) ? x++ : y++;
        }
    }
    return m;
}

class PathFinder {
public:
    explicit PathFinder(const Map &map) : map_(map), g_(W * H), from_(W * H), closed_(W * H) {}

    bool find(int sx, int sy, int tx, int ty, std::vector<int> &path)
    {
        reset();
        const int start = sy * W + sx, goal = ty * W + tx;
        g_[start] = 0;
        from_[start] = -1;
        open_.push({estimate(sx, sy, tx, ty), start});
        while (!open_.empty()) {
            int cell = open_.top().cell;
            open_.pop();
            if (closed_[cell]) continue;
            closed_[cell] = 1;
            expanded++;
            if (cell == goal) {
                path.clear();
                for (int c = goal; c != start; c = from_[c])
                    path.push_back(c);
                return true;
            }
            expand(cell, tx, ty);
        }
        return false;
    }

    long expanded = 0;

private:
    struct Node {
        int f, cell;
        bool operator<(const Node &o) const { return f != o.f ? f > o.f : cell > o.cell; }
    };

    static int estimate(int x, int y, int tx, int ty)
    {
        return std::abs(x - tx) + std::abs(y - ty);
    }

    void reset()
    {
        std::fill(g_.begin(), g_.end(), INT32_MAX);
        std::fill(from_.begin(), from_.end(), -1);
        std::fill(closed_.begin(), closed_.end(), 0);
        while (!open_.empty())
            open_.pop();
    }

    void expand(int cell, int tx, int ty)
    {
        static const int dx[4] = {1, -1, 0, 0}, dy[4] = {0, 0, 1, -1};
        const int x = cell % W, y = cell / W;
        for (int d = 0; d < 4; d++) {
            int nx = x + dx[d], ny = y + dy[d];
            if (nx < 0 || ny < 0 || nx >= W || ny >= H) continue;
            int c = map_.at(nx, ny);
            if (!c) continue;
            int next = ny * W + nx, g = g_[cell] + c;
            if (g < g_[next]) {
                g_[next] = g;
                from_[next] = cell;
                open_.push({g + estimate(nx, ny, tx, ty), next});
            }
        }
    }

    const Map &map_;
    std::vector<int> g_, from_;
    std::vector<uint8_t> closed_;
    std::priority_queue<Node> open_;
};

class Army {
public:
    Army(const Map &m, std::mt19937 &rng) : map_(m), rng_(rng), finder_(m)
    {
        std::uniform_int_distribution<int> px(0, W - 1), py(0, H - 1);
        while (units_.size() < UNITS) {
            int x = px(rng_), y = py(rng_);
            if (map_.at(x, y)) units_.push_back({x, y, {}, 0});
        }
    }

    void turn()
    {
        for (Unit &u : units_) {
            if (u.path.empty()) order(u);
            for (int step = 0; step < 8 && !u.path.empty(); step++) {
                u.x = u.path.back() % W;
                u.y = u.path.back() / W;
                u.path.pop_back();
                u.walked++;
            }
        }
    }

    void report() const
    {
        long walked = 0;
        uint32_t where = 0;
        for (const Unit &u : units_) {
            walked += u.walked;
            where = where * 31 + u.y * W + u.x;
        }
        std::printf("orders %ld failed %ld expanded %ld walked %ld check %08x\n", orders_, failed_,
                    finder_.expanded, walked, where);
    }

private:
    void order(Unit &u)
    {
        std::uniform_int_distribution<int> d(-RANGE, RANGE);
        int tx = std::clamp(u.x + d(rng_), 0, W - 1), ty = std::clamp(u.y + d(rng_), 0, H - 1);
        if (!map_.at(tx, ty)) return;
        orders_++;
        if (!finder_.find(u.x, u.y, tx, ty, u.path)) failed_++;
    }

    const Map &map_;
    std::mt19937 &rng_;
    PathFinder finder_;
    std::vector<Unit> units_;
    long orders_ = 0, failed_ = 0;
};

}  // namespace

int main()
{
    std::mt19937 rng(2024);
    Map map = make_map(rng);
    Army army(map, rng);
    for (int t = 0; t < TURNS; t++) {
        DWELL_STEP();
        army.turn();
    }
    army.report();
    return 0;
}
