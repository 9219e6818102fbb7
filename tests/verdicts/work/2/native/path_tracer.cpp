// Small diffuse path tracer over a cluttered scene of spheres and discs.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <vector>
#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

struct V {
    double x, y, z;
    V operator+(V o) const { return {x + o.x, y + o.y, z + o.z}; }
    V operator-(V o) const { return {x - o.x, y - o.y, z - o.z}; }
    V operator*(double k) const { return {x * k, y * k, z * k}; }
};
static inline double dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline V unit(V a) { return a * (1.0 / std::sqrt(dot(a, a))); }

struct Ray {
    V origin, dir;
};

struct Shape {
    double albedo, glow;
    Shape(double a, double g) : albedo(a), glow(g) {}
    virtual ~Shape() = default;
    virtual double meet(const Ray& r) const = 0;
    virtual V normal(V at) const = 0;
};

struct Sphere final : Shape {
    V c;
    double rad;
    Sphere(V c_, double r_, double a, double g) : Shape(a, g), c(c_), rad(r_) {}
    double meet(const Ray& r) const override {
        V oc = r.origin - c;
        double b = dot(oc, r.dir), q = b * b - dot(oc, oc) + rad * rad;
        if (q < 0) return -1;
        double s = std::sqrt(q);
        return -b - s > 1e-6 ? -b - s : -b + s;
    }
    V normal(V at) const override { return unit(at - c); }
};

struct Disc final : Shape {
    V c, n;
    double rad;
    Disc(V c_, V n_, double r_, double a, double g) : Shape(a, g), c(c_), n(unit(n_)), rad(r_) {}
    double meet(const Ray& r) const override {
        double d = dot(r.dir, n);
        if (std::fabs(d) < 1e-9) return -1;
        double t = dot(c - r.origin, n) / d;
        V off = r.origin + r.dir * t - c;
        return dot(off, off) > rad * rad ? -1 : t;
    }
    V normal(V) const override { return n; }
};

using ShapePtr = std::shared_ptr<const Shape>;

class Rng {
public:
    explicit Rng(uint64_t s) : s_(s * 2685821657736338717ull + 1) {}
    double next() {
        s_ ^= s_ >> 12;
        s_ ^= s_ << 25;
        s_ ^= s_ >> 27;
        return double((s_ * 2685821657736338717ull) >> 11) / 9007199254740992.0;
    }

private:
    uint64_t s_;
};

class Scene {
public:
    void add(ShapePtr s) { shapes_.push_back(std::move(s)); }

    ShapePtr closest(const Ray& ray, double& t) const {
        ShapePtr best;
        t = 1e30;
        for (auto shape : shapes_) {
            double d = shape->meet(ray);
            if (d > 1e-6 && d < t) {
                t = d;
                best = shape;
            }
        }
        return best;
    }

private:
    std::vector<ShapePtr> shapes_;
};

static V scatter(V n, Rng& rng) {
    double a = 6.283185307179586 * rng.next(), z = 2 * rng.next() - 1, s = std::sqrt(1 - z * z);
    V d = unit(n * 1.0001 + V{s * std::cos(a), s * std::sin(a), z});
    return d;
}

static double radiance(const Scene& scene, Ray ray, Rng& rng) {
    double light = 0, weight = 1;
    for (int bounce = 0; bounce < 5; ++bounce) {
        double t;
        ShapePtr hit = scene.closest(ray, t);
        if (!hit) return light + weight * 0.4 * (1 + ray.dir.y);
        light += weight * hit->glow;
        weight *= hit->albedo;
        V at = ray.origin + ray.dir * t;
        V n = hit->normal(at);
        if (dot(n, ray.dir) > 0) n = n * -1;
        ray = {at, scatter(n, rng)};
    }
    return light;
}

static Scene build_scene() {
    Scene scene;
    Rng rng(5);
    scene.add(std::make_shared<Disc>(V{0, -1, 0}, V{0, 1, 0}, 40, 0.7, 0));
    for (int i = 0; i < 22; ++i) {
        V c{8 * rng.next() - 4, 3 * rng.next() - 0.8, 4 + 6 * rng.next()};
        double albedo = 0.3 + 0.6 * rng.next(), glow = i % 7 == 0 ? 3.0 : 0.0;
        if (i % 4 == 3)
            scene.add(std::make_shared<Disc>(c, V{rng.next() - 0.5, rng.next(), -1}, 0.8, albedo, glow));
        else
            scene.add(std::make_shared<Sphere>(c, 0.3 + 0.5 * rng.next(), albedo, glow));
    }
    return scene;
}

int main() {
    const int width = 320, height = 200, samples = 320;
    Scene scene = build_scene();
    std::vector<double> image(width * height);
    for (int y = 0; y < height; ++y) {
        DWELL_STEP();
        for (int x = 0; x < width; ++x) {
            Rng rng(uint64_t(y) * width + x + 1);
            double sum = 0;
            for (int s = 0; s < samples; ++s) {
                V d{(x + rng.next() - width / 2.0) / height, (height / 2.0 - y - rng.next()) / height, 1};
                sum += radiance(scene, {{0, 0.5, -2}, unit(d)}, rng);
            }
            image[y * width + x] = sum / samples;
        }
    }
    double mean = 0;
    for (double p : image) mean += p;
    std::printf("mean %.9f corner %.9f\n", mean / image.size(), image.back());
    return 0;
}
