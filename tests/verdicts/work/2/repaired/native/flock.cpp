// Flocking crowd for a strategy game: boids steer by their visible neighbours.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>
#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

struct Vec {
    float x, y;
};

struct Settings {
    float world = 512.0f;
    float sight = 3.0f;
    float max_speed = 4.0f;
    int buckets = 170;
};

class Grid {
public:
    Grid(const Settings& s) : side_(s.buckets), cell_(s.world / float(s.buckets)), start_(side_ * side_ + 1) {}

    void rebuild(const std::vector<Vec>& pos) {
        std::fill(start_.begin(), start_.end(), 0u);
        home_.resize(pos.size());
        order_.resize(pos.size());
        for (size_t i = 0; i < pos.size(); ++i) {
            home_[i] = uint32_t(axis(pos[i].y) * side_ + axis(pos[i].x));
            ++start_[home_[i] + 1];
        }
        for (size_t c = 1; c < start_.size(); ++c) start_[c] += start_[c - 1];
        cursor_.assign(start_.begin(), start_.end() - 1);
        for (size_t i = 0; i < pos.size(); ++i) order_[cursor_[home_[i]]++] = uint32_t(i);
    }

    template <class Visit>
    void around(const Vec& p, float reach, Visit&& visit) const {
        int x0 = axis(p.x - reach), x1 = axis(p.x + reach);
        int y0 = axis(p.y - reach), y1 = axis(p.y + reach);
        for (int y = y0; y <= y1; ++y)
            for (int x = x0; x <= x1; ++x)
                for (uint32_t k = start_[y * side_ + x]; k < start_[y * side_ + x + 1]; ++k) visit(order_[k]);
    }

private:
    int axis(float v) const {
        int i = int(v / cell_);
        return i < 0 ? 0 : i >= side_ ? side_ - 1 : i;
    }
    int side_;
    float cell_;
    std::vector<uint32_t> start_, cursor_, home_, order_;
};

class Flock {
public:
    Flock(const Settings& s, size_t n) : s_(s), grid_(s), pos_(n), vel_(n), next_(n) {
        std::mt19937 rng(3);
        std::uniform_real_distribution<float> u(0.0f, 1.0f);
        for (size_t i = 0; i < n; ++i) {
            pos_[i] = {u(rng) * s.world, u(rng) * s.world};
            float a = 6.2831853f * u(rng);
            vel_[i] = {std::cos(a) * 2.0f, std::sin(a) * 2.0f};
        }
    }

    void tick(float dt) {
        grid_.rebuild(pos_);
        for (size_t i = 0; i < pos_.size(); ++i) next_[i] = steer(i);
        for (size_t i = 0; i < pos_.size(); ++i) {
            vel_[i] = next_[i];
            move(pos_[i].x, vel_[i].x, dt);
            move(pos_[i].y, vel_[i].y, dt);
        }
    }

    double mean_speed() const {
        double t = 0;
        for (const Vec& v : vel_) t += std::sqrt(double(v.x) * v.x + double(v.y) * v.y);
        return t / double(vel_.size());
    }

private:
    void move(float& x, float& v, float dt) const {
        x += v * dt;
        if (x < 0) x = -x, v = -v;
        if (x >= s_.world) x = 2 * s_.world - x - 0.001f, v = -v;
    }

    Vec steer(size_t i) const {
        const Vec p = pos_[i];
        const float sight2 = s_.sight * s_.sight;
        double w = 0, ax = 0, ay = 0, cx = 0, cy = 0, sx = 0, sy = 0;
        int seen = 0;
        grid_.around(p, s_.sight, [&](uint32_t j) {
            float dx = pos_[j].x - p.x, dy = pos_[j].y - p.y;
            float d2 = dx * dx + dy * dy;
            if (d2 > sight2 || j == i) return;
            float falloff = std::exp(-d2 / sight2);
            float angle = std::atan2(dy, dx);
            w += falloff;
            ax += vel_[j].x * falloff;
            ay += vel_[j].y * falloff;
            cx += dx;
            cy += dy;
            sx -= std::cos(angle) / (0.1f + std::sqrt(d2));
            sy -= std::sin(angle) / (0.1f + std::sqrt(d2));
            ++seen;
        });
        Vec v = vel_[i];
        if (seen) {
            double k = 1.0 / seen;
            v.x += float(0.08 * (ax / w - v.x) + 0.01 * cx * k + 0.12 * sx);
            v.y += float(0.08 * (ay / w - v.y) + 0.01 * cy * k + 0.12 * sy);
        }
        float len = std::hypot(v.x, v.y);
        if (len > s_.max_speed) v.x *= s_.max_speed / len, v.y *= s_.max_speed / len;
        return v;
    }

    Settings s_;
    Grid grid_;
    std::vector<Vec> pos_, vel_, next_;
};

int main() {
    Settings settings;
    Flock flock(settings, 24000);
    for (int tick = 0; tick < 700; ++tick) {
        DWELL_STEP();
        flock.tick(1.0f / 30.0f);
    }
    std::printf("mean speed %.3f\n", flock.mean_speed());
    return 0;
}
