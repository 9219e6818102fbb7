// Denoise and sharpen the frames of a 4K clip.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>
#include "dwell/dwell.h"

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

static const int W = 3840, H = 2304;
using Plane = std::vector<float>;

static void read_frame(std::vector<uint8_t>& raw, int number) {
    uint32_t s = 77u + number;
    for (int y = 0; y < H; ++y)
        for (int x = 0; x < W; ++x) {
            s = s * 1664525u + 1013904223u;
            raw[size_t(y) * W + x] = uint8_t(((x + 3 * number) ^ y) / 16 % 200 + (s >> 27));
        }
}

static void to_light(const std::vector<uint8_t>& raw, Plane& out) {
    static float curve[256];
    if (curve[255] == 0)
        for (int i = 0; i < 256; ++i) curve[i] = std::pow(i / 255.f, 2.2f);
    for (size_t i = 0; i < raw.size(); ++i) out[i] = curve[raw[i]];
}

static void blur_rows(const Plane& in, Plane& out) {
    for (int y = 0; y < H; ++y) {
        const float* a = &in[size_t(y) * W];
        float* b = &out[size_t(y) * W];
        b[0] = a[0];
        b[W - 1] = a[W - 1];
        for (int x = 1; x < W - 1; ++x) b[x] = 0.25f * (a[x - 1] + a[x + 1]) + 0.5f * a[x];
    }
}

static void blur_columns(const Plane& in, Plane& out) {
    std::copy(in.begin(), in.begin() + W, out.begin());
    std::copy(in.end() - W, in.end(), out.end() - W);
    for (int y = 1; y < H - 1; ++y) {
        const float* a = &in[size_t(y) * W];
        float* b = &out[size_t(y) * W];
        for (int x = 0; x < W; ++x) b[x] = 0.25f * (a[x - W] + a[x + W]) + 0.5f * a[x];
    }
}

static double sharpen(const Plane& light, const Plane& soft, std::vector<uint8_t>& raw) {
    double sum = 0;
    for (size_t i = 0; i < raw.size(); ++i) {
        float v = std::min(1.f, std::max(0.f, light[i] + 0.7f * (light[i] - soft[i])));
        raw[i] = uint8_t(255 * std::sqrt(v));
        sum += v;
    }
    return sum / raw.size();
}

#ifdef REPAIRED
#define KEPT static
#else
#define KEPT
#endif

static double making;

static double process(std::vector<uint8_t>& raw) {
    auto t0 = Clock::now(), t1 = t0;
    double mean;
    {
        KEPT Plane light(size_t(W) * H), mid(size_t(W) * H), soft(size_t(W) * H);
        making += since(t0);
        to_light(raw, light);
        blur_rows(light, mid);
        blur_columns(mid, soft);
        mean = sharpen(light, soft, raw);
        t1 = Clock::now();
    }
    making += since(t1);
    return mean;
}

int main() {
    auto start = Clock::now();
    std::vector<uint8_t> raw(size_t(W) * H);
    double sum = 0;
    for (int n = 0; n < 20; ++n) {
        DWELL_STEP();
        read_frame(raw, n);
        double mean = process(raw);
        sum += mean;
        if (n % 5 == 4) printf("frame %d: mean light %.5f\n", n + 1, mean);
    }
    long histogram[8] = {0};
    for (uint8_t p : raw) histogram[p / 32]++;
    for (int i = 0; i < 8; ++i) printf("%3d-%3d: %ld\n", i * 32, i * 32 + 31, histogram[i]);
    printf("mean of all frames %.5f\n", sum / 20);
    double total = since(start);
#ifdef REPAIRED
    making = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", making / total, total);
}
