// crowd_sim: ambient crowd of a city-builder game.  Agents head for their own
// targets, keep their distance with a short-range repulsion, and are bounced off
// round obstacles.  Neighbours come from a uniform grid that is rebuilt by a
// counting sort each tick; state is kept as one array per component.
#include <dwell/probe.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr float kWorld = 260.0f;
constexpr float kRadius = 1.0f;
constexpr int kGrid = 260;
constexpr float kDt = 0.05f;
constexpr int kTicks = 750;

struct Obstacle { float x, y, r; };

struct Crowd {
    std::vector<float> x, y, vx, vy, tx, ty;
    std::vector<uint32_t> id;
    size_t size() const { return x.size(); }
    void resize(size_t n) {
        for (auto *v : {&x, &y, &vx, &vy, &tx, &ty}) v->resize(n);
        id.resize(n);
    }
};

class Simulation {
public:
    Simulation(size_t agents, uint32_t seed) : rng_(seed), start_(kGrid * kGrid + 1), cell_(agents) {
        now_.resize(agents);
        sorted_.resize(agents);
        ax_.resize(agents);
        ay_.resize(agents);
        for (int i = 0; i < 24; ++i)
            obstacles_.push_back({uniform() * kWorld, uniform() * kWorld, 2.0f + 3.0f * uniform()});
        for (size_t i = 0; i < agents; ++i) {
            now_.x[i] = uniform() * kWorld;
            now_.y[i] = uniform() * kWorld;
            now_.vx[i] = now_.vy[i] = 0.0f;
            now_.id[i] = static_cast<uint32_t>(i);
            retarget(i);
        }
    }

    void tick() {
        sort_into_grid();
        repel();
        integrate();
    }

    double kinetic() const {
        double e = 0;
        for (size_t i = 0; i < now_.size(); ++i)
            e += 0.5 * (double(now_.vx[i]) * now_.vx[i] + double(now_.vy[i]) * now_.vy[i]);
        return e;
    }
    uint64_t arrivals() const { return arrivals_; }
    uint64_t contacts() const { return contacts_; }

private:
    float uniform() { return static_cast<float>(rng_() >> 8) * (1.0f / 16777216.0f); }

    void retarget(size_t i) {
        now_.tx[i] = uniform() * kWorld;
        now_.ty[i] = uniform() * kWorld;
    }

    static int clamp_cell(float v) {
        int c = static_cast<int>(v * (kGrid / kWorld));
        return c < 0 ? 0 : c >= kGrid ? kGrid - 1 : c;
    }

    void sort_into_grid() {
        std::fill(start_.begin(), start_.end(), 0u);
        const size_t n = now_.size();
        for (size_t i = 0; i < n; ++i) {
            cell_[i] = static_cast<uint32_t>(clamp_cell(now_.y[i]) * kGrid + clamp_cell(now_.x[i]));
            ++start_[cell_[i] + 1];
        }
        for (size_t c = 1; c < start_.size(); ++c) start_[c] += start_[c - 1];
        cursor_.assign(start_.begin(), start_.end() - 1);
        for (size_t i = 0; i < n; ++i) {
            uint32_t to = cursor_[cell_[i]]++;
            sorted_.x[to] = now_.x[i];   sorted_.y[to] = now_.y[i];
            sorted_.vx[to] = now_.vx[i]; sorted_.vy[to] = now_.vy[i];
            sorted_.tx[to] = now_.tx[i]; sorted_.ty[to] = now_.ty[i];
            sorted_.id[to] = now_.id[i];
        }
        std::swap(now_, sorted_);
    }

    // Agents of one row of three cells lie next to each other after the sort.
    void repel() {
        const float *x = now_.x.data(), *y = now_.y.data();
        for (int cy = 0; cy < kGrid; ++cy)
            for (int cx = 0; cx < kGrid; ++cx) {
                uint32_t b = start_[cy * kGrid + cx], e = start_[cy * kGrid + cx + 1];
                if (b == e) continue;
                int x0 = cx ? cx - 1 : 0, x1 = cx + 1 < kGrid ? cx + 1 : cx;
                int y0 = cy ? cy - 1 : 0, y1 = cy + 1 < kGrid ? cy + 1 : cy;
                for (uint32_t i = b; i < e; ++i) {
                    float fx = 0, fy = 0;
                    for (int ry = y0; ry <= y1; ++ry) {
                        uint32_t jb = start_[ry * kGrid + x0], je = start_[ry * kGrid + x1 + 1];
                        for (uint32_t j = jb; j < je; ++j) {
                            float dx = x[i] - x[j], dy = y[i] - y[j];
                            float d2 = dx * dx + dy * dy;
                            if (d2 >= kRadius * kRadius || j == i) continue;
                            float d = std::sqrt(d2) + 1e-4f;
                            float w = (kRadius - d) * 14.0f / d;
                            fx += w * dx;
                            fy += w * dy;
                            ++contacts_;
                        }
                    }
                    ax_[i] = fx;
                    ay_[i] = fy;
                }
            }
    }

    void integrate() {
        for (size_t i = 0; i < now_.size(); ++i) {
            float dx = now_.tx[i] - now_.x[i], dy = now_.ty[i] - now_.y[i];
            float d = std::sqrt(dx * dx + dy * dy);
            if (d < 1.5f) { ++arrivals_; retarget(i); continue; }
            float fx = ax_[i] + 2.0f * (1.4f * dx / d - now_.vx[i]);
            float fy = ay_[i] + 2.0f * (1.4f * dy / d - now_.vy[i]);
            for (const Obstacle &o : obstacles_) {
                float ox = now_.x[i] - o.x, oy = now_.y[i] - o.y, o2 = ox * ox + oy * oy;
                if (o2 > o.r * o.r) continue;
                float od = std::sqrt(o2) + 1e-3f;
                fx += 30.0f * (o.r - od) * ox / od;
                fy += 30.0f * (o.r - od) * oy / od;
            }
            now_.vx[i] += kDt * fx;
            now_.vy[i] += kDt * fy;
            now_.x[i] += kDt * now_.vx[i];
            now_.y[i] += kDt * now_.vy[i];
        }
    }

    std::mt19937 rng_;
    Crowd now_, sorted_;
    std::vector<float> ax_, ay_;
    std::vector<uint32_t> start_, cursor_, cell_;
    std::vector<Obstacle> obstacles_;
    uint64_t arrivals_ = 0, contacts_ = 0;
};

}  // namespace

int main() {
    Simulation sim(70000, 5u);
    for (int t = 0; t < kTicks; ++t) {
        DWELL_STEP();
        sim.tick();
    }
    std::printf("ticks %d arrivals %llu contacts %llu kinetic %.2f\n", kTicks,
                static_cast<unsigned long long>(sim.arrivals()),
                static_cast<unsigned long long>(sim.contacts()), sim.kinetic());
    return 0;
}
