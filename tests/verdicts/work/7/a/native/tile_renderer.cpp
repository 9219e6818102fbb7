// Preview renderer for the level editor: a sphere scene with one shadow ray and a
// mirror bounce per hit, rendered tile by tile for a short camera flight.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <future>
#include <random>
#include <vector>

namespace {

struct Vec {
    float x = 0, y = 0, z = 0;
    Vec operator+(Vec o) const { return {x + o.x, y + o.y, z + o.z}; }
    Vec operator-(Vec o) const { return {x - o.x, y - o.y, z - o.z}; }
    Vec operator*(float k) const { return {x * k, y * k, z * k}; }
};

float dot(Vec a, Vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
Vec normalized(Vec v) { return v * (1.0f / std::sqrt(dot(v, v))); }

struct Sphere {
    Vec center;
    float radius;
    Vec color;
    float mirror;
};

struct Hit {
    float t = 1e30f;
    const Sphere *sphere = nullptr;
};

struct Scene {
    std::vector<Sphere> spheres;
    Vec light = normalized({0.4f, 0.9f, -0.3f});

    Hit closest(Vec origin, Vec dir) const {
        Hit hit;
        for (const Sphere &s : spheres) {
            Vec oc = origin - s.center;
            float b = dot(oc, dir), c = dot(oc, oc) - s.radius * s.radius, disc = b * b - c;
            if (disc <= 0)
                continue;
            float t = -b - std::sqrt(disc);
            if (t > 1e-3f && t < hit.t)
                hit = {t, &s};
        }
        return hit;
    }

    bool shadowed(Vec origin) const {
        for (const Sphere &s : spheres) {
            Vec oc = origin - s.center;
            float b = dot(oc, light), c = dot(oc, oc) - s.radius * s.radius;
            if (b < 0 && b * b > c && c > 0)
                return true;
        }
        return false;
    }

    Vec shade(Vec origin, Vec dir, int depth) const {
        Hit hit = closest(origin, dir);
        if (!hit.sphere) {
            float h = 0.5f * (dir.y + 1);
            return Vec{1, 1, 1} * (1 - h) + Vec{0.4f, 0.6f, 1} * h;
        }
        Vec p = origin + dir * hit.t, n = (p - hit.sphere->center) * (1 / hit.sphere->radius);
        float diffuse = std::max(0.0f, dot(n, light));
        if (diffuse > 0 && shadowed(p + n * 1e-3f))
            diffuse = 0;
        Vec c = hit.sphere->color * (0.15f + 0.85f * diffuse);
        if (depth > 0 && hit.sphere->mirror > 0) {
            Vec r = dir - n * (2 * dot(n, dir));
            c = c * (1 - hit.sphere->mirror) + shade(p + n * 1e-3f, r, depth - 1) * hit.sphere->mirror;
        }
        return c;
    }
};

struct Image {
    int width, height;
    std::vector<std::array<uint8_t, 3>> pixels;
    Image(int w, int h) : width(w), height(h), pixels(size_t(w) * h) {}
};

struct Tile {
    int x0, y0, x1, y1;
};

Scene make_scene() {
    std::mt19937 gen(4711);
    std::uniform_real_distribution<float> u(0, 1);
    Scene scene;
    scene.spheres.push_back({{0, -1000, 0}, 1000, {0.5f, 0.5f, 0.45f}, 0});
    for (int i = 0; i < 14; i++) {
        float r = 0.3f + 0.5f * u(gen);
        scene.spheres.push_back(
            {{8 * u(gen) - 4, r, 8 * u(gen) - 2}, r, {u(gen), u(gen), u(gen)}, u(gen) < 0.4f ? 0.5f : 0});
    }
    return scene;
}

std::vector<Tile> make_tiles(int width, int height, int size) {
    std::vector<Tile> tiles;
    for (int y = 0; y < height; y += size)
        for (int x = 0; x < width; x += size)
            tiles.push_back({x, y, std::min(x + size, width), std::min(y + size, height)});
    return tiles;
}

void render_tile(const Scene &scene, Vec eye, float turn, Image &image, const Tile &tile) {
    float cs = std::cos(turn), sn = std::sin(turn);
    for (int y = tile.y0; y < tile.y1; y++)
        for (int x = tile.x0; x < tile.x1; x++) {
            float px = (2.0f * x / image.width - 1) * 1.2f, py = (1 - 2.0f * y / image.height) * 0.8f;
            Vec dir = normalized({px * cs + sn, py, cs - px * sn});
            Vec c = scene.shade(eye, dir, 2);
            image.pixels[size_t(y) * image.width + x] = {uint8_t(255 * std::min(c.x, 1.0f)),
                                                         uint8_t(255 * std::min(c.y, 1.0f)),
                                                         uint8_t(255 * std::min(c.z, 1.0f))};
        }
}

void render_frame(const Scene &scene, Vec eye, float turn, Image &image, const std::vector<Tile> &tiles) {
    constexpr size_t in_flight = 32;
    std::vector<std::future<void>> pending;
    for (size_t i = 0; i < tiles.size(); i++) {
        pending.push_back(std::async(std::launch::async, [&, i] { render_tile(scene, eye, turn, image, tiles[i]); }));
        if (pending.size() == in_flight) {
            for (auto &f : pending)
                f.get();
            pending.clear();
        }
    }
    for (auto &f : pending)
        f.get();
}

} // namespace

int main() {
    constexpr int width = 640, height = 400, frames = 140, tile_size = 16;
    Scene scene = make_scene();
    Image image(width, height);
    const auto tiles = make_tiles(width, height, tile_size);
    uint64_t checksum = 1469598103934665603ull;
    double brightness = 0;
    for (int f = 0; f < frames; f++) {
        float a = 0.01f * f;
        render_frame(scene, {2 * std::sin(a), 1.6f + 0.2f * std::sin(3 * a), -7}, -0.2f * a, image, tiles);
        for (const auto &p : image.pixels)
            for (uint8_t v : p) {
                checksum = (checksum ^ v) * 1099511628211ull;
                brightness += v;
            }
    }
    std::printf("frames %d  tiles %zu  mean %.3f  checksum %016llx\n", frames, tiles.size(),
                brightness / (3.0 * width * height * frames), static_cast<unsigned long long>(checksum));
    return 0;
}
