// Preview renderer: progressive path tracing of a triangle scene with a
// surface-area-heuristic BVH; prints image statistics for comparison.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <vector>

namespace {

struct Vec {
    float x, y, z;
    float operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; }
};
Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vec operator*(Vec a, float s) { return {a.x * s, a.y * s, a.z * s}; }
Vec mul(Vec a, Vec b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec cross(Vec a, Vec b) { return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
Vec unit(Vec a) { return a * (1 / std::sqrt(dot(a, a))); }
Vec vmin(Vec a, Vec b) { return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)}; }
Vec vmax(Vec a, Vec b) { return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)}; }

struct Triangle { Vec a, e1, e2, albedo; };
struct Box {
    Vec lo{1e30f, 1e30f, 1e30f}, hi{-1e30f, -1e30f, -1e30f};
    void add(Vec p) { lo = vmin(lo, p); hi = vmax(hi, p); }
    void add(const Box& b) { lo = vmin(lo, b.lo); hi = vmax(hi, b.hi); }
    float area() const { Vec d = hi - lo; return d.x * d.y + d.y * d.z + d.z * d.x; }
};
struct Node { Box box; int first, count, right; };

struct Rng {
    uint32_t s;
    float next() {
        s ^= s << 13; s ^= s >> 17; s ^= s << 5;
        return (s >> 8) * (1.0f / 16777216.0f);
    }
};

Box bounds(const Triangle& t) {
    Box b;
    b.add(t.a);
    b.add(t.a + t.e1);
    b.add(t.a + t.e2);
    return b;
}

class Bvh {
public:
    explicit Bvh(std::vector<Triangle> tris) : tris_(std::move(tris)) {
        nodes_.reserve(tris_.size() * 2);
        build(0, int(tris_.size()));
    }

    bool hit(Vec o, Vec d, float& t, int& index) const {
        const Vec inv{1 / d.x, 1 / d.y, 1 / d.z};
        int stack[64], top = 0;
        bool found = false;
        stack[top++] = 0;
        while (top) {
            const int id = stack[--top];
            const Node& n = nodes_[id];
            if (!overlaps(n.box, o, inv, t))
                continue;
            if (n.count) {
                for (int i = n.first; i < n.first + n.count; ++i)
                    if (intersect(tris_[i], o, d, t)) {
                        index = i;
                        found = true;
                    }
            } else if (dot(d, centre(nodes_[n.right].box) - centre(nodes_[id + 1].box)) > 0) {
                stack[top++] = n.right;
                stack[top++] = id + 1;
            } else {
                stack[top++] = id + 1;
                stack[top++] = n.right;
            }
        }
        return found;
    }

    const Triangle& triangle(int i) const { return tris_[i]; }
    size_t node_count() const { return nodes_.size(); }

private:
    static Vec centre(const Box& b) { return (b.lo + b.hi) * 0.5f; }

    static bool overlaps(const Box& b, Vec o, Vec inv, float limit) {
        const Vec p = mul(b.lo - o, inv), q = mul(b.hi - o, inv), lo = vmin(p, q), hi = vmax(p, q);
        const float enter = std::max(std::max(lo.x, lo.y), std::max(lo.z, 0.0f));
        return enter <= std::min(std::min(hi.x, hi.y), std::min(hi.z, limit));
    }

    static bool intersect(const Triangle& tri, Vec o, Vec d, float& t) {
        const Vec p = cross(d, tri.e2);
        const float det = dot(tri.e1, p);
        if (std::fabs(det) < 1e-9f)
            return false;
        const float inv = 1 / det;
        const Vec s = o - tri.a;
        const float u = dot(s, p) * inv;
        if (u < 0 || u > 1)
            return false;
        const Vec q = cross(s, tri.e1);
        const float v = dot(d, q) * inv, dist = dot(tri.e2, q) * inv;
        if (v < 0 || u + v > 1 || dist < 1e-4f || dist >= t)
            return false;
        t = dist;
        return true;
    }

