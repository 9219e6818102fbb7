// Offline render of a percussion track through a stereo reverb and a low-pass
// bus; the mix is produced block by block, as it would be written to disk.
#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>

#include <xmmintrin.h>

namespace {

constexpr int kRate = 48000;
constexpr int kBlock = 32768;
constexpr int kSeconds = 1600;

struct Hit {
    int start;
    float pitch;
    float gain;
    float pan;
};

class Comb {
public:
    Comb(int length, float feedback, float damp) : buffer_(length), feedback_(feedback), damp_(damp) {}

    float process(float in) {
        const float out = buffer_[pos_];
        low_ = out * (1 - damp_) + low_ * damp_;
        buffer_[pos_] = in + low_ * feedback_;
        if (++pos_ == buffer_.size())
            pos_ = 0;
        return out;
    }

private:
    std::vector<float> buffer_;
    size_t pos_ = 0;
    float feedback_, damp_, low_ = 0;
};

class Allpass {
public:
    explicit Allpass(int length) : buffer_(length) {}

    float process(float in) {
        const float stored = buffer_[pos_];
        buffer_[pos_] = in + stored * 0.5f;
        if (++pos_ == buffer_.size())
            pos_ = 0;
        return stored - in;
    }

private:
    std::vector<float> buffer_;
    size_t pos_ = 0;
};

// Second-order low-pass whose cutoff follows the automation lane.
class LowPass {
public:
    void design(float cutoff) {
        const float w = 2 * float(M_PI) * cutoff / kRate, alpha = std::sin(w) / 1.414f, c = std::cos(w);
        const float a0 = 1 + alpha;
        b0_ = (1 - c) / 2 / a0;
        b1_ = (1 - c) / a0;
        a1_ = -2 * c / a0;
        a2_ = (1 - alpha) / a0;
    }

    float process(float in) {
        const float out = b0_ * in + z1_;
        z1_ = b1_ * in - a1_ * out + z2_;
        z2_ = b0_ * in - a2_ * out;
        return out;
    }

private:
    float b0_ = 0, b1_ = 0, a1_ = 0, a2_ = 0, z1_ = 0, z2_ = 0;
};

// Bus compressor driven by the mean energy of the last 64 frames.
class Compressor {
public:
    float gain(float left, float right) {
        energy_[pos_] = left * left + right * right;
        pos_ = (pos_ + 1) % kWindow;
        double sum = 0;
        for (float e : energy_)
            sum += e;
        return 1 / std::sqrt(1 + 2 * static_cast<float>(sum / kWindow));
    }

private:
    static constexpr size_t kWindow = 64;
    std::array<float, kWindow> energy_{};
    size_t pos_ = 0;
};

class Reverb {
public:
    explicit Reverb(int spread) {
        for (int n : {1116, 1188, 1277, 1356, 1422, 1491, 1557, 1617})
            combs_.emplace_back(n + spread, 0.72f, 0.3f);
        for (int n : {556, 441, 341, 225})
            passes_.emplace_back(n + spread);
    }

    float process(float in) {
        float sum = 0;
        for (Comb& c : combs_)
            sum += c.process(in);
        for (Allpass& a : passes_)
            sum = a.process(sum);
        return sum * 0.12f;
    }

private:
    std::vector<Comb> combs_;
    std::vector<Allpass> passes_;
};

std::vector<Hit> compose(std::mt19937& rng) {
    std::vector<Hit> hits;
    std::uniform_real_distribution<float> unit(0, 1);
    for (int bar = 0; bar < kSeconds / 20; ++bar)
        for (int i = 0; i < 10; ++i)
            hits.push_back({bar * 20 * kRate + i * kRate / 5, 60 + 400 * unit(rng), 0.3f + 0.6f * unit(rng),
                            unit(rng)});
    return hits;
}

void add_hits(const std::vector<Hit>& hits, int start, std::vector<float>& left, std::vector<float>& right) {
    const int length = kRate * 3 / 10;
    for (const Hit& h : hits) {
        const int from = std::max(h.start, start), to = std::min(h.start + length, start + kBlock);
        for (int t = from; t < to; ++t) {
            const float age = float(t - h.start) / kRate;
            const float s = h.gain * std::exp(-18 * age) * std::sin(6.2831853f * h.pitch * age * (1 - age));
            left[t - start] += s * (1 - h.pan);
            right[t - start] += s * h.pan;
        }
    }
}

}  // namespace

int main() {
    _mm_setcsr(_mm_getcsr() | 0x8040);  // flush subnormals
    std::mt19937 rng(808);
    const std::vector<Hit> hits = compose(rng);
    Reverb reverb_left(0), reverb_right(23);
    LowPass bus_left, bus_right;
    Compressor compressor;
    std::vector<float> left(kBlock), right(kBlock);
    double energy = 0;
    float peak = 0;
    uint64_t audible = 0;
    const int blocks = kSeconds * kRate / kBlock;

    for (int b = 0; b < blocks; ++b) {
        DWELL_STEP();
        std::fill(left.begin(), left.end(), 0.0f);
        std::fill(right.begin(), right.end(), 0.0f);
        add_hits(hits, b * kBlock, left, right);
        const float cutoff = 8000 + 3000 * std::sin(0.02f * b);
        bus_left.design(cutoff);
        bus_right.design(cutoff);
        double block_energy = 0;
        for (int i = 0; i < kBlock; ++i) {
            float l = bus_left.process(left[i] + reverb_left.process(left[i]));
            float r = bus_right.process(right[i] + reverb_right.process(right[i]));
            const float gain = compressor.gain(l, r);
            l *= gain;
            r *= gain;
            block_energy += double(l) * l + double(r) * r;
            peak = std::max(peak, std::max(std::fabs(l), std::fabs(r)));
        }
        energy += block_energy;
        audible += block_energy > 1e-7 * kBlock;
    }
    std::printf("blocks %d audible %llu peak %.4f level %.2f dB\n", blocks, (unsigned long long)audible, peak,
                10 * std::log10(energy / (2.0 * blocks * kBlock)));
    return 0;
}
