// channel_flow: drag of a row of bluff bodies in a channel, by the lattice
// Boltzmann method (D2Q9, single relaxation time, pull scheme).
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr int kW = 640, kH = 192, kQ = 9;
constexpr int kSteps = 1500;
constexpr float kInflow = 0.08f, kViscosity = 0.012f;
constexpr std::array<int, kQ> kCx = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constexpr std::array<int, kQ> kCy = {0, 0, 1, 0, -1, 1, 1, -1, -1};
constexpr std::array<int, kQ> kOpposite = {0, 3, 4, 1, 2, 7, 8, 5, 6};
constexpr std::array<float, kQ> kWeight = {4 / 9.0f,  1 / 9.0f,  1 / 9.0f,  1 / 9.0f, 1 / 9.0f,
                                           1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};

struct Body {
    float x, y, radius;
};

// One plane for each direction; a row of a plane lies together in memory.
class Field {
public:
    Field() : data_(static_cast<size_t>(kQ) * kW * kH) {}
    float* row(int q, int y) { return data_.data() + (static_cast<size_t>(q) * kH + y) * kW; }
    const float* row(int q, int y) const { return data_.data() + (static_cast<size_t>(q) * kH + y) * kW; }
    void swap(Field& o) { data_.swap(o.data_); }

private:
    std::vector<float> data_;
};

inline float equilibrium(int q, float rho, float ux, float uy) {
    float cu = 3 * (kCx[q] * ux + kCy[q] * uy);
    return kWeight[q] * rho * (1 + cu + 0.5f * cu * cu - 1.5f * (ux * ux + uy * uy));
}

class Channel {
public:
    explicit Channel(const std::vector<Body>& bodies) : solid_(kW * kH) {
        for (int y = 0; y < kH; ++y) {
            for (int x = 0; x < kW; ++x) {
                bool s = y == 0 || y == kH - 1;
                for (const Body& b : bodies)
                    s |= (x - b.x) * (x - b.x) + (y - b.y) * (y - b.y) < b.radius * b.radius;
                solid_[y * kW + x] = s;
                float ux = s ? 0 : profile(y);
                float uy = s ? 0 : 0.002f * std::sin(x * 0.11f);
                for (int q = 0; q < kQ; ++q)
                    now_.row(q, y)[x] = equilibrium(q, 1, ux, uy);
            }
        }
        // Links from fluid into a body, where the momentum exchange is summed.
        for (int y = 1; y < kH - 1; ++y)
            for (int x = 1; x < kW - 1; ++x)
                for (int q = 1; q < kQ && !solid_[y * kW + x]; ++q) {
                    int ny = y + kCy[q], nx = x + kCx[q];
                    if (ny > 0 && ny < kH - 1 && solid_[ny * kW + nx])
                        links_.push_back({x, y, q});
                }
    }

    void step() {
        for (int y = 1; y < kH - 1; ++y)
            updateRow(y);
        for (int y = 1; y < kH - 1; ++y) {
            for (int q = 0; q < kQ; ++q) {
                next_.row(q, y)[0] = equilibrium(q, 1, profile(y), 0);
                next_.row(q, y)[kW - 1] = next_.row(q, y)[kW - 2];
            }
        }
        now_.swap(next_);
    }

    std::pair<double, double> force() const {
        double fx = 0, fy = 0;
        for (const Link& l : links_) {
            double m = 2.0 * now_.row(l.q, l.y)[l.x];
            fx += m * kCx[l.q];
            fy += m * kCy[l.q];
        }
        return {fx, fy};
    }

    double mass() const {
        double m = 0;
        for (int q = 0; q < kQ; ++q)
            for (int y = 1; y < kH - 1; ++y)
                for (int x = 0; x < kW; ++x)
                    m += solid_[y * kW + x] ? 0 : now_.row(q, y)[x];
        return m;
    }

private:
    struct Link {
        int x, y, q;
    };

    static float profile(int y) {
        float t = static_cast<float>(y) / (kH - 1);
        return kInflow * 4 * t * (1 - t);
    }

    void updateRow(int y) {
        const uint8_t* solid = &solid_[y * kW];
        const float omega = 1 / (3 * kViscosity + 0.5f);
        const float* from[kQ];
        const float* bounce[kQ];
        const uint8_t* wall[kQ];
        float* to[kQ];
        for (int q = 0; q < kQ; ++q) {
            from[q] = now_.row(q, y - kCy[q]) - kCx[q];
            bounce[q] = now_.row(kOpposite[q], y);
            wall[q] = &solid_[(y - kCy[q]) * kW] - kCx[q];
            to[q] = next_.row(q, y);
        }
        for (int x = 1; x < kW - 1; ++x) {
            if (solid[x])
                continue;
            float f[kQ], rho = 0, ux = 0, uy = 0;
            for (int q = 0; q < kQ; ++q) {
                f[q] = wall[q][x] ? bounce[q][x] : from[q][x];
                rho += f[q];
                ux += f[q] * kCx[q];
                uy += f[q] * kCy[q];
            }
            const float inv = 1 / rho;
            ux *= inv;
            uy *= inv;
            for (int q = 0; q < kQ; ++q)
                to[q][x] = f[q] + omega * (equilibrium(q, rho, ux, uy) - f[q]);
        }
    }

    std::vector<uint8_t> solid_;
    std::vector<Link> links_;
    Field now_, next_;
};

}  // namespace

int main() {
    std::vector<Body> bodies = {{120, 96, 14}, {220, 70, 10}, {220, 122, 10}, {340, 96.5f, 16}};
    Channel channel(bodies);
    double drag = 0, lift = 0, swing = 0;
    int samples = 0;
    for (int s = 0; s < kSteps; ++s) {
        channel.step();
        if (s >= kSteps / 2 && s % 10 == 0) {
            auto [fx, fy] = channel.force();
            drag += fx;
            lift += fy;
            swing = std::fmax(swing, std::fabs(fy));
            ++samples;
        }
    }
    std::printf("%d steps: drag %.5f lift %.5f peak lift %.5f, mean density %.5f\n", kSteps, drag / samples,
                lift / samples, swing, channel.mass() / (kW * kH));
    return 0;
}
