// Ray tracer: a few spheres over a floor, two threads, interleaved rows.
#include <cmath>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

struct Vec {
    double x, y, z;
    Vec operator+(const Vec &o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec operator-(const Vec &o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec operator*(double s) const { return {x * s, y * s, z * s}; }
};
static double dot(const Vec &a, const Vec &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static Vec unit(const Vec &a) { return a * (1.0 / std::sqrt(dot(a, a))); }

struct Sphere { Vec c; double r; double shade, mirror; };
struct Hit { double t; const Sphere *s; };

static std::vector<Sphere> build_scene() {
    std::vector<Sphere> scene;
    for (int i = 0; i < 36; i++)
        scene.push_back({{(i % 6) * 1.4 - 3.5, (i / 6) * 0.9 - 1.5, 7.0 + (i * 7 % 5)}, 0.6,
                         0.3 + 0.02 * i, i % 3 ? 0.35 : 0.0});
    scene.push_back({{0, -1002, 10}, 1000, 0.7, 0.15});
    return scene;
}

// waits for nothing: the nearest sphere on the ray
static Hit wait_for_hit(const std::vector<Sphere> &scene, const Vec &o, const Vec &d) {
    Hit best{1e30, nullptr};
    for (const Sphere &s : scene) {
        Vec oc = o - s.c;
        double b = dot(oc, d), c = dot(oc, oc) - s.r * s.r;
        double disc = b * b - c;
        if (disc <= 0) continue;
        double t = -b - std::sqrt(disc);
        if (t > 1e-4 && t < best.t) best = {t, &s};
    }
    return best;
}

static double copy_light(const std::vector<Sphere> &scene, const Vec &p, const Vec &n) {
    static const Vec lamps[2] = {{5, 8, -4}, {-6, 7, 0}};
    double sum = 0.08;
    for (const Vec &l : lamps) {
        Vec d = unit(l - p);
        double k = dot(n, d);
        if (k > 0 && !wait_for_hit(scene, p, d).s) sum += 0.5 * k;
    }
    return sum;
}

static double trace(const std::vector<Sphere> &scene, const Vec &o, const Vec &d, int depth) {
    Hit h = wait_for_hit(scene, o, d);
    if (!h.s) return 0.4 + 0.3 * d.y;
    Vec p = o + d * h.t, n = unit(p - h.s->c);
    double v = h.s->shade * copy_light(scene, p, n);
    if (h.s->mirror > 0 && depth < 4) {
        Vec r = d - n * (2 * dot(d, n));
        v += h.s->mirror * trace(scene, p, r, depth + 1);
    }
    return v;
}

static void render_rows(const std::vector<Sphere> &scene, std::vector<float> &image, int w, int h,
                        int first, int step) {
    for (int y = first; y < h; y += step)
        for (int x = 0; x < w; x++) {
            double v = 0;
            for (int s = 0; s < 4; s++) {
                double dx = (x + 0.5 * (s & 1) - w / 2.0) / w, dy = (h / 2.0 - y - 0.5 * (s >> 1)) / w;
                v += trace(scene, {0, 0, 0}, unit({dx, dy, 0.8}), 0);
            }
            image[(size_t)y * w + x] = (float)(v / 4);
        }
}

static double average(const std::vector<float> &image) {
    double sum = 0;
    for (float v : image) sum += v;
    return sum / image.size();
}

int main() {
    const int w = 1380, h = 1000;
    std::vector<Sphere> scene = build_scene();
    std::vector<float> image((size_t)w * h);
    std::thread even(render_rows, std::cref(scene), std::ref(image), w, h, 0, 2);
    std::thread odd(render_rows, std::cref(scene), std::ref(image), w, h, 1, 2);
    even.join();
    odd.join();
    std::printf("average brightness %.5f\n", average(image));
    return 0;
}
