// Zoom into the Mandelbrot set with smooth colouring; rows are shared out by OpenMP.
#include <omp.h>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct View { double x, y, width; int most; };
struct Colour { uint8_t r, g, b; };

static const int W = 640, H = 420;

// Number of steps till |z| > 16, with a fraction for smooth shading; -1 inside the set.
static double escape(double cx, double cy, int most) {
    double q = (cx - 0.25) * (cx - 0.25) + cy * cy;
    if (q * (q + cx - 0.25) <= 0.25 * cy * cy || (cx + 1) * (cx + 1) + cy * cy <= 0.0625) return -1;
    double x = 0, y = 0, x2 = 0, y2 = 0, px = 0, py = 0;
    int check = 8;
    for (int n = 0; n < most; ++n) {
        y = 2 * x * y + cy;
        x = x2 - y2 + cx;
        x2 = x * x;
        y2 = y * y;
        if (x2 + y2 > 256) return n + 1 - std::log2(0.5 * std::log2(x2 + y2));
        if (x == px && y == py) return -1;
        if (n == check) {
            px = x;
            py = y;
            check *= 2;
        }
    }
    return -1;
}

static std::vector<Colour> make_palette() {
    std::vector<Colour> p(1024);
    for (size_t i = 0; i < p.size(); ++i) {
        double t = i * 6.283185307 / p.size();
        p[i] = {uint8_t(127 + 127 * std::sin(t)), uint8_t(127 + 127 * std::sin(t + 2.1)), uint8_t(127 + 127 * std::sin(t + 4.2))};
    }
    return p;
}

static void draw_row(const View& v, const std::vector<Colour>& palette, int row, Colour* out, long& inside) {
    double cy = v.y + (row - H / 2) * v.width / W;
    for (int i = 0; i < W; ++i) {
        double cx = v.x + (i - W / 2) * v.width / W;
        double n = escape(cx, cy, v.most);
        if (n < 0) {
            out[i] = {0, 0, 0};
            ++inside;
        } else {
            out[i] = palette[size_t(n * 12) % palette.size()];
        }
    }
}

static double contrast(const std::vector<Colour>& image) {
    double sum = 0;
    for (int y = 1; y < H; ++y)
        for (int x = 1; x < W; ++x) {
            const Colour &c = image[y * W + x], &l = image[y * W + x - 1], &u = image[(y - 1) * W + x];
            sum += std::abs(c.r - l.r) + std::abs(c.g - u.g) + std::abs(c.b - l.b);
        }
    return sum / (W * H);
}

int main() {
    auto start = Clock::now();
    auto palette = make_palette();
    std::vector<Colour> image(W * H);
    View view{-0.743643887, 0.131825904, 3.0, 400};
    long all_inside = 0;
    uint32_t checksum = 0;
    for (int frame = 0; frame < 40; ++frame) {
        long inside = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : inside) num_threads(2)
        for (int row = 0; row < H; ++row) draw_row(view, palette, row, &image[row * W], inside);
        all_inside += inside;
        for (const Colour& c : image) checksum = checksum * 16777619u ^ (c.r << 16 | c.g << 8 | c.b);
        if (frame % 10 == 9) printf("frame %d: width %.2e, %ld points inside, contrast %.2f\n", frame + 1, view.width, inside, contrast(image));
        view.width *= 0.75;
        view.most += 60;
    }
    printf("%ld points inside, checksum %08x\n", all_inside, checksum);
    printf("TRUTH {\"share\": 0, \"seconds\": %.1f}\n", since(start));
}
