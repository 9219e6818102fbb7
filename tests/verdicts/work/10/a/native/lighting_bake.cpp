// Bakes an ambient-occlusion light map for a terrain with boulders: builds a
// bounding volume hierarchy over the triangles and shoots hemisphere rays
// from every texel.  The map is baked row by row.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>
#include <dwell/probe.h>

namespace {

constexpr int kGrid = 160;      // terrain cells per side
constexpr int kMap = 384;       // texels per side of the light map
constexpr int kRays = 96;       // rays per texel
constexpr float kReach = 3.5f;  // occluders further away do not count

struct Vec {
    float x, y, z;
    Vec operator+(const Vec& o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec operator-(const Vec& o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec operator*(float s) const { return {x * s, y * s, z * s}; }
    float operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; }
};
float dot(const Vec& a, const Vec& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec cross(const Vec& a, const Vec& b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
Vec lower(const Vec& a, const Vec& b) { return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)}; }
Vec upper(const Vec& a, const Vec& b) { return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)}; }

struct Triangle {
    Vec a, ab, ac;
    Vec centre() const { return a + (ab + ac) * (1.0f / 3.0f); }
};

struct Node {
    Vec lo, hi;
    int first, count;   // count == 0: inner node, children at first and first + 1
};

float height(float x, float y) {
    return 0.9f * std::sin(x * 0.35f) * std::cos(y * 0.27f) + 0.35f * std::sin(x * 1.3f + y * 0.8f) + 0.12f * std::cos(y * 3.1f - x);
}

class Scene {
public:
    void add(const Vec& a, const Vec& b, const Vec& c) { tris_.push_back({a, b - a, c - a}); }

    void build() {
        nodes_.reserve(tris_.size() * 2);
        nodes_.push_back({});
        split(0, 0, int(tris_.size()));
    }

    bool occluded(const Vec& o, const Vec& d, float reach) const {
        const Vec inv{1.0f / d.x, 1.0f / d.y, 1.0f / d.z};
        std::array<int, 64> stack;
        int top = 0;
        stack[top++] = 0;
        while (top > 0) {
            const Node& n = nodes_[stack[--top]];
            if (!enters(n, o, inv, reach)) continue;
            if (n.count == 0) {
                stack[top++] = n.first;
                stack[top++] = n.first + 1;
                continue;
            }
            for (int i = n.first; i < n.first + n.count; ++i)
                if (hits(tris_[i], o, d, reach)) return true;
        }
        return false;
    }

    size_t triangles() const { return tris_.size(); }
    size_t nodes() const { return nodes_.size(); }

private:
    static bool enters(const Node& n, const Vec& o, const Vec& inv, float reach) {
        const float x0 = (n.lo.x - o.x) * inv.x, x1 = (n.hi.x - o.x) * inv.x;
        const float y0 = (n.lo.y - o.y) * inv.y, y1 = (n.hi.y - o.y) * inv.y;
        const float z0 = (n.lo.z - o.z) * inv.z, z1 = (n.hi.z - o.z) * inv.z;
        const float in = std::max({std::min(x0, x1), std::min(y0, y1), std::min(z0, z1), 0.0f});
        const float out = std::min({std::max(x0, x1), std::max(y0, y1), std::max(z0, z1), reach});
        return in <= out;
    }

    static bool hits(const Triangle& t, const Vec& o, const Vec& d, float reach) {
        const Vec p = cross(d, t.ac);
        const float det = dot(t.ab, p);
        if (std::fabs(det) < 1e-9f) return false;
        const float inv = 1.0f / det;
        const Vec s = o - t.a;
        const float u = dot(s, p) * inv;
        if (u < 0.0f || u > 1.0f) return false;
        const Vec q = cross(s, t.ab);
        const float v = dot(d, q) * inv;
        if (v < 0.0f || u + v > 1.0f) return false;
        const float dist = dot(t.ac, q) * inv;
        return dist > 1e-3f && dist < reach;
    }

