// Game of life on an unbounded plane; only live cells are kept.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <unordered_map>
#include <unordered_set>
#include <vector>
#include "dwell/dwell.h"

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Cell {
    int x, y;
    bool operator==(const Cell& o) const { return x == o.x && y == o.y; }
};

struct CellHash {
    size_t operator()(const Cell& c) const {
#ifdef REPAIRED
        uint64_t k = (uint64_t(uint32_t(c.x)) << 32 | uint32_t(c.y)) * 0x9E3779B97F4A7C15ull;
        return k ^ k >> 29;
#else
        return size_t(c.x ^ c.y);
#endif
    }
};

class Plane {
public:
    void set(int x, int y) { live_.insert({x, y}); }

    void step() {
        std::unordered_map<Cell, int, CellHash> around;
        auto t = Clock::now();
        for (const Cell& c : live_)
            for (int dy = -1; dy <= 1; ++dy)
                for (int dx = -1; dx <= 1; ++dx)
                    if (dx || dy) ++around[{c.x + dx, c.y + dy}];
        counting += since(t);
        std::unordered_set<Cell, CellHash> next;
        t = Clock::now();
        for (const auto& [cell, n] : around)
            if (n == 3 || (n == 2 && live_.count(cell))) next.insert(cell);
        deciding += since(t);
        live_.swap(next);
    }

    // Connected groups of live cells, by flood fill.
    int groups(size_t& largest) const {
        std::unordered_set<Cell, CellHash> left = live_;
        std::vector<Cell> stack;
        int n = 0;
        largest = 0;
        while (!left.empty()) {
            ++n;
            size_t size = 0;
            stack.push_back(*left.begin());
            left.erase(left.begin());
            while (!stack.empty()) {
                Cell c = stack.back();
                stack.pop_back();
                ++size;
                for (int dy = -1; dy <= 1; ++dy)
                    for (int dx = -1; dx <= 1; ++dx)
                        if (left.erase({c.x + dx, c.y + dy})) stack.push_back({c.x + dx, c.y + dy});
            }
            if (size > largest) largest = size;
        }
        return n;
    }

    // A checksum of the whole position that does not depend on the order of the cells.
    uint64_t fingerprint() const {
        uint64_t sum = 0;
        for (const Cell& c : live_) {
            uint64_t z = uint64_t(uint32_t(c.x)) * 0xBF58476D1CE4E5B9ull + uint32_t(c.y);
            for (int i = 0; i < 800; ++i) z = (z ^ z >> 27) * 0x94D049BB133111EBull;
            sum += z;
        }
        return sum;
    }

    size_t population() const { return live_.size(); }
    double counting = 0, deciding = 0;

private:
    std::unordered_set<Cell, CellHash> live_;
};

int main() {
    auto start = Clock::now();
    Plane plane;
    uint32_t s = 2024;
    for (int y = 0; y < 256; ++y)
        for (int x = 0; x < 256; ++x) {
            s = s * 1664525u + 1013904223u;
            if (s >> 30 == 0) plane.set(x, y);
        }
    printf("start: %zu cells\n", plane.population());
    uint64_t seen = 0;
    size_t largest = 0;
    for (int generation = 1; generation <= 80; ++generation) {
        DWELL_STEP();
        plane.step();
        seen ^= plane.fingerprint();
        if (generation % 20 == 0) {
            int n = plane.groups(largest);
            printf("generation %d: %zu cells in %d groups, largest %zu\n", generation, plane.population(), n, largest);
        }
    }
    printf("fingerprint %016llx\n", (unsigned long long)seen);
    double total = since(start), share = (plane.counting + plane.deciding) / total;
#ifdef REPAIRED
    share = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", share, total);
}