    int build(int first, int last) {
        const int id = int(nodes_.size());
        nodes_.push_back({});
        Box box, centroids;
        for (int i = first; i < last; ++i) {
            box.add(bounds(tris_[i]));
            centroids.add(centre(bounds(tris_[i])));
        }
        nodes_[id] = {box, first, last - first, 0};
        const Vec span = centroids.hi - centroids.lo;
        const int axis = span.x > span.y ? (span.x > span.z ? 0 : 2) : (span.y > span.z ? 1 : 2);
        if (last - first <= 4 || span[axis] < 1e-6f)
            return id;
        constexpr int kBins = 12;
        std::array<Box, kBins> bin;
        std::array<int, kBins> count{};
        auto bin_of = [&](const Triangle& t) {
            return std::min(kBins - 1, int((centre(bounds(t))[axis] - centroids.lo[axis]) / span[axis] * kBins));
        };
        for (int i = first; i < last; ++i) {
            const int b = bin_of(tris_[i]);
            bin[b].add(bounds(tris_[i]));
            count[b]++;
        }
        float best = 1e30f;
        int split = 0;
        for (int s = 1; s < kBins; ++s) {
            Box l, r;
            int nl = 0, nr = 0;
            for (int b = 0; b < kBins; ++b)
                (b < s ? l : r).add(bin[b]), (b < s ? nl : nr) += count[b];
            if (nl && nr && l.area() * nl + r.area() * nr < best)
                best = l.area() * nl + r.area() * nr, split = s;
        }
        const auto mid = std::partition(tris_.begin() + first, tris_.begin() + last,
                                        [&](const Triangle& t) { return bin_of(t) < split; });
        const int m = int(mid - tris_.begin());
        nodes_[id].count = 0;
        build(first, m);
        nodes_[id].right = build(m, last);
        return id;
    }

    std::vector<Triangle> tris_;
    std::vector<Node> nodes_;
};

std::vector<Triangle> make_scene() {
    std::vector<Triangle> out;
    constexpr int n = 180;
    auto height = [](float x, float z) { return 0.5f * std::sin(3 * x) * std::cos(2 * z) + 0.1f * std::sin(17 * x + 9 * z); };
    auto at = [&](int i, int j) {
        const float x = 8.0f * i / n - 4, z = 8.0f * j / n - 4;
        return Vec{x, height(x, z), z};
    };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
            const Vec a = at(i, j), b = at(i + 1, j), c = at(i, j + 1), d = at(i + 1, j + 1);
            const Vec colour{0.5f + 0.3f * ((i / 8 + j / 8) & 1), 0.6f, 0.4f};
            out.push_back({a, b - a, c - a, colour});
            out.push_back({d, c - d, b - d, colour});
        }
    return out;
}

Vec trace(const Bvh& scene, Vec o, Vec d, Rng& rng) {
    Vec weight{1, 1, 1};
    for (int bounce = 0; bounce < 4; ++bounce) {
        float t = 1e30f;
        int id = -1;
        if (!scene.hit(o, d, t, id))
            return mul(weight, Vec{0.6f, 0.75f, 1.0f} * (0.4f + 0.6f * std::max(0.0f, d.y)));
        const Triangle& tri = scene.triangle(id);
        Vec n = unit(cross(tri.e1, tri.e2));
        if (dot(n, d) > 0)
            n = n * -1;
        o = o + d * t;
        const float z = 2 * rng.next() - 1, phi = 6.2831853f * rng.next(), r = std::sqrt(std::max(0.0f, 1 - z * z));
        d = unit(n + Vec{r * std::cos(phi), r * std::sin(phi), z} * 0.999f);
        weight = mul(weight, tri.albedo);
    }
    return {0, 0, 0};
}

}  // namespace

int main() {
    constexpr int width = 320, height = 200, passes = 80;
    const Bvh scene(make_scene());
    std::vector<Vec> image(width * height, Vec{0, 0, 0});
    for (int pass = 0; pass < passes; ++pass)
        for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x) {
                Rng rng{uint32_t((pass * height + y) * width + x) * 2654435761u + 1};
                const float u = (x + rng.next()) / width - 0.5f, v = 0.5f - (y + rng.next()) / height;
                image[y * width + x] = image[y * width + x] + trace(scene, {0, 2.2f, -6}, unit({u * 1.6f, v - 0.3f, 1}), rng);
            }
    double mean = 0;
    float peak = 0;
    for (const Vec& p : image) {
        const float l = (0.2126f * p.x + 0.7152f * p.y + 0.0722f * p.z) / passes;
        mean += l;
        peak = std::max(peak, l);
    }
    std::printf("nodes %zu mean luminance %.4f peak %.4f\n", scene.node_count(), mean / image.size(), peak);
    return 0;
}
