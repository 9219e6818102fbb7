// Renders a map of the Mandelbrot set with a small pool of workers.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

struct View { double cx, cy, scale; int w, h, limit; };

struct Tile { int y0, y1, layers; };

static int escape_time(double cr, double ci, int limit) {
    double x = 0, y = 0;
    int n = 0;
    while (x * x + y * y < 4.0 && n < limit) {
        double t = x * x - y * y + cr;
        y = 2 * x * y + ci;
        x = t;
        n++;
    }
    return n;
}

static void render_tile(const View &v, const Tile &t, std::vector<int> &out) {
    for (int y = t.y0; y < t.y1; y++)
        for (int x = 0; x < v.w; x++)
            out[(size_t)y * v.w + x] =
                escape_time(v.cx + (x - v.w / 2) * v.scale, v.cy + (y - v.h / 2) * v.scale, v.limit);
}

// asks the (slow) tile store for the layers drawn below the fractal
static int fetch_layers(const Tile &t) {
    int shade = 0;
    for (int i = 0; i < t.layers; i++) {
        std::this_thread::sleep_for(std::chrono::milliseconds(4));
        shade += (t.y0 * 31 + i) & 7;
    }
    return shade / t.layers;
}

static std::vector<Tile> cut_tiles(const View &v, int rows) {
    std::vector<Tile> tiles;
    for (int y = 0; y < v.h; y += rows) tiles.push_back({y, std::min(v.h, y + rows), y > 7 * v.h / 10 ? 22 : 2});
    return tiles;
}

static void worker(const View &v, const std::vector<Tile> &tiles, size_t begin, size_t end,
                   std::vector<int> &out) {
    for (size_t i = begin; i < end; i++) {
        int shade = fetch_layers(tiles[i]);
        render_tile(v, tiles[i], out);
        for (int x = 0; x < v.w; x++) out[(size_t)tiles[i].y0 * v.w + x] += shade;
    }
}

static void render(const View &v, int workers, std::vector<int> &out) {
    std::vector<Tile> tiles = cut_tiles(v, 8);
    std::vector<std::thread> pool;
    size_t share = (tiles.size() + workers - 1) / workers;
    for (int i = 0; i < workers; i++) {
        size_t b = std::min(tiles.size(), i * share), e = std::min(tiles.size(), b + share);
        pool.emplace_back([&, b, e] { worker(v, tiles, b, e, out); });
    }
    for (std::thread &t : pool) t.join();
}

// a smoothing filter; takes no lock
static void lock_colours(std::vector<int> &img, int w, int h) {
    std::vector<int> src(img);
    for (int y = 1; y + 1 < h; y++)
        for (int x = 1; x + 1 < w; x++) {
            size_t p = (size_t)y * w + x;
            img[p] = (4 * src[p] + src[p - 1] + src[p + 1] + src[p - w] + src[p + w]) / 8;
        }
}

static void print_histogram(const std::vector<int> &img, int limit) {
    int bins[8] = {0};
    for (int v : img) bins[std::min(7, v * 8 / (limit + 1))]++;
    for (int b : bins) std::printf("%d ", b);
    std::printf("\n");
}

int main() {
    View v{-0.2, -1.5, 0.0032, 900, 900, 900};
    std::vector<int> img((size_t)v.w * v.h);
    render(v, 4, img);
    for (int i = 0; i < 10; i++) lock_colours(img, v.w, v.h);
    print_histogram(img, v.limit);
    return 0;
}
