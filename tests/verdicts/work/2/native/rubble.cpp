// Rigid-sphere rubble pile: sweep-and-prune broad phase and an iterative contact solver.
#include <algorithm>
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

struct Body {
    float x, y, z, r;
    float vx, vy, vz, inv_mass;
};

struct Contact {
    uint32_t a, b;
    float nx, ny, nz, depth, impulse, share;
};

class World {
public:
    explicit World(size_t n) : bodies_(n) {
        std::mt19937 rng(10);
        std::uniform_real_distribution<float> u(0, 1);
        for (size_t i = 0; i < n; ++i) {
            float r = 0.35f + 0.15f * u(rng);
            bodies_[i] = {u(rng) * kBox, 1 + 38 * u(rng), u(rng) * kBox, r, 0, 0, 0, 1.0f / (r * r * r * 8)};
        }
        order_.resize(n);
        for (size_t i = 0; i < n; ++i) order_[i] = uint32_t(i);
    }

    void step(float dt) {
        for (auto& b : bodies_) b.vy -= 9.81f * dt;
        find_contacts();
        for (int it = 0; it < 10; ++it) solve(dt);
        for (auto& b : bodies_) {
            b.x += b.vx * dt;
            b.y += b.vy * dt;
            b.z += b.vz * dt;
            wall(b.x, b.vx, b.r, kBox);
            wall(b.y, b.vy, b.r, 60.0f);
            wall(b.z, b.vz, b.r, kBox);
        }
    }

    size_t contacts() const { return contacts_.size(); }
    double height() const {
        double t = 0;
        for (const auto& b : bodies_) t += b.y;
        return t / double(bodies_.size());
    }

private:
    static constexpr float kBox = 22.0f;

    static void wall(float& x, float& v, float r, float high) {
        if (x < r) {
            x = r;
            if (v < 0) v *= -0.2f;
        } else if (x > high - r) {
            x = high - r;
            if (v > 0) v *= -0.2f;
        }
    }

    void find_contacts() {
        // order_ is almost sorted from the last step, so insertion sort is close to linear here
        for (size_t i = 1; i < order_.size(); ++i) {
            uint32_t id = order_[i];
            float key = bodies_[id].x - bodies_[id].r;
            size_t j = i;
            while (j > 0 && bodies_[order_[j - 1]].x - bodies_[order_[j - 1]].r > key) {
                order_[j] = order_[j - 1];
                --j;
            }
            order_[j] = id;
        }
        sorted_.resize(order_.size());
        for (size_t i = 0; i < order_.size(); ++i) sorted_[i] = bodies_[order_[i]];
        contacts_.clear();
        for (size_t i = 0; i < sorted_.size(); ++i) {
            const Body& a = sorted_[i];
            const float reach = a.x + a.r;
            for (size_t j = i + 1; j < sorted_.size() && sorted_[j].x - sorted_[j].r < reach; ++j) {
                const Body& b = sorted_[j];
                float dy = b.y - a.y, dz = b.z - a.z, rr = a.r + b.r;
                if (dy > rr || dy < -rr || dz > rr || dz < -rr) continue;
                float dx = b.x - a.x, d2 = dx * dx + dy * dy + dz * dz;
                if (d2 >= rr * rr || d2 < 1e-9f) continue;
                float d = std::sqrt(d2), k = 1.0f / d;
                contacts_.push_back({order_[i], order_[j], dx * k, dy * k, dz * k, rr - d, 0,
                                     1.0f / (a.inv_mass + b.inv_mass)});
            }
        }
    }

    void solve(float dt) {
        const float push = 0.2f / dt;
        for (auto& c : contacts_) {
            Body &a = bodies_[c.a], &b = bodies_[c.b];
            float vn = (b.vx - a.vx) * c.nx + (b.vy - a.vy) * c.ny + (b.vz - a.vz) * c.nz;
            float want = std::min(push * std::max(0.0f, c.depth - 0.01f), 3.0f);
            float total = std::max(0.0f, c.impulse + (want - vn) * c.share);
            float d = total - c.impulse;
            c.impulse = total;
            float wa = d * a.inv_mass, wb = d * b.inv_mass;
            a.vx -= wa * c.nx;
            a.vy -= wa * c.ny;
            a.vz -= wa * c.nz;
            b.vx += wb * c.nx;
            b.vy += wb * c.ny;
            b.vz += wb * c.nz;
        }
    }

    std::vector<Body> bodies_, sorted_;
    std::vector<uint32_t> order_;
    std::vector<Contact> contacts_;
};

int main() {
    World world(6000);
    for (int frame = 0; frame < 600; ++frame) {
        DWELL_STEP();
        world.step(1.0f / 120.0f);
        if (frame % 150 == 0) std::printf("frame %d contacts %zu height %.2f\n", frame, world.contacts(), world.height());
    }
    std::printf("contacts %zu height %.2f\n", world.contacts(), world.height());
    return 0;
}
