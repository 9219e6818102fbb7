// Barnes-Hut simulation of two colliding disc galaxies.  Builds an octree per
// step in a flat node pool, computes centres of mass bottom-up, walks the tree
// for each body with an explicit stack, integrates with leapfrog, and reports
// the drift of energy and momentum.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

struct Vec {
    double x = 0, y = 0, z = 0;
    Vec operator+(const Vec& o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec operator-(const Vec& o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec operator*(double k) const { return {x * k, y * k, z * k}; }
    double dot(const Vec& o) const { return x * o.x + y * o.y + z * o.z; }
};

struct Bodies {
    std::vector<Vec> pos, vel, acc;
    std::vector<double> mass, pot;
    size_t size() const { return pos.size(); }
};

struct Node {
    Vec com;
    double mass = 0, size = 0;
    int32_t first_child = -1;   // children of a node lie next to each other
    int32_t begin = 0, end = 0; // bodies of a leaf, as a range of order_
};

class Octree {
public:
    void build(const Bodies& b) {
        const size_t n = b.size();
        Vec lo = b.pos[0], hi = b.pos[0];
        for (const Vec& p : b.pos) {
            lo = {std::min(lo.x, p.x), std::min(lo.y, p.y), std::min(lo.z, p.z)};
            hi = {std::max(hi.x, p.x), std::max(hi.y, p.y), std::max(hi.z, p.z)};
        }
        const double size = std::max({hi.x - lo.x, hi.y - lo.y, hi.z - lo.z}) + 1e-9;
        keys_.resize(n);
        for (size_t i = 0; i < n; i++) {
            const Vec q = (b.pos[i] - lo) * (kGrid / size);
            keys_[i] = {spread(uint32_t(q.x)) | spread(uint32_t(q.y)) << 1 | spread(uint32_t(q.z)) << 2, uint32_t(i)};
        }
        std::sort(keys_.begin(), keys_.end());
        nodes_.clear();
        nodes_.push_back(Node{});
        split(b, 0, 0, int32_t(n), kBits - 1, size);
    }

    const std::vector<std::pair<uint64_t, uint32_t>>& order() const { return keys_; }

    void force(const Bodies& b, uint32_t i, Vec& acc, double& pot) const {
        std::array<int32_t, 256> stack;
        int top = 0;
        stack[top++] = 0;
        const Vec p = b.pos[i];
        Vec a;
        double phi = 0;
        while (top) {
            const Node& nd = nodes_[stack[--top]];
            const Vec d = nd.com - p;
            const double r2 = d.dot(d);
            if (nd.first_child >= 0) {
                if (nd.size * nd.size < kTheta2 * r2) {
                    add(d, r2, nd.mass, a, phi);
                } else {
                    for (int c = 0; c < 8; c++)
                        if (nodes_[nd.first_child + c].mass > 0) stack[top++] = nd.first_child + c;
                }
                continue;
            }
            for (int32_t k = nd.begin; k < nd.end; k++) {
                const uint32_t j = keys_[k].second;
                if (j == i) continue;
                const Vec e = b.pos[j] - p;
                add(e, e.dot(e), b.mass[j], a, phi);
            }
        }
        acc = a;
        pot = phi;
    }

private:
    static constexpr int kBits = 16, kLeaf = 8;
    static constexpr double kGrid = 65535.0, kTheta2 = 0.45 * 0.45, kSoft2 = 0.02 * 0.02;
    std::vector<Node> nodes_;
    std::vector<std::pair<uint64_t, uint32_t>> keys_;

    static uint64_t spread(uint64_t v) {
        v = (v | v << 32) & 0x1f00000000ffffULL;
        v = (v | v << 16) & 0x1f0000ff0000ffULL;
        v = (v | v << 8) & 0x100f00f00f00f00fULL;
        v = (v | v << 4) & 0x10c30c30c30c30c3ULL;
        return (v | v << 2) & 0x1249249249249249ULL;
    }

    static void add(const Vec& d, double r2, double m, Vec& a, double& phi) {
        const double inv = 1.0 / std::sqrt(r2 + kSoft2);
        const double k = m * inv * inv * inv;
        a = a + d * k;
        phi -= m * inv;
    }

    void split(const Bodies& b, int32_t at, int32_t begin, int32_t end, int bit, double size) {
        Node nd;
        nd.size = size;
        nd.begin = begin;
        nd.end = end;
        if (end - begin <= kLeaf || bit < 0) {
            for (int32_t k = begin; k < end; k++) {
                const uint32_t j = keys_[k].second;
                nd.mass += b.mass[j];
                nd.com = nd.com + b.pos[j] * b.mass[j];
            }
        } else {
            nd.first_child = int32_t(nodes_.size());
            nodes_.resize(nodes_.size() + 8);
            int32_t from = begin;
            for (uint64_t oct = 0; oct < 8; oct++) {
                const int32_t to = int32_t(std::partition_point(keys_.begin() + from, keys_.begin() + end,
                    [&](const auto& k) { return ((k.first >> (3 * bit)) & 7) <= oct; }) - keys_.begin());
                if (to > from) {
                    split(b, nd.first_child + int32_t(oct), from, to, bit - 1, size / 2);
                    const Node& c = nodes_[nd.first_child + oct];
                    nd.mass += c.mass;
                    nd.com = nd.com + c.com * c.mass;
                }
                from = to;
            }
        }
        if (nd.mass > 0) nd.com = nd.com * (1.0 / nd.mass);
        nodes_[at] = nd;
    }
};

static void add_disc(Bodies& b, size_t n, Vec centre, Vec drift, std::mt19937_64& gen) {
    std::uniform_real_distribution<double> u(0, 1);
    for (size_t i = 0; i < n; i++) {
        const double r = 0.1 + 2.0 * std::sqrt(u(gen)), phi = 2 * M_PI * u(gen), v = std::sqrt(r * 0.22);
        b.pos.push_back(centre + Vec{r * std::cos(phi), r * std::sin(phi), 0.1 * (u(gen) - 0.5)});
        b.vel.push_back(drift + Vec{-v * std::sin(phi), v * std::cos(phi), 0});
        b.mass.push_back(1.0 / double(n));
    }
}

static void forces(Bodies& b, Octree& tree) {
    tree.build(b);
    const auto& order = tree.order();
    const size_t n = b.size();
    auto work = [&](size_t from, size_t to) {
        for (size_t k = from; k < to; k++) tree.force(b, order[k].second, b.acc[order[k].second], b.pot[order[k].second]);
    };
    std::thread other(work, 0, n / 2);
    work(n / 2, n);
    other.join();
}

int main() {
    std::mt19937_64 gen(20240611);
    Bodies b;
    add_disc(b, 9000, {-3, 0.5, 0}, {0.25, 0, 0}, gen);
    add_disc(b, 7000, {3, -0.5, 0}, {-0.25, 0, 0.05}, gen);
    b.acc.resize(b.size());
    b.pot.resize(b.size());
    Octree tree;
    const double dt = 0.01;
    auto energy = [&] {
        double e = 0;
        for (size_t i = 0; i < b.size(); i++) e += b.mass[i] * (0.5 * b.vel[i].dot(b.vel[i]) + 0.5 * b.pot[i]);
        return e;
    };
    forces(b, tree);
    const double e0 = energy();
    for (int step = 0; step < 140; step++) {
        for (size_t i = 0; i < b.size(); i++) {
            b.vel[i] = b.vel[i] + b.acc[i] * (dt / 2);
            b.pos[i] = b.pos[i] + b.vel[i] * dt;
        }
        forces(b, tree);
        for (size_t i = 0; i < b.size(); i++) b.vel[i] = b.vel[i] + b.acc[i] * (dt / 2);
    }
    Vec p;
    for (size_t i = 0; i < b.size(); i++) p = p + b.vel[i] * b.mass[i];
    printf("bodies %zu, energy %.4f, drift %.5f%%, momentum %.4f %.4f %.4f\n", b.size(), e0,
           100 * std::fabs((energy() - e0) / e0), p.x, p.y, p.z);
}
