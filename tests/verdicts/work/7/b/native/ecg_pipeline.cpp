// ecg_pipeline - replays Holter recordings through the ward's QRS detector.
// Three stages run in their own threads and hand over blocks of samples:
// acquisition -> band-pass and notch filtering -> beat detection.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int kRate = 500;              // Hz
constexpr int kBlock = 250;             // samples per block
constexpr int kLeads = 3;
constexpr int kTaps = 1001;
constexpr int kSeconds = 14000;
constexpr size_t kDepth = 16;           // blocks in flight between two stages

struct Block {
    long first = 0;
    std::array<std::vector<float>, kLeads> lead;
};
using BlockPtr = std::unique_ptr<Block>;

class BlockQueue {
public:
    void push(BlockPtr b)
    {
        for (;;) {
            {
                std::lock_guard<std::mutex> hold(mutex_);
                if (blocks_.size() < kDepth) {
                    blocks_.push_back(std::move(b));
                    return;
                }
            }
            std::this_thread::yield();
        }
    }

    // Null when the stage before has finished.
    BlockPtr pop()
    {
        for (;;) {
            {
                std::lock_guard<std::mutex> hold(mutex_);
                if (!blocks_.empty()) {
                    BlockPtr b = std::move(blocks_.front());
                    blocks_.pop_front();
                    return b;
                }
                if (closed_)
                    return nullptr;
            }
            std::this_thread::yield();
        }
    }

    void close()
    {
        std::lock_guard<std::mutex> hold(mutex_);
        closed_ = true;
    }

private:
    std::mutex mutex_;
    std::deque<BlockPtr> blocks_;
    bool closed_ = false;
};

// Synthetic ambulatory signal: P-QRS-T as Gaussians, variable heart rate,
// baseline wander, mains hum and electrode noise.
void acquire(BlockQueue& out)
{
    std::mt19937 rng(1905);
    std::normal_distribution<float> noise(0.0f, 0.03f);
    double phase = 0.0, rr = 0.8;
    long n = 0;
    while (n < static_cast<long>(kSeconds) * kRate) {
        auto b = std::make_unique<Block>();
        b->first = n;
        for (auto& l : b->lead)
            l.resize(kBlock);
        for (int i = 0; i < kBlock; i++, n++) {
            phase += 1.0 / (rr * kRate);
            if (phase >= 1.0) {
                phase -= 1.0;
                rr = 0.8 + 0.12 * std::sin(n * 1e-4) + 0.8 * noise(rng);
            }
            auto wave = [&](double at, double w, double a) {
                double d = (phase - at) / w;
                return std::fabs(d) > 5.0 ? 0.0 : a * std::exp(-d * d);
            };
            double v = wave(0.2, 0.025, 0.12) + wave(0.36, 0.008, -0.15) + wave(0.38, 0.010, 1.1) +
                       wave(0.40, 0.009, -0.25) + wave(0.62, 0.045, 0.28);
            double t = static_cast<double>(n) / kRate;
            double common = 0.3 * std::sin(1.4 * t) + 0.08 * std::sin(314.159265 * t);
            for (int l = 0; l < kLeads; l++)
                b->lead[l][i] = static_cast<float>((1.0 - 0.25 * l) * v + common) + noise(rng);
        }
        out.push(std::move(b));
    }
    out.close();
}

std::array<float, kTaps> bandpass(double low, double high)
{
    std::array<float, kTaps> h{};
    const int mid = kTaps / 2;
    for (int i = 0; i < kTaps; i++) {
        double k = i - mid, w = 0.54 + 0.46 * std::cos(M_PI * k / mid);
        double a = 2.0 * high / kRate, b = 2.0 * low / kRate;
        double v = k == 0 ? a - b : (std::sin(M_PI * a * k) - std::sin(M_PI * b * k)) / (M_PI * k);
        h[i] = static_cast<float>(v * w);
    }
    return h;
}

void filter(BlockQueue& in, BlockQueue& out)
{
    const auto h = bandpass(6.0, 22.0);
    std::array<std::vector<float>, kLeads> history;
    for (auto& x : history)
        x.assign(kTaps - 1, 0.0f);
    while (BlockPtr b = in.pop()) {
        for (int l = 0; l < kLeads; l++) {
            auto& x = history[l];
            x.insert(x.end(), b->lead[l].begin(), b->lead[l].end());
            for (int i = 0; i < kBlock; i++) {
                const float* p = x.data() + i;
                float acc[4] = {0, 0, 0, 0};
                int k = 0;
                for (; k + 4 <= kTaps; k += 4)
                    for (int j = 0; j < 4; j++)
                        acc[j] += p[k + j] * h[k + j];
                float y = acc[0] + acc[1] + acc[2] + acc[3];
                for (; k < kTaps; k++)
                    y += p[k] * h[k];
                b->lead[l][i] = y;
            }
            x.erase(x.begin(), x.begin() + kBlock);
        }
        out.push(std::move(b));
    }
    out.close();
}

struct Report {
    long beats = 0;
    double rr_sum = 0.0, rr_sq = 0.0;
};

// Energy of the slope over all leads, moving-window integration, adaptive threshold.
Report detect(BlockQueue& in)
{
    Report r;
    constexpr int kWindow = kRate * 3 / 25;
    std::array<float, kWindow> ring{};
    std::array<float, kLeads> last{};
    double sum = 0.0, signal = 0.02, noise = 0.001;
    long last_beat = -kRate;
    int at = 0;
    while (BlockPtr b = in.pop()) {
        for (int i = 0; i < kBlock; i++) {
            float e = 0.0f;
            for (int l = 0; l < kLeads; l++) {
                float d = b->lead[l][i] - last[l];
                last[l] = b->lead[l][i];
                e += d * d;
            }
            sum += e - ring[at];
            ring[at] = e;
            at = (at + 1) % kWindow;
            signal = std::max(0.9998 * signal, sum);
            double level = noise + 0.35 * (signal - noise);
            long n = b->first + i;
            if (sum > level && n - last_beat > kRate * 2 / 5) {
                if (r.beats > 0) {
                    double rr = static_cast<double>(n - last_beat) / kRate;
                    r.rr_sum += rr;
                    r.rr_sq += rr * rr;
                }
                r.beats++;
                last_beat = n;
            } else if (sum < level) {
                noise += 0.001 * (sum - noise);
            }
        }
    }
    return r;
}

}  // namespace

int main()
{
    BlockQueue raw, filtered;
    Report report;
    std::thread source([&] { acquire(raw); });
    std::thread dsp([&] { filter(raw, filtered); });
    std::thread sink([&] { report = detect(filtered); });
    source.join();
    dsp.join();
    sink.join();
    double mean = report.rr_sum / (report.beats - 1);
    std::printf("%d s, %ld beats, mean RR %.4f s, SDNN %.4f s\n", kSeconds, report.beats, mean,
                std::sqrt(report.rr_sq / (report.beats - 1) - mean * mean));
    return report.beats > kSeconds / 2 ? 0 : 1;
}