    void split(int node, int first, int count) {
        Vec lo{1e9f, 1e9f, 1e9f}, hi{-1e9f, -1e9f, -1e9f}, clo = lo, chi = hi;
        for (int i = first; i < first + count; ++i) {
            const Triangle& t = tris_[i];
            for (const Vec& v : {t.a, t.a + t.ab, t.a + t.ac}) lo = lower(lo, v), hi = upper(hi, v);
            clo = lower(clo, t.centre()), chi = upper(chi, t.centre());
        }
        if (count <= 4) {
            nodes_[node] = {lo, hi, first, count};
            return;
        }
        const Vec size = chi - clo;
        const int axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
        const int half = count / 2;
        std::nth_element(tris_.begin() + first, tris_.begin() + first + half, tris_.begin() + first + count,
                         [axis](const Triangle& a, const Triangle& b) { return a.centre()[axis] < b.centre()[axis]; });
        const int child = int(nodes_.size());
        nodes_.push_back({});
        nodes_.push_back({});
        nodes_[node] = {lo, hi, child, 0};
        split(child, first, half);
        split(child + 1, first + half, count - half);
    }

    std::vector<Triangle> tris_;
    std::vector<Node> nodes_;
};

void populate(Scene& scene) {
    const float cell = 20.0f / kGrid;
    auto at = [cell](int x, int y) { return Vec{x * cell, y * cell, height(x * cell, y * cell)}; };
    for (int y = 0; y < kGrid; ++y)
        for (int x = 0; x < kGrid; ++x) {
            scene.add(at(x, y), at(x + 1, y), at(x, y + 1));
            scene.add(at(x + 1, y), at(x + 1, y + 1), at(x, y + 1));
        }
    for (int b = 0; b < 60; ++b) {
        const float x = 1.0f + float(b * 7 % 18) + 0.3f * float(b % 3), y = 1.0f + float(b * 11 % 18);
        const Vec c{x, y, height(x, y) + 0.2f};
        const float r = 0.25f + 0.05f * float(b % 6);
        const std::array<Vec, 6> tip = {c + Vec{r, 0, 0}, c + Vec{0, r, 0}, c + Vec{-r, 0, 0}, c + Vec{0, -r, 0}, c + Vec{0, 0, r}, c + Vec{0, 0, -r}};
        for (int i = 0; i < 4; ++i) {
            scene.add(tip[i], tip[(i + 1) % 4], tip[4]);
            scene.add(tip[(i + 1) % 4], tip[i], tip[5]);
        }
    }
}

}  // namespace

int main() {
    Scene scene;
    populate(scene);
    scene.build();
    std::vector<float> map(size_t(kMap) * kMap);
    uint32_t state = 12345;
    auto unit = [&state] { state = state * 1664525u + 1013904223u; return float(state >> 8) / 16777216.0f; };
    for (int row = 0; row < kMap; ++row) {
        DWELL_STEP();
        for (int col = 0; col < kMap; ++col) {
            const float x = 20.0f * (col + 0.5f) / kMap, y = 20.0f * (row + 0.5f) / kMap;
            const Vec origin{x, y, height(x, y) + 0.02f};
            int open = 0;
            for (int i = 0; i < kRays; ++i) {
                const float phi = 6.2831853f * unit(), r2 = unit(), r = std::sqrt(r2);
                open += !scene.occluded(origin, {r * std::cos(phi), r * std::sin(phi), std::sqrt(1.0f - r2)}, kReach);
            }
            map[size_t(row) * kMap + col] = float(open) / kRays;
        }
    }
    const double mean = std::accumulate(map.begin(), map.end(), 0.0) / double(map.size());
    const auto [dark, bright] = std::minmax_element(map.begin(), map.end());
    std::printf("triangles %zu, nodes %zu, mean visibility %.5f, darkest %.3f, brightest %.3f\n", scene.triangles(),
                scene.nodes(), mean, *dark, *bright);
    return 0;
}
