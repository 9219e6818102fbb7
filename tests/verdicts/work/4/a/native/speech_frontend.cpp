// Acoustic front end for a recogniser: framing, FFT, mel filter bank,
// cepstra with deltas, energy based voice activity, mean normalisation.
#include <dwell/probe.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

namespace {

constexpr int kRate = 16000;
constexpr int kFrame = 400;
constexpr int kHop = 160;
constexpr int kFft = 512;
constexpr int kMels = 40;
constexpr int kCeps = 13;
constexpr int kUtterances = 1500;
constexpr float kPi = 3.14159265358979f;

struct Complex {
    float re = 0, im = 0;
};

class Fft {
public:
    Fft() : twiddle_(kFft / 2), reversed_(kFft) {
        for (int i = 0; i < kFft / 2; ++i) twiddle_[i] = {std::cos(2 * kPi * i / kFft), -std::sin(2 * kPi * i / kFft)};
        int bits = 0;
        while (1 << bits < kFft) ++bits;
        for (int i = 0; i < kFft; ++i) {
            int r = 0;
            for (int b = 0; b < bits; ++b) r |= (i >> b & 1) << (bits - 1 - b);
            reversed_[i] = r;
        }
    }

    void power(const float* frame, float* out) {
        for (int i = 0; i < kFft; ++i) buf_[reversed_[i]] = {i < kFrame ? frame[i] : 0.0f, 0.0f};
        for (int len = 2; len <= kFft; len *= 2) {
            int stride = kFft / len;
            for (int i = 0; i < kFft; i += len) {
                for (int k = 0; k < len / 2; ++k) {
                    Complex a = buf_[i + k], b = buf_[i + k + len / 2];
                    Complex w = twiddle_[k * stride];
                    Complex t{b.re * w.re - b.im * w.im, b.re * w.im + b.im * w.re};
                    buf_[i + k] = {a.re + t.re, a.im + t.im};
                    buf_[i + k + len / 2] = {a.re - t.re, a.im - t.im};
                }
            }
        }
        for (int i = 0; i <= kFft / 2; ++i) out[i] = buf_[i].re * buf_[i].re + buf_[i].im * buf_[i].im;
    }

private:
    std::vector<Complex> twiddle_;
    std::vector<int> reversed_;
    Complex buf_[kFft];
};

class MelBank {
public:
    MelBank() {
        auto mel = [](float hz) { return 1127.0f * std::log(1 + hz / 700); };
        float lo = mel(60), hi = mel(7600), step = (hi - lo) / (kMels + 1);
        for (int m = 0; m < kMels; ++m) {
            Band band;
            for (int i = 1; i < kFft / 2; ++i) {
                float at = (mel(float(i) * kRate / kFft) - lo) / step - m;
                float w = at <= 1 ? at : 2 - at;
                if (w <= 0) continue;
                if (band.weights.empty()) band.first = i;
                band.weights.push_back(w);
            }
            bands_.push_back(band);
        }
    }

    void apply(const float* power, float* out) const {
        for (int m = 0; m < kMels; ++m) {
            const Band& b = bands_[m];
            float s = 1e-10f;
            for (size_t i = 0; i < b.weights.size(); ++i) s += b.weights[i] * power[b.first + i];
            out[m] = std::log(s);
        }
    }

private:
    struct Band {
        int first = 0;
        std::vector<float> weights;
    };
    std::vector<Band> bands_;
};

class FrontEnd {
public:
    FrontEnd() : window_(kFrame), dct_(kCeps * kMels) {
        for (int i = 0; i < kFrame; ++i)
            window_[i] = 0.54f - 0.46f * std::cos(2 * kPi * i / (kFrame - 1));
        for (int c = 0; c < kCeps; ++c)
            for (int m = 0; m < kMels; ++m)
                dct_[c * kMels + m] = std::sqrt(2.0f / kMels) * std::cos(kPi * c * (m + 0.5f) / kMels);
    }

