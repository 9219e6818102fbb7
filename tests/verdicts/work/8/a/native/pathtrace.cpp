// pathtrace: preview renderer for the furniture configurator.
//
// Loads a procedural room, builds a bounding volume hierarchy over the triangles
// and path-traces a small image that is shown while the full render is queued.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

namespace {

constexpr int kWidth = 240, kHeight = 180, kSamples = 140, kBounces = 4;

struct Vec {
    float x = 0, y = 0, z = 0;
    float operator[](int i) const { return i == 0 ? x : i == 1 ? y : z; }
};
inline Vec operator+(Vec a, Vec b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
inline Vec operator-(Vec a, Vec b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
inline Vec operator*(Vec a, float s) { return {a.x * s, a.y * s, a.z * s}; }
inline Vec operator*(Vec a, Vec b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
inline float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Vec cross(Vec a, Vec b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vec normalize(Vec a) { return a * (1.0f / std::sqrt(dot(a, a))); }
inline Vec min(Vec a, Vec b) { return {std::min(a.x, b.x), std::min(a.y, b.y), std::min(a.z, b.z)}; }
inline Vec max(Vec a, Vec b) { return {std::max(a.x, b.x), std::max(a.y, b.y), std::max(a.z, b.z)}; }

struct Triangle {
    Vec a, ab, ac, colour;
    Vec centre() const { return a + (ab + ac) * (1 / 3.0f); }
};

struct Ray {
    Vec from, dir, inv;
    Ray(Vec f, Vec d) : from(f), dir(d), inv{1 / d.x, 1 / d.y, 1 / d.z} {}
};

struct Node {
    Vec lo, hi;
    int first = 0, count = 0;  // leaf: range of triangles; inner: first is the right child
};

class Scene {
public:
    explicit Scene(std::vector<Triangle> tris) : tris_(std::move(tris)) {
        nodes_.reserve(2 * tris_.size());
        build(0, static_cast<int>(tris_.size()));
    }

    const Triangle* hit(const Ray& ray, float& t) const {
        int stack[64], top = 0;
        stack[top++] = 0;
        const Triangle* best = nullptr;
        while (top) {
            int index = stack[--top];
            const Node& n = nodes_[index];
            if (!overlaps(n, ray, t))
                continue;
            if (n.count == 0) {
                stack[top++] = n.first;
                stack[top++] = index + 1;
                continue;
            }
            for (int i = n.first; i < n.first + n.count; ++i)
                if (intersect(tris_[i], ray, t))
                    best = &tris_[i];
        }
        return best;
    }

    size_t size() const { return tris_.size(); }

private:
    int build(int begin, int end) {
        int index = static_cast<int>(nodes_.size());
        nodes_.emplace_back();
        const float inf = std::numeric_limits<float>::max();
        Vec lo{inf, inf, inf}, hi{-inf, -inf, -inf}, clo = lo, chi = hi;
        for (int i = begin; i < end; ++i) {
            const Triangle& t = tris_[i];
            for (Vec p : {t.a, t.a + t.ab, t.a + t.ac}) {
                lo = min(lo, p);
                hi = max(hi, p);
            }
            clo = min(clo, t.centre());
            chi = max(chi, t.centre());
        }
        nodes_[index].lo = lo;
        nodes_[index].hi = hi;
        if (end - begin <= 4) {
            nodes_[index].first = begin;
            nodes_[index].count = end - begin;
            return index;
        }
        Vec e = chi - clo;
        int axis = e.x > e.y && e.x > e.z ? 0 : e.y > e.z ? 1 : 2;
        int mid = (begin + end) / 2;
        std::nth_element(tris_.begin() + begin, tris_.begin() + mid, tris_.begin() + end,
                         [axis](const Triangle& l, const Triangle& r) {
                             return l.centre()[axis] < r.centre()[axis];
                         });
        build(begin, mid);
        int right = build(mid, end);
        nodes_[index].first = right;
        return index;
    }

    static bool overlaps(const Node& n, const Ray& r, float limit) {
        Vec a = (n.lo - r.from) * r.inv, b = (n.hi - r.from) * r.inv;
        Vec l = min(a, b), h = max(a, b);
        float enter = std::max({l.x, l.y, l.z, 0.0f}), leave = std::min({h.x, h.y, h.z, limit});
        return enter <= leave;
    }

    static bool intersect(const Triangle& t, const Ray& r, float& best) {
        Vec p = cross(r.dir, t.ac);
        float det = dot(t.ab, p);
        if (std::fabs(det) < 1e-9f)
            return false;
        float inv = 1 / det;
        Vec s = r.from - t.a;
        float u = dot(s, p) * inv;
        if (u < 0 || u > 1)
            return false;
        Vec q = cross(s, t.ab);
        float v = dot(r.dir, q) * inv;
        if (v < 0 || u + v > 1)
            return false;
        float d = dot(t.ac, q) * inv;
        if (d < 1e-4f || d >= best)
            return false;
        best = d;
        return true;
    }

    std::vector<Triangle> tris_;
    std::vector<Node> nodes_;
};

void add_ball(std::vector<Triangle>& out, Vec c, float r, Vec colour, int n) {
    auto at = [&](int i, int j) {
        float th = 3.14159265f * i / n, ph = 6.2831853f * j / (2 * n);
        return c + Vec{std::sin(th) * std::cos(ph), std::cos(th), std::sin(th) * std::sin(ph)} * r;
    };
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < 2 * n; ++j) {
            Vec p = at(i, j), q = at(i + 1, j), s = at(i + 1, j + 1), t = at(i, j + 1);
            out.push_back({p, q - p, s - p, colour});
            out.push_back({p, s - p, t - p, colour});
        }
}

Vec trace(const Scene& scene, Ray ray, std::mt19937& rng) {
    std::uniform_real_distribution<float> uni(0.0f, 1.0f);
    Vec weight{1, 1, 1};
    for (int bounce = 0; bounce < kBounces; ++bounce) {
        float t = 1e9f;
        const Triangle* tri = scene.hit(ray, t);
        if (!tri) {
            float sky = 0.5f + 0.5f * std::max(ray.dir.y, 0.0f);
            return weight * Vec{0.8f * sky, 0.9f * sky, sky};
        }
        Vec n = normalize(cross(tri->ab, tri->ac));
        if (dot(n, ray.dir) > 0)
            n = n * -1;
        weight = weight * tri->colour;
        float z = 2 * uni(rng) - 1, phi = 6.2831853f * uni(rng), r = std::sqrt(1 - z * z);
        Vec d = n + Vec{r * std::cos(phi), r * std::sin(phi), z} * 0.999f;
        ray = Ray(ray.from + ray.dir * t + n * 1e-3f, normalize(d));
    }
    return {};
}

}  // namespace

int main() {
    std::mt19937 rng(1234);
    std::uniform_real_distribution<float> uni(0.0f, 1.0f);
    std::vector<Triangle> tris;
    tris.push_back({{-40, 0, -40}, {80, 0, 0}, {80, 0, 80}, {0.7f, 0.7f, 0.65f}});
    tris.push_back({{-40, 0, -40}, {80, 0, 80}, {0, 0, 80}, {0.7f, 0.7f, 0.65f}});
    for (int i = 0; i < 60; ++i) {
        float r = 0.3f + 0.7f * uni(rng);
        add_ball(tris, {16 * uni(rng) - 8, r, 16 * uni(rng) - 4}, r,
                 {0.3f + 0.6f * uni(rng), 0.3f + 0.6f * uni(rng), 0.3f + 0.6f * uni(rng)}, 24);
    }
    Scene scene(std::move(tris));

    double red = 0, green = 0, blue = 0;
    std::vector<Vec> row(kWidth);
    for (int y = 0; y < kHeight; ++y) {
        std::fill(row.begin(), row.end(), Vec{});
        for (int x = 0; x < kWidth; ++x)
            for (int s = 0; s < kSamples; ++s) {
                float u = (x + uni(rng)) / kWidth - 0.5f, v = 0.5f - (y + uni(rng)) / kHeight;
                Ray ray({0, 3, -12}, normalize({1.2f * u, 0.9f * v - 0.15f, 1}));
                row[x] = row[x] + trace(scene, ray, rng);
            }
        for (Vec p : row) {
            red += p.x;
            green += p.y;
            blue += p.z;
        }
    }
    double scale = 1.0 / (double(kWidth) * kHeight * kSamples);
    std::printf("triangles %zu\nmean colour %.5f %.5f %.5f\n", scene.size(), red * scale,
                green * scale, blue * scale);
    return 0;
}
