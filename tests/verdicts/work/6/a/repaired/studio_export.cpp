// Offline export of a multitrack session: every track is synthesised at its
// own rate, resampled to the rate of the master, equalised, compressed, panned
// and mixed; the master is limited, dithered and hashed in blocks.
#include <dwell/probe.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

constexpr int kMasterRate = 48000, kBlock = 1024, kBlocks = 600;

using Buffer = std::vector<float>;

struct Random {
    uint64_t s;
    float next() {
        s ^= s << 13; s ^= s >> 7; s ^= s << 17;
        return float(int64_t(s) >> 40) * (1.0f / 8388608.0f);
    }
};

// A plucked string (Karplus-Strong), retriggered along a sequence of notes.
class Source {
public:
    Source(int rate, int seed) : rate_(rate), rng_{0x9E3779B97F4A7C15ULL * uint64_t(seed + 1)} {}
    float next() {
        if (until_ == 0) {
            static const int scale[] = {0, 3, 5, 7, 10, 12, 15};
            const double hz = 55.0 * std::pow(2.0, (scale[note_ % 7] + 12 * (note_ % 3)) / 12.0);
            note_++;
            line_.assign(size_t(rate_ / hz), 0.0f);
            for (float& v : line_) v = rng_.next();
            at_ = 0;
            until_ = rate_ / 4;
        }
        until_--;
        const size_t nx = at_ + 1 == line_.size() ? 0 : at_ + 1;
        const float out = line_[at_];
        line_[at_] = 0.498f * (line_[at_] + line_[nx]);
        at_ = nx;
        return out;
    }
private:
    int rate_, until_ = 0, note_ = 0;
    size_t at_ = 0;
    Buffer line_;
    Random rng_;
};

// Band-limited resampling with a Kaiser-windowed sinc.
class Resampler {
public:
    Resampler(int in, int out) {
        int a = in, b = out;
        while (b) { int t = a % b; a = b; b = t; }
        step_ = in / a;
        phases_ = out / a;
        cutoff_ = std::min(1.0, double(out) / in) * 0.94;
        hist_.assign(2 * kHalf, 0.0f);
        table_.resize(size_t(phases_) * 2 * kHalf);
        for (int p = 0; p < phases_; p++)
            for (int k = 0; k < 2 * kHalf; k++)
                table_[size_t(p) * 2 * kHalf + k] = tap(k - kHalf + 1 - double(p) / phases_);
    }
    void process(Source& src, float* out, int n) {
        for (int i = 0; i < n; i++) {
            while (phase_ >= phases_) {
                hist_[head_] = src.next();
                head_ = (head_ + 1) % hist_.size();
                phase_ -= phases_;
            }
            const double* row = &table_[size_t(phase_) * 2 * kHalf];
            double acc = 0;
            size_t h = head_;
            for (int k = 0; k < 2 * kHalf; k++) {
                acc += hist_[h] * row[k];
                h = h + 1 == hist_.size() ? 0 : h + 1;
            }
            out[i] = float(acc);
            phase_ += step_;
        }
    }
private:
    static constexpr int kHalf = 12;
    static constexpr double kBeta = 8.0;
    int step_, phases_, phase_ = 0;
    double cutoff_, norm_ = 1 / bessel0(kBeta);
    size_t head_ = 0;
    Buffer hist_;
    std::vector<double> table_;

    static double bessel0(double x) {
        double sum = 1, term = 1;
        for (int k = 1; k < 30 && term > 1e-10 * sum; k++) {
            term *= (x / (2 * k)) * (x / (2 * k));
            sum += term;
        }
        return sum;
    }
    double tap(double t) const {
        const double u = t / kHalf;
        if (u <= -1 || u >= 1) return 0;
        const double w = bessel0(kBeta * std::sqrt(1 - u * u)) * norm_;
        const double x = M_PI * t * cutoff_;
        return w * cutoff_ * (std::fabs(x) < 1e-9 ? 1.0 : std::sin(x) / x);
    }
};

