// video_denoise: temporal and spatial denoising of surveillance footage.
//
// Frames come as 8-bit luma.  Each one is converted to linear light, smoothed by
// a guided filter, blended with the motion-compensated history and encoded.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>
#include <dwell/probe.h>

namespace {

constexpr int kWidth = 1280;
constexpr int kHeight = 720;
constexpr int kFrames = 280;
constexpr int kRadius = 4;
constexpr float kEpsilon = 0.002f;

using Plane = std::vector<float>;
constexpr size_t kPixels = static_cast<size_t>(kWidth) * kHeight;

class Camera {
public:
    Camera() : noise_(1 << 16) {
        std::mt19937 rng(31337);
        std::normal_distribution<float> n(0.0f, 9.0f);
        for (float& v : noise_)
            v = n(rng);
    }

    void grab(int t, std::vector<uint8_t>& out) {
        out.resize(kPixels);
        uint32_t s = 2654435761u * static_cast<uint32_t>(t + 1);
        int cx = 200 + t * 7 % 800, cy = 360 + t * 3 % 200;
        for (int y = 0; y < kHeight; ++y) {
            s = s * 1664525u + 1013904223u;
            uint32_t k = s >> 16;
            for (int x = 0; x < kWidth; ++x) {
                float v = 60.0f + 0.05f * x + ((x >> 6 ^ y >> 6) & 1) * 50.0f;
                int dx = x - cx, dy = y - cy;
                if (dx * dx + dy * dy < 6400)
                    v = 190.0f;
                v += noise_[(k + x) & 0xffff];
                out[static_cast<size_t>(y) * kWidth + x] =
                    static_cast<uint8_t>(std::clamp(v, 0.0f, 255.0f));
            }
        }
    }

private:
    std::vector<float> noise_;
};

// Running-sum box filter, rows first, then columns, borders replicated.
Plane box_mean(const Plane& in) {
    Plane rows(kPixels), out(kPixels);
    const float norm = 1.0f / (2 * kRadius + 1);
    for (int y = 0; y < kHeight; ++y) {
        const float* src = &in[static_cast<size_t>(y) * kWidth];
        float* dst = &rows[static_cast<size_t>(y) * kWidth];
        float sum = src[0] * kRadius;
        for (int x = 0; x <= kRadius; ++x)
            sum += src[x];
        for (int x = 0; x < kWidth; ++x) {
            dst[x] = sum * norm;
            sum += src[std::min(x + kRadius + 1, kWidth - 1)] - src[std::max(x - kRadius, 0)];
        }
    }
    std::vector<float> sum(kWidth);
    for (int x = 0; x < kWidth; ++x)
        sum[x] = rows[x] * kRadius;
    for (int y = 0; y <= kRadius; ++y)
        for (int x = 0; x < kWidth; ++x)
            sum[x] += rows[static_cast<size_t>(y) * kWidth + x];
    for (int y = 0; y < kHeight; ++y) {
        const float* add = &rows[static_cast<size_t>(std::min(y + kRadius + 1, kHeight - 1)) * kWidth];
        const float* sub = &rows[static_cast<size_t>(std::max(y - kRadius, 0)) * kWidth];
        float* dst = &out[static_cast<size_t>(y) * kWidth];
        for (int x = 0; x < kWidth; ++x) {
            dst[x] = sum[x] * norm;
            sum[x] += add[x] - sub[x];
        }
    }
    return out;
}

Plane multiply(const Plane& a, const Plane& b) {
    Plane out(kPixels);
    for (size_t i = 0; i < kPixels; ++i)
        out[i] = a[i] * b[i];
    return out;
}

// Self-guided filter (He et al.): smooths where the local variance is small.
Plane guided(const Plane& in) {
    Plane mean = box_mean(in);
    Plane corr = box_mean(multiply(in, in));
    Plane a(kPixels), b(kPixels);
    for (size_t i = 0; i < kPixels; ++i) {
        float var = corr[i] - mean[i] * mean[i];
        a[i] = var / (var + kEpsilon);
        b[i] = mean[i] * (1.0f - a[i]);
    }
    Plane mean_a = box_mean(a);
    Plane mean_b = box_mean(b);
    Plane out(kPixels);
    for (size_t i = 0; i < kPixels; ++i)
        out[i] = mean_a[i] * in[i] + mean_b[i];
    return out;
}

class Denoiser {
public:
    Denoiser() : history_(kPixels, 0.0f) {
        for (int i = 0; i < 256; ++i)
            linear_[i] = std::pow(i / 255.0f, 2.2f);
        for (int i = 0; i < 1024; ++i)
            gamma_[i] = static_cast<uint8_t>(255.0f * std::pow(i / 1023.0f, 1 / 2.2f) + 0.5f);
    }

    double process(const std::vector<uint8_t>& frame, std::vector<uint8_t>& out) {
        Plane light(kPixels);
        for (size_t i = 0; i < kPixels; ++i)
            light[i] = linear_[frame[i]];
        Plane smooth = guided(light);
        double moved = blend(smooth);
        out.resize(kPixels);
        for (size_t i = 0; i < kPixels; ++i)
            out[i] = gamma_[static_cast<int>(std::clamp(history_[i], 0.0f, 1.0f) * 1023.0f)];
        return moved;
    }

private:
    double blend(const Plane& smooth) {
        double moved = 0;
        for (size_t i = 0; i < kPixels; ++i) {
            float diff = smooth[i] - history_[i];
            float weight = first_ ? 1.0f : std::min(1.0f, 0.15f + 12.0f * diff * diff);
            history_[i] += weight * diff;
            moved += weight > 0.5f;
        }
        first_ = false;
        return moved / kPixels;
    }

    Plane history_;
    float linear_[256];
    uint8_t gamma_[1024];
    bool first_ = true;
};

}  // namespace

int main() {
    Camera camera;
    Denoiser denoiser;
    std::vector<uint8_t> frame, clean;
    double before = 0, after = 0, moved = 0;

    for (int t = 0; t < kFrames; ++t) {
        DWELL_STEP();
        camera.grab(t, frame);
        moved += denoiser.process(frame, clean);
        for (size_t i = 1; i < kPixels; i += 7) {
            before += std::abs(frame[i] - frame[i - 1]);
            after += std::abs(clean[i] - clean[i - 1]);
        }
    }
    std::printf("frames %d  moving %.4f%%\n", kFrames, 100 * moved / kFrames);
    std::printf("roughness in %.4f  out %.4f\n", before / (kPixels / 7.0 * kFrames),
                after / (kPixels / 7.0 * kFrames));
    return 0;
}
