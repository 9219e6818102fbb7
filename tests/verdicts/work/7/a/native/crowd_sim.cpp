// Crowd behaviour of the stadium level: agents walk to their exits, keep distance
// from neighbours (uniform grid, rebuilt each tick by counting sort) and avoid walls.
#include <dwell/probe.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr float world = 400.0f, cell_size = 2.0f, radius = 2.0f, dt = 0.05f, max_speed = 1.8f;
constexpr int grid_n = static_cast<int>(world / cell_size);

struct Agent {
    float x, y, vx, vy;
    uint32_t exit;
};

struct Exit {
    float x, y;
};

class Crowd {
public:
    Crowd(size_t n, uint32_t seed) : cell_start_(grid_n * grid_n + 1), cell_of_(n), gen_(seed) {
        std::uniform_real_distribution<float> pos(20, world - 20);
        agents_.reserve(n);
        for (size_t i = 0; i < n; i++)
            agents_.push_back({pos(gen_), pos(gen_), 0, 0, static_cast<uint32_t>(i % exits_.size())});
        sorted_.resize(n);
    }

    void tick() {
        sort_into_cells();
        for (int cy = 0; cy < grid_n; cy++)
            for (int cx = 0; cx < grid_n; cx++)
                update_cell(cx, cy);
        for (size_t i = 0; i < agents_.size(); i++)
            move(agents_[i]);
    }

    size_t evacuated() const { return evacuated_; }

    double mean_speed() const {
        double s = 0;
        for (const Agent &a : agents_)
            s += std::sqrt(a.vx * a.vx + a.vy * a.vy);
        return s / static_cast<double>(agents_.size());
    }

    double mean_distance() const {
        double s = 0;
        for (const Agent &a : agents_)
            s += std::hypot(exits_[a.exit].x - a.x, exits_[a.exit].y - a.y);
        return s / static_cast<double>(agents_.size());
    }

private:
    static int cell_coord(float v) {
        int c = static_cast<int>(v * (1 / cell_size));
        return c < 0 ? 0 : c >= grid_n ? grid_n - 1 : c;
    }

    // Counting sort: agents of one cell end up side by side in sorted_, and the two
    // arrays are swapped so that the neighbour loops read memory in order.
    void sort_into_cells() {
        std::fill(cell_start_.begin(), cell_start_.end(), 0u);
        for (size_t i = 0; i < agents_.size(); i++) {
            cell_of_[i] = static_cast<uint32_t>(cell_coord(agents_[i].y) * grid_n + cell_coord(agents_[i].x));
            cell_start_[cell_of_[i] + 1]++;
        }
        for (size_t c = 1; c < cell_start_.size(); c++)
            cell_start_[c] += cell_start_[c - 1];
        cursor_ = cell_start_;
        for (size_t i = 0; i < agents_.size(); i++)
            sorted_[cursor_[cell_of_[i]]++] = agents_[i];
        agents_.swap(sorted_);
    }

    void update_cell(int cx, int cy) {
        const uint32_t begin = cell_start_[cy * grid_n + cx], end = cell_start_[cy * grid_n + cx + 1];
        if (begin == end)
            return;
        const int x0 = cx > 0 ? cx - 1 : 0, x1 = cx + 1 < grid_n ? cx + 1 : cx;
        const int y0 = cy > 0 ? cy - 1 : 0, y1 = cy + 1 < grid_n ? cy + 1 : cy;
        for (uint32_t i = begin; i < end; i++) {
            Agent &a = agents_[i];
            float fx = 0, fy = 0;
            for (int ny = y0; ny <= y1; ny++) {
                // the cells x0..x1 of a row are contiguous
                const uint32_t last = cell_start_[ny * grid_n + x1 + 1];
                for (uint32_t j = cell_start_[ny * grid_n + x0]; j < last; j++) {
                    float dx = a.x - agents_[j].x, dy = a.y - agents_[j].y, d2 = dx * dx + dy * dy;
                    if (d2 >= radius * radius || j == i)
                        continue;
                    float d = std::sqrt(d2) + 1e-4f, push = (radius - d) / d;
                    fx += dx * push;
                    fy += dy * push;
                }
            }
            steer(a, fx, fy);
        }
    }

    void steer(Agent &a, float fx, float fy) const {
        float ex = exits_[a.exit].x - a.x, ey = exits_[a.exit].y - a.y, d = std::sqrt(ex * ex + ey * ey) + 1e-4f;
        float wx = max_speed * ex / d, wy = max_speed * ey / d;
        float wall_x = a.x < 2 ? 2 - a.x : a.x > world - 2 ? world - 2 - a.x : 0;
        float wall_y = a.y < 2 ? 2 - a.y : a.y > world - 2 ? world - 2 - a.y : 0;
        a.vx += dt * ((wx - a.vx) * 2 + fx * 4 + wall_x * 6);
        a.vy += dt * ((wy - a.vy) * 2 + fy * 4 + wall_y * 6);
        float v2 = a.vx * a.vx + a.vy * a.vy;
        if (v2 > max_speed * max_speed) {
            float k = max_speed / std::sqrt(v2);
            a.vx *= k;
            a.vy *= k;
        }
    }

    void move(Agent &a) {
        a.x += a.vx * dt;
        a.y += a.vy * dt;
        const Exit &e = exits_[a.exit];
        if ((a.x - e.x) * (a.x - e.x) + (a.y - e.y) * (a.y - e.y) < 9) {
            // left the stadium: comes back as a new visitor
            std::uniform_real_distribution<float> pos(20, world - 20);
            evacuated_++;
            a = {pos(gen_), pos(gen_), 0, 0, static_cast<uint32_t>(gen_() % exits_.size())};
        }
    }

    std::vector<Exit> exits_{{0, 100}, {0, 300}, {world, 120}, {world, 280}, {200, 0}, {200, world}};
    std::vector<Agent> agents_, sorted_;
    std::vector<uint32_t> cell_start_, cell_of_, cursor_;
    std::mt19937 gen_;
    size_t evacuated_ = 0;
};

} // namespace

int main() {
    constexpr int ticks = 3200;
    Crowd crowd(26000, 5);
    for (int t = 0; t < ticks; t++) {
        DWELL_STEP();
        crowd.tick();
        if (t % 800 == 799)
            std::printf("tick %d  speed %.3f  distance %.2f  out %zu\n", t + 1, crowd.mean_speed(), crowd.mean_distance(),
                        crowd.evacuated());
    }
    return crowd.evacuated() > 0 ? 0 : 1;
}