    // Returns frames x (2 * kCeps): cepstra and their deltas.
    std::vector<float> features(const std::vector<float>& wave, size_t& voiced) {
        size_t frames = (wave.size() - kFrame) / kHop + 1;
        std::vector<float> out(frames * 2 * kCeps), energy(frames);
        float frame[kFrame], power[kFft / 2 + 1], mels[kMels];
        for (size_t t = 0; t < frames; ++t) {
            const float* x = &wave[t * kHop];
            float previous = t ? x[-1] : x[0], e = 0;
            for (int i = 0; i < kFrame; ++i) {
                e += x[i] * x[i];
                frame[i] = (x[i] - 0.97f * previous) * window_[i];
                previous = x[i];
            }
            energy[t] = std::log(e + 1e-9f);
            fft_.power(frame, power);
            bank_.apply(power, mels);
            for (int c = 0; c < kCeps; ++c) {
                float s = 0;
                for (int m = 0; m < kMels; ++m) s += dct_[c * kMels + m] * mels[m];
                out[t * 2 * kCeps + c] = s;
            }
        }
        normalise(out, frames);
        deltas(out, frames);
        float peak = *std::max_element(energy.begin(), energy.end());
        voiced = std::count_if(energy.begin(), energy.end(), [&](float e) { return e > peak - 4; });
        return out;
    }

private:
    static void normalise(std::vector<float>& f, size_t frames) {
        for (int c = 0; c < kCeps; ++c) {
            float mean = 0;
            for (size_t t = 0; t < frames; ++t) mean += f[t * 2 * kCeps + c];
            mean /= float(frames);
            for (size_t t = 0; t < frames; ++t) f[t * 2 * kCeps + c] -= mean;
        }
    }

    static void deltas(std::vector<float>& f, size_t frames) {
        auto at = [&](long t, int c) {
            return f[size_t(std::clamp<long>(t, 0, long(frames) - 1)) * 2 * kCeps + c];
        };
        for (long t = 0; t < long(frames); ++t)
            for (int c = 0; c < kCeps; ++c)
                f[size_t(t) * 2 * kCeps + kCeps + c] =
                    (at(t + 1, c) - at(t - 1, c) + 2 * (at(t + 2, c) - at(t - 2, c))) / 10;
    }

    Fft fft_;
    MelBank bank_;
    std::vector<float> window_, dct_;
};

std::vector<float> synthesise(std::mt19937& rng) {
    std::uniform_real_distribution<float> unit(0, 1);
    std::vector<float> wave(kRate * (4 + rng() % 6));
    float phase = 0, pitch = 90 + 140 * unit(rng), voicing = 1;
    for (size_t i = 0; i < wave.size(); ++i) {
        if (i % 2400 == 0) voicing = rng() % 4 ? 0.5f + unit(rng) : 0.02f;
        phase += pitch / kRate;
        phase -= std::floor(phase);
        wave[i] = voicing * (2 * phase - 1) * 0.4f + 0.01f * (float(rng() >> 8) / 8388608.0f - 1);
    }
    return wave;
}

}  // namespace

int main() {
    std::mt19937 rng(17);
    FrontEnd front;
    size_t frames = 0, voiced_frames = 0;
    double moment[2 * kCeps] = {};
    for (int u = 0; u < kUtterances; ++u) {
        DWELL_STEP();
        std::vector<float> wave = synthesise(rng);
        size_t voiced = 0;
        std::vector<float> f = front.features(wave, voiced);
        voiced_frames += voiced;
        frames += f.size() / (2 * kCeps);
        for (size_t i = 0; i < f.size(); ++i) moment[i % (2 * kCeps)] += double(f[i]) * f[i];
    }
    std::printf("utterances %d, frames %zu, voiced %.2f%%\n", kUtterances, frames,
                100.0 * double(voiced_frames) / double(frames));
    std::printf("variances: c0 %.3f c1 %.3f c12 %.3f d0 %.4f\n", moment[0] / frames,
                moment[1] / frames, moment[12] / frames, moment[kCeps] / frames);
    return 0;
}
