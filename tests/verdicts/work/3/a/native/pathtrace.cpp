#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

// Small path tracer: two render threads share the rows of every frame.
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>

struct Vec {
    double x = 0, y = 0, z = 0;
    Vec operator+(const Vec &o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec operator-(const Vec &o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec operator*(double k) const { return {x * k, y * k, z * k}; }
    Vec operator*(const Vec &o) const { return {x * o.x, y * o.y, z * o.z}; }
    double dot(const Vec &o) const { return x * o.x + y * o.y + z * o.z; }
    Vec unit() const { return *this * (1.0 / std::sqrt(dot(*this))); }
};

struct Ray {
    Vec from, dir;
};

struct Sphere {
    Vec centre;
    double radius;
    Vec colour;
    double mirror;
};

struct Hit {
    double t = 1e30;
    const Sphere *what = nullptr;
};

class Sampler {
public:
    explicit Sampler(uint64_t seed) : s_(seed * 0x9E3779B97F4A7C15ull + 1) {}
    double next() {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 7;
        s_ ^= s_ << 17;
        return static_cast<double>(s_ >> 11) / 9007199254740992.0;
    }
    Vec onSphere() {
        double z = 2 * next() - 1, a = 6.283185307179586 * next(), r = std::sqrt(1 - z * z);
        return {r * std::cos(a), r * std::sin(a), z};
    }

private:
    uint64_t s_;
};

static std::vector<Sphere> makeScene(double time) {
    std::vector<Sphere> scene;
    scene.push_back({{0, -1000, 0}, 1000, {0.7, 0.7, 0.65}, 0.0});
    for (int i = 0; i < 12; i++) {
        double a = i * 0.5236 + 0.2 * time;
        scene.push_back({{3 * std::cos(a), 0.6 + 0.2 * std::sin(time + i), 3 * std::sin(a)},
                         0.6,
                         {0.4 + 0.05 * i, 0.9 - 0.05 * i, 0.5},
                         i % 3 == 0 ? 0.7 : 0.0});
    }
    scene.push_back({{0, 1.2, 0}, 1.2, {0.95, 0.95, 0.95}, 0.9});
    return scene;
}

static Hit closest(const std::vector<Sphere> &scene, const Ray &r) {
    Hit h;
    for (const Sphere &s : scene) {
        Vec oc = r.from - s.centre;
        double b = oc.dot(r.dir), c = oc.dot(oc) - s.radius * s.radius, d = b * b - c;
        if (d <= 0)
            continue;
        double root = std::sqrt(d), t = -b - root;
        if (t < 1e-4)
            t = -b + root;
        if (t > 1e-4 && t < h.t) {
            h.t = t;
            h.what = &s;
        }
    }
    return h;
}

static Vec sky(const Vec &d) {
    double k = 0.5 * (d.y + 1);
    return Vec{1, 1, 1} * (1 - k) + Vec{0.5, 0.7, 1.0} * k;
}

static Vec trace(const std::vector<Sphere> &scene, Ray r, Sampler &rng) {
    Vec weight{1, 1, 1};
    for (int depth = 0; depth < 6; depth++) {
        Hit h = closest(scene, r);
        if (!h.what)
            return weight * sky(r.dir);
        Vec p = r.from + r.dir * h.t;
        Vec n = (p - h.what->centre) * (1.0 / h.what->radius);
        weight = weight * h.what->colour;
        Vec out = rng.next() < h.what->mirror ? r.dir - n * (2 * n.dot(r.dir)) : (n + rng.onSphere()).unit();
        r = {p, out};
    }
    return {};
}

class Frame {
public:
    Frame(int w, int h) : w_(w), h_(h), pixels_(static_cast<size_t>(w) * h) {}

    void render(const std::vector<Sphere> &scene, int number, int threads) {
        next_ = 0;
        std::vector<std::thread> pool;
        for (int i = 0; i < threads; i++)
            pool.emplace_back([&] {
                for (int y = next_++; y < h_; y = next_++)
                    row(scene, number, y);
            });
        for (auto &t : pool)
            t.join();
    }

    uint64_t checksum() const {
        uint64_t sum = 14695981039346656037ull;
        for (const Vec &p : pixels_)
            sum = (sum ^ static_cast<uint64_t>(p.x * 255 + p.y * 65025)) * 1099511628211ull;
        return sum;
    }

private:
    void row(const std::vector<Sphere> &scene, int number, int y) {
        const int samples = 8;
        Sampler rng(static_cast<uint64_t>(number) * 10007 + static_cast<uint64_t>(y));
        for (int x = 0; x < w_; x++) {
            Vec sum;
            for (int s = 0; s < samples; s++) {
                double u = (x + rng.next()) / w_ * 2 - 1, v = 1 - (y + rng.next()) / h_ * 2;
                sum = sum + trace(scene, {{0, 2.2, -8}, Vec{u * 0.8, v * 0.6 - 0.1, 1}.unit()}, rng);
            }
            pixels_[static_cast<size_t>(y) * w_ + x] = sum * (1.0 / samples);
        }
    }

    int w_, h_;
    std::atomic<int> next_{0};
    std::vector<Vec> pixels_;
};

int main() {
    const int kFrames = 200;
    Frame frame(240, 180);
    uint64_t check = 0;
    for (int f = 0; f < kFrames; f++) {
        auto scene = makeScene(0.1 * f);
        frame.render(scene, f, 2);
        check = check * 31 + frame.checksum();
        DWELL_STEP();
    }
    std::printf("frames %d check %016llx\n", kFrames, static_cast<unsigned long long>(check));
    return 0;
}
