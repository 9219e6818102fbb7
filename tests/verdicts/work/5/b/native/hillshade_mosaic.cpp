// Renders shaded relief for a set of elevation tiles: smooths the raster,
// derives slope and aspect, lights it and stores the 8-bit tile compressed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <zlib.h>

namespace {

constexpr int kSize = 2048;
constexpr int kTiles = 22;
constexpr int kRadius = 3;
constexpr float kCell = 30.0f; // metres per pixel

class Raster {
public:
    Raster(int w, int h) : w_(w), h_(h), data_(size_t(w) * h) {}
    float &at(int x, int y) { return data_[size_t(y) * w_ + x]; }
    float at(int x, int y) const { return data_[size_t(y) * w_ + x]; }
    const float *row(int y) const { return &data_[size_t(y) * w_]; }
    float *row(int y) { return &data_[size_t(y) * w_]; }
    int width() const { return w_; }
    int height() const { return h_; }

private:
    int w_, h_;
    std::vector<float> data_;
};

void synthesise(Raster &dem, int tile) {
    std::mt19937 rng(100 + tile);
    struct Wave {
        float kx, ky, amp;
    };
    std::vector<Wave> waves;
    for (int i = 0; i < 6; i++) {
        const float k = 0.002f * float(1 << i);
        const float a = float(rng() % 628) / 100.0f;
        waves.push_back({k * std::cos(a), k * std::sin(a), 600.0f / float(1 << i)});
    }
    // separable tables, so that a tile costs two products a wave and pixel
    const int w = dem.width(), h = dem.height();
    std::vector<float> sx(w), cx(w);
    for (const Wave &wv : waves) {
        for (int x = 0; x < w; x++) {
            sx[x] = wv.amp * std::sin(wv.kx * float(x));
            cx[x] = wv.amp * std::cos(wv.kx * float(x));
        }
        for (int y = 0; y < h; y++) {
            const float sy = std::sin(wv.ky * float(y)), cy = std::cos(wv.ky * float(y));
            float *row = dem.row(y);
            for (int x = 0; x < w; x++)
                row[x] += sx[x] * cy + cx[x] * sy;
        }
    }
    uint32_t n = rng();
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            n = n * 1664525u + 1013904223u;
            dem.at(x, y) += float(n >> 24) * 0.06f;
        }
}

void smooth_horizontal(const Raster &src, Raster &dst) {
    const int w = src.width(), h = src.height();
    for (int y = 0; y < h; y++) {
        const float *in = src.row(y);
        float *out = dst.row(y);
        for (int x = 0; x < w; x++) {
            float sum = 0;
            for (int k = -kRadius; k <= kRadius; k++)
                sum += in[std::clamp(x + k, 0, w - 1)];
            out[x] = sum / (2 * kRadius + 1);
        }
    }
}

void smooth_vertical(const Raster &src, Raster &dst) {
    const int w = src.width(), h = src.height();
    for (int x = 0; x < w; x++)
        for (int y = 0; y < h; y++) {
            float sum = 0;
            for (int k = -kRadius; k <= kRadius; k++)
                sum += src.at(x, std::clamp(y + k, 0, h - 1));
            dst.at(x, y) = sum / (2 * kRadius + 1);
        }
}

std::vector<uint8_t> shade(const Raster &dem, float azimuth, float altitude) {
    const int w = dem.width(), h = dem.height();
    std::vector<uint8_t> out(size_t(w) * h);
    const float lx = std::sin(azimuth) * std::cos(altitude);
    const float ly = std::cos(azimuth) * std::cos(altitude);
    const float lz = std::sin(altitude);
    for (int y = 0; y < h; y++) {
        const float *up = dem.row(std::max(y - 1, 0));
        const float *down = dem.row(std::min(y + 1, h - 1));
        const float *mid = dem.row(y);
        for (int x = 0; x < w; x++) {
            const int l = std::max(x - 1, 0), r = std::min(x + 1, w - 1);
            const float dx = (up[r] + 2 * mid[r] + down[r] - up[l] - 2 * mid[l] - down[l]) / (8 * kCell);
            const float dy = (down[l] + 2 * down[x] + down[r] - up[l] - 2 * up[x] - up[r]) / (8 * kCell);
            const float light = (lz - lx * dx + ly * dy) / std::sqrt(1 + dx * dx + dy * dy);
            out[size_t(y) * w + x] = uint8_t(std::clamp(light, 0.0f, 1.0f) * 31.0f) << 3;
        }
    }
    return out;
}

std::vector<uint8_t> pack(const std::vector<uint8_t> &img) {
    std::vector<uint8_t> delta(img.size());
    for (size_t i = 0; i < img.size(); i++)
        delta[i] = uint8_t(img[i] - (i ? img[i - 1] : 0));
    uLongf size = compressBound(delta.size());
    std::vector<uint8_t> out(size);
    if (compress2(out.data(), &size, delta.data(), delta.size(), 1) != Z_OK)
        std::abort();
    out.resize(size);
    return out;
}

} // namespace

int main() {
    size_t raw = 0, packed = 0;
    unsigned long check = 0;
    double brightness = 0;
    for (int t = 0; t < kTiles; t++) {
        Raster dem(kSize, kSize), tmp(kSize, kSize);
        synthesise(dem, t);
        for (int pass = 0; pass < 2; pass++) {
            smooth_horizontal(dem, tmp);
            smooth_vertical(tmp, dem);
        }
        const auto img = shade(dem, 5.498f, 0.785f);
        for (uint8_t v : img)
            brightness += v;
        const auto z = pack(img);
        raw += img.size();
        packed += z.size();
        check = crc32(check, img.data(), uInt(img.size()));
    }
    std::printf("%d tiles, mean brightness %.2f, %zu -> %zu bytes, crc %08lx\n", kTiles,
                brightness / double(raw), raw, packed, check);
}
