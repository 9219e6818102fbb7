#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

// Grading of a 4K sequence: exposure, highlight recovery from a local average,
// colour mix and an 8-bit histogram of each graded frame.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

static const int kWidth = 3840;
static const int kHeight = 2160;
static const int kFrames = 52;

using Plane = std::vector<float>;

struct Image {
    Plane rgb;  // interleaved, linear light
    Image() : rgb(static_cast<size_t>(kWidth) * kHeight * 3) {}
};

struct Grade {
    float exposure = 1.0f;
    float recovery = 0.4f;
    std::array<float, 9> mix{};
};

static void paintSource(Image &img) {
    uint32_t s = 2463534242u;
    for (int y = 0; y < kHeight; y++) {
        float *row = &img.rgb[static_cast<size_t>(y) * kWidth * 3];
        for (int x = 0; x < kWidth; x++) {
            s ^= s << 13;
            s ^= s >> 17;
            s ^= s << 5;
            float grain = static_cast<float>(s & 255) * (0.1f / 255.0f);
            row[3 * x + 0] = static_cast<float>(x) / kWidth + grain;
            row[3 * x + 1] = static_cast<float>(y) / kHeight + grain;
            row[3 * x + 2] = 0.5f + 0.4f * std::sin(0.01f * (x + y)) + grain;
        }
    }
}

static Grade gradeFor(int frame) {
    Grade g;
    g.exposure = 0.8f + 0.01f * frame;
    g.recovery = 0.3f + 0.005f * frame;
    g.mix = {0.90f, 0.07f, 0.03f, 0.04f, 0.92f, 0.04f, 0.02f, 0.08f, 0.90f};
    return g;
}

static Plane luminance(const Image &img, float exposure) {
    Plane out(static_cast<size_t>(kWidth) * kHeight);
    const float *p = img.rgb.data();
    for (size_t i = 0; i < out.size(); i++, p += 3)
        out[i] = exposure * (0.2126f * p[0] + 0.7152f * p[1] + 0.0722f * p[2]);
    return out;
}

static Plane localAverage(const Plane &lum) {
    const int bw = kWidth / 8, bh = kHeight / 8;
    Plane out(static_cast<size_t>(bw) * bh);
    for (int y = 0; y < bh * 8; y++) {
        const float *row = &lum[static_cast<size_t>(y) * kWidth];
        float *dst = &out[static_cast<size_t>(y / 8) * bw];
        for (int x = 0; x < bw; x++) {
            float sum = 0.0f;
            for (int k = 0; k < 8; k++)
                sum += row[8 * x + k];
            dst[x] += sum / 64.0f;
        }
    }
    return out;
}

static Image colourMix(const Image &src, const Plane &average, const Grade &g) {
    Image out;
    const int bw = kWidth / 8;
    for (int y = 0; y < kHeight; y++) {
        const float *avg = &average[static_cast<size_t>(y / 8) * bw];
        const float *in = &src.rgb[static_cast<size_t>(y) * kWidth * 3];
        float *dst = &out.rgb[static_cast<size_t>(y) * kWidth * 3];
        for (int x = 0; x < kWidth; x++) {
            float k = g.exposure / (1.0f + g.recovery * avg[x / 8]);
            float r = in[3 * x] * k, gr = in[3 * x + 1] * k, b = in[3 * x + 2] * k;
            dst[3 * x + 0] = g.mix[0] * r + g.mix[1] * gr + g.mix[2] * b;
            dst[3 * x + 1] = g.mix[3] * r + g.mix[4] * gr + g.mix[5] * b;
            dst[3 * x + 2] = g.mix[6] * r + g.mix[7] * gr + g.mix[8] * b;
        }
    }
    return out;
}

static void histogram(const Image &img, std::array<uint64_t, 256> &bins) {
    const size_t n = img.rgb.size();
    for (size_t i = 1; i < n; i += 12) {
        float v = std::min(std::max(img.rgb[i], 0.0f), 1.0f);
        bins[static_cast<int>(v * 255.0f)]++;
    }
}

static void gradeFrame(const Image &source, int frame, std::array<uint64_t, 256> &bins) {
    Grade g = gradeFor(frame);
    Plane lum = luminance(source, g.exposure);
    Plane average = localAverage(lum);
    Image graded = colourMix(source, average, g);
    histogram(graded, bins);
}

int main() {
    Image source;
    paintSource(source);
    std::array<uint64_t, 256> bins{};
    for (int f = 0; f < kFrames; f++) {
        gradeFrame(source, f, bins);
        DWELL_STEP();
    }
    uint64_t check = 0;
    for (int i = 0; i < 256; i++)
        check = check * 31 + bins[i];
    std::printf("frames %d median-bin %llu check %016llx\n", kFrames,
                static_cast<unsigned long long>(bins[128]), static_cast<unsigned long long>(check));
    return 0;
}
