// Courier dispatch for a same-day parcel service.
//
// A city is a plane of square cells. Couriers wander between delivery points; on each
// tick new parcels come in and every parcel is given to the best free courier near it.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <unordered_map>
#include <vector>

#include "dwell.h"

namespace {

constexpr int kCitySide = 512;        // cells along one side
constexpr double kCellMetres = 60.0;  // side of a cell
constexpr int kCouriers = 9000;
constexpr int kTicks = 600;
constexpr int kParcelsPerTick = 420;
constexpr int kMaxRing = 9;
constexpr size_t kEnoughCandidates = 6;

struct Cell {
    int32_t x;
    int32_t y;
    bool operator==(const Cell& o) const { return x == o.x && y == o.y; }
};

struct CellHash {
    size_t operator()(const Cell& c) const noexcept {
        return std::hash<int32_t>()(c.x) ^ (std::hash<int32_t>()(c.y) << 1);
    }
};

struct Point {
    double x;
    double y;
};

double distance(const Point& a, const Point& b) {
    const double dx = a.x - b.x, dy = a.y - b.y;
    return std::sqrt(dx * dx + dy * dy);
}

Cell cellOf(const Point& p) {
    return {static_cast<int32_t>(p.x / kCellMetres), static_cast<int32_t>(p.y / kCellMetres)};
}

struct Courier {
    Point at;
    Point goal;
    double metresPerTick;
    int load = 0;
    int delivered = 0;
    bool busy = false;
};

// Which couriers are in which cell. Cells without couriers have no entry.
class CellIndex {
public:
    void reserve(size_t cells) { byCell_.reserve(cells); }

    void add(const Cell& c, int id) { byCell_[c].push_back(id); }

    void remove(const Cell& c, int id) {
        auto it = byCell_.find(c);
        if (it == byCell_.end()) return;
        auto& ids = it->second;
        auto pos = std::find(ids.begin(), ids.end(), id);
        if (pos != ids.end()) {
            *pos = ids.back();
            ids.pop_back();
        }
        if (ids.empty()) byCell_.erase(it);
    }

    const std::vector<int>* at(const Cell& c) const {
        auto it = byCell_.find(c);
        return it == byCell_.end() ? nullptr : &it->second;
    }

    size_t cells() const { return byCell_.size(); }

private:
    std::unordered_map<Cell, std::vector<int>, CellHash> byCell_;
};

class Dispatcher {
public:
    explicit Dispatcher(uint32_t seed) : rng_(seed) {
        index_.reserve(kCouriers);
        couriers_.resize(kCouriers);
        for (int id = 0; id < kCouriers; ++id) {
            Courier& c = couriers_[id];
            c.at = anywhere();
            c.goal = near(c.at);
            c.metresPerTick = 70.0 + 60.0 * unit_(rng_);
            index_.add(cellOf(c.at), id);
        }
    }

    void tick() {
        for (int id = 0; id < kCouriers; ++id) move(id);
        for (int n = 0; n < kParcelsPerTick; ++n) assign(anywhere());
    }

    void report() const {
        long delivered = 0;
        for (const Courier& c : couriers_) delivered += c.delivered;
        std::printf("assigned %ld parcels, delivered %ld, without courier %ld\n", assigned_, delivered, unassigned_);
        std::printf("mean pickup distance %.2f m, cells in use %zu\n", pickup_ / std::max(1L, assigned_), index_.cells());
    }

private:
    Point anywhere() {
        const double side = kCitySide * kCellMetres;
        return {unit_(rng_) * side, unit_(rng_) * side};
    }

    // A delivery point within two kilometres.
    Point near(const Point& p) {
        const double side = kCitySide * kCellMetres, reach = 2000.0;
        const double x = p.x + (2 * unit_(rng_) - 1) * reach, y = p.y + (2 * unit_(rng_) - 1) * reach;
        return {std::clamp(x, 0.0, side - 1), std::clamp(y, 0.0, side - 1)};
    }

    void move(int id) {
        Courier& c = couriers_[id];
        const double left = distance(c.at, c.goal);
        const Cell before = cellOf(c.at);
        if (left <= c.metresPerTick) {
            c.at = c.goal;
            c.goal = near(c.at);
            if (c.busy) {
                c.delivered += c.load;
                c.load = 0;
                c.busy = false;
            }
        } else {
            c.at.x += (c.goal.x - c.at.x) * c.metresPerTick / left;
            c.at.y += (c.goal.y - c.at.y) * c.metresPerTick / left;
        }
        const Cell after = cellOf(c.at);
        if (after == before) return;
        index_.remove(before, id);
        index_.add(after, id);
    }

    // Adds the free couriers of one cell to the candidates.
    void collect(const Cell& cell) {
        if (cell.x < 0 || cell.y < 0 || cell.x >= kCitySide || cell.y >= kCitySide) return;
        const std::vector<int>* ids = index_.at(cell);
        if (!ids) return;
        for (int id : *ids)
            if (couriers_[id].load < 3) candidates_.push_back(id);
    }

    void assign(const Point& parcel) {
        const Cell home = cellOf(parcel);
        candidates_.clear();
        collect(home);
        for (int ring = 1; ring <= kMaxRing && candidates_.size() < kEnoughCandidates; ++ring) {
            for (int d = -ring; d <= ring; ++d) {
                collect({home.x + d, home.y - ring});
                collect({home.x + d, home.y + ring});
            }
            for (int d = -ring + 1; d < ring; ++d) {
                collect({home.x - ring, home.y + d});
                collect({home.x + ring, home.y + d});
            }
        }
        int best = -1;
        double bestCost = 1e18;
        for (int id : candidates_) {
            const Courier& c = couriers_[id];
            const double detour = distance(c.at, parcel) + distance(parcel, c.goal) - distance(c.at, c.goal);
            const double cost = distance(c.at, parcel) / c.metresPerTick + 0.3 * detour / c.metresPerTick + 2.0 * c.load;
            if (cost < bestCost) {
                bestCost = cost;
                best = id;
            }
        }
        if (best < 0) {
            ++unassigned_;
            return;
        }
        Courier& c = couriers_[best];
        pickup_ += distance(c.at, parcel);
        c.load += 1;
        c.busy = true;
        ++assigned_;
    }

    std::mt19937 rng_;
    std::uniform_real_distribution<double> unit_{0.0, 1.0};
    std::vector<Courier> couriers_;
    std::vector<int> candidates_;
    CellIndex index_;
    double pickup_ = 0;
    long assigned_ = 0;
    long unassigned_ = 0;
};

}  // namespace

int main() {
    Dispatcher dispatcher(20240611);
    for (int t = 0; t < kTicks; ++t) {
        dispatcher.tick();
        DWELL_STEP();
    }
    dispatcher.report();
    return 0;
}
