// Software shader for a thumbnail wall: every frame shades a small
// framebuffer from a palette and a few moving lights, then tone-maps it.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <thread>
#include <vector>

#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

namespace {

constexpr int kWidth = 240;
constexpr int kHeight = 180;

struct Light {
    float x, y, r, g, b;
};

struct Pixel {
    float r, g, b;
};

struct Frame {
    std::vector<Pixel> px = std::vector<Pixel>(kWidth * kHeight);
    std::vector<uint32_t> out = std::vector<uint32_t>(kWidth * kHeight);
};

using Lights = std::array<Light, 4>;

Lights place_lights(int frame)
{
    Lights l{};
    for (size_t i = 0; i < l.size(); i++) {
        float a = 0.05f * static_cast<float>(frame) + 1.7f * static_cast<float>(i);
        l[i] = {kWidth * (0.5f + 0.4f * std::cos(a)), kHeight * (0.5f + 0.4f * std::sin(1.3f * a)),
                0.4f + 0.15f * static_cast<float>(i), 0.9f - 0.2f * static_cast<float>(i), 0.5f};
    }
    return l;
}

void shade_row(Frame& f, const Lights& lights, int y)
{
    Pixel* row = &f.px[static_cast<size_t>(y) * kWidth];
    for (int x = 0; x < kWidth; x++) {
        Pixel p{0.02f, 0.02f, 0.03f};
        for (const Light& l : lights) {
            float dx = static_cast<float>(x) - l.x, dy = static_cast<float>(y) - l.y;
            float k = 900.0f / (400.0f + dx * dx + dy * dy);
            p.r += l.r * k;
            p.g += l.g * k;
            p.b += l.b * k;
        }
        row[x] = p;
    }
}

void shade(Frame& f, const Lights& lights)
{
    for (int y = 0; y < kHeight; y++)
        shade_row(f, lights, y);
}

uint32_t to_byte(float v)
{
    float m = std::sqrt(v / (1.0f + v));
    return static_cast<uint32_t>(m * 255.0f);
}

void tone_map(Frame& f)
{
    for (size_t i = 0; i < f.px.size(); i++) {
        const Pixel& p = f.px[i];
        f.out[i] = to_byte(p.r) << 16 | to_byte(p.g) << 8 | to_byte(p.b);
    }
}

uint64_t fold(uint64_t h, const Frame& f)
{
    for (uint32_t v : f.out)
        h = (h ^ v) * 1099511628211ull;
    return h;
}

}  // namespace

int main(int argc, char** argv)
{
    int frames = argc > 1 ? std::atoi(argv[1]) : 700;
    Frame frame;
    uint64_t hash = 1469598103934665603ull;
    for (int n = 0; n < frames; n++) {
        Lights lights = place_lights(n);
        shade(frame, lights);
        tone_map(frame);
        hash = fold(hash, frame);
        DWELL_STEP();
    }
    std::printf("frames %d hash %016llx\n", frames, static_cast<unsigned long long>(hash));
    return 0;
}
