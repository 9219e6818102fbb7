// Ray traced fly-over of a field of mirrored balls, two render threads.
#include <time.h>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>
#include <vector>
#include "dwell/dwell.h"

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }
static double cpu() {
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

struct Vec {
    double x, y, z;
    Vec operator+(Vec o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec operator-(Vec o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec operator*(double s) const { return {x * s, y * s, z * s}; }
    double dot(Vec o) const { return x * o.x + y * o.y + z * o.z; }
    Vec unit() const { return *this * (1 / std::sqrt(dot(*this))); }
};

struct Ball { Vec at; double r; double tone; };

class Scene {
public:
    Scene() {
        for (int i = 0; i < 7; ++i)
            for (int k = 0; k < 7; ++k)
                balls_.push_back({{(i - 3) * 2.2, 0.9, 4.0 + k * 2.2}, 0.9, 0.3 + 0.1 * ((i * 3 + k) % 6)});
    }
    double shade(Vec from, Vec dir, int depth) const {
        if (depth == 0) return 0.1;
        double near = 1e9;
        const Ball* hit = nullptr;
        if (dir.y < 0.02)                      // nothing reaches above the horizon
            for (const Ball& b : balls_) {
                Vec oc = from - b.at;
                double h = oc.dot(dir), d = h * h - oc.dot(oc) + b.r * b.r;
                if (d <= 0) continue;
                double t = -h - std::sqrt(d);
                if (t > 1e-4 && t < near) { near = t; hit = &b; }
            }
        double floor = dir.y < -1e-6 ? -from.y / dir.y : 1e9;
        if (floor > 1e-4 && floor < near) {
            Vec p = from + dir * floor;
            bool dark = (int(std::floor(p.x)) + int(std::floor(p.z))) & 1;
            Vec up{dir.x, -dir.y, dir.z};
            return (dark ? 0.2 : 0.8) * 0.6 + 0.4 * shade(p, up, depth - 1);
        }
        if (!hit) return 0.5 + 0.4 * dir.y;
        Vec p = from + dir * near, n = (p - hit->at) * (1 / hit->r);
        Vec bounce = dir - n * (2 * dir.dot(n));
        double light = std::fmax(0, n.dot(Vec{0.5, 0.8, -0.3}));
        return 0.4 * hit->tone * light + 0.6 * shade(p, bounce, depth - 1);
    }

private:
    std::vector<Ball> balls_;
};

struct Camera { Vec eye; double turn; };

static const int W = 400, H = 300;

static void render_row(const Scene& scene, const Camera& cam, int y, float* row) {
    double s = std::sin(cam.turn), c = std::cos(cam.turn);
    for (int x = 0; x < W; ++x) {
        double u = (x - W / 2) / double(W), v = (H / 2 - y) / double(W);
        Vec d = Vec{u * c + s, v, c - u * s}.unit();
        row[x] = float(scene.shade(cam.eye, d, 5));
    }
}

int main() {
    auto start = Clock::now();
    Scene scene;
    std::vector<float> image(W * H);
    double longest = 0, lost = 0;
    for (int frame = 0; frame < 150; ++frame) {
        DWELL_STEP();
        Camera cam{{0.4 * std::sin(frame * 0.1), 2.2, -1 + frame * 0.02}, 0.15 * std::sin(frame * 0.05)};
        double used[2];
        auto render = [&](int part) {
            double t = cpu();
#ifdef REPAIRED
            for (int y = part; y < H; y += 2)
#else
            for (int y = part * H / 2; y < (part + 1) * H / 2; ++y)
#endif
                render_row(scene, cam, y, &image[y * W]);
            used[part] = cpu() - t;
        };
        std::thread other(render, 1);
        render(0);
        other.join();
        double most = std::fmax(used[0], used[1]);
        longest += most;
        lost += most - (used[0] + used[1]) / 2;
        if (frame % 50 == 49) {
            double sum = 0;
            for (float f : image) sum += f;
            printf("frame %d: mean brightness %.5f\n", frame + 1, sum / image.size());
        }
    }
    double total = since(start);
#ifdef REPAIRED
    lost = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", lost / longest, total);
}