// Peaking equaliser, RBJ coefficients.
class Peak {
public:
    Peak(double hz, double db, double q) {
        const double a = std::pow(10, db / 40), w = 2 * M_PI * hz / kMasterRate, al = std::sin(w) / (2 * q), a0 = 1 + al / a;
        b0_ = float((1 + al * a) / a0); b1_ = float(-2 * std::cos(w) / a0); b2_ = float((1 - al * a) / a0);
        a1_ = b1_; a2_ = float((1 - al / a) / a0);
    }
    void process(float* x, int n) {
        for (int i = 0; i < n; i++) {
            const float y = b0_ * x[i] + z1_;
            z1_ = b1_ * x[i] - a1_ * y + z2_;
            z2_ = b2_ * x[i] - a2_ * y;
            x[i] = y;
        }
    }
private:
    float b0_, b1_, b2_, a1_, a2_, z1_ = 0, z2_ = 0;
};

class Compressor {
public:
    void process(float* x, int n) {
        for (int i = 0; i < n; i++) {
            const float level = std::fabs(x[i]);
            env_ += (level > env_ ? 0.01f : 0.0004f) * (level - env_);
            if (env_ > 0.25f) x[i] *= std::pow(env_ / 0.25f, -0.6f);
        }
    }
private:
    float env_ = 0;
};

class Reverb {
public:
    Reverb() {
        for (int d : {1557, 1617, 1491, 1422, 1277, 1356, 1188, 1116}) lines_.emplace_back(size_t(d), 0.0f);
        at_.assign(lines_.size(), 0);
    }
    void process(const float* in, float* out, int n) {
        for (size_t c = 0; c < lines_.size(); c++) {
            Buffer& l = lines_[c];
            size_t p = at_[c];
            for (int i = 0; i < n; i++) {
                const float y = l[p];
                l[p] = in[i] + 0.84f * y;
                out[i] += 0.02f * y;
                if (++p == l.size()) p = 0;
            }
            at_[c] = p;
        }
    }
private:
    std::vector<Buffer> lines_;
    std::vector<size_t> at_;
};

struct Track {
    Source src;
    Resampler rs;
    std::vector<Peak> eq;
    Compressor comp;
    float left, right, send;
    Track(int rate, int i) : src(rate, i), rs(rate, kMasterRate) {
        for (int b = 0; b < 8; b++) eq.emplace_back(80.0 * std::pow(2.0, b), (b * 7 + i * 3) % 9 - 4, 0.9);
        const float pan = float(i) / 11.0f;
        left = std::cos(pan * float(M_PI_2)) * 0.4f; right = std::sin(pan * float(M_PI_2)) * 0.4f;
        send = 0.2f + 0.05f * float(i % 4);
    }
};

int main() {
    std::vector<Track> tracks;
    for (int i = 0; i < 12; i++) tracks.emplace_back(i % 3 == 2 ? 32000 : 44100, i);
    Reverb reverb;
    Random dither{77};
    Buffer x(kBlock), l(kBlock), r(kBlock), bus(kBlock), wet(kBlock);
    double energy = 0;
    int peak = 0;
    int64_t total = 0;
    for (int block = 0; block < kBlocks; block++) {
        DWELL_STEP();
        for (Buffer* b : {&l, &r, &bus, &wet}) std::fill(b->begin(), b->end(), 0.0f);
        for (Track& t : tracks) {
            t.rs.process(t.src, x.data(), kBlock);
            for (Peak& p : t.eq) p.process(x.data(), kBlock);
            t.comp.process(x.data(), kBlock);
            for (int i = 0; i < kBlock; i++) { l[i] += t.left * x[i]; r[i] += t.right * x[i]; bus[i] += t.send * x[i]; }
        }
        reverb.process(bus.data(), wet.data(), kBlock);
        for (int i = 0; i < kBlock; i++)
            for (float v : {l[i] + wet[i], r[i] + wet[i]}) {
                const int s = int(std::lrint(32000.0 * std::tanh(0.7 * v) + 0.5 * (dither.next() + dither.next())));
                energy += double(s) * s;
                peak = std::max(peak, std::abs(s));
                total++;
            }
    }
    printf("exported %.2f s, rms %.1f, peak %d\n", double(kBlocks) * kBlock / kMasterRate, std::sqrt(energy / double(total)), peak);
}
