// Vibration monitoring: one thread produces sensor frames, a second takes them
// in batches, computes spectra and raises alarms on the band energies.
#include <chrono>
#include <cmath>
#include <complex>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

constexpr size_t kSamples = 4096;
constexpr size_t kBatch = 8;
constexpr size_t kCapacity = 16;
constexpr int kFrames = 9000;
constexpr int kBands = 16;
constexpr auto kPatience = std::chrono::milliseconds(20);

struct Frame {
    int number = 0;
    std::vector<float> samples;
};

// Frames are handed over in batches; a batch that does not fill up within
// kPatience is handed over as it is.
class FrameQueue {
public:
    void push(Frame frame)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        room_.wait(lock, [this] { return frames_.size() < kCapacity; });
        bool idle = frames_.empty();
        frames_.push_back(std::move(frame));
        lock.unlock();
        if (idle)
            ready_.notify_one();
    }

    void close()
    {
        std::lock_guard<std::mutex> lock(mutex_);
        closed_ = true;
        ready_.notify_one();
    }

    std::vector<Frame> take()
    {
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            ready_.wait_for(lock, kPatience, [this] { return closed_ || frames_.size() >= kBatch; });
            if (!frames_.empty() || closed_)
                break;
        }
        std::vector<Frame> batch;
        while (!frames_.empty() && batch.size() < 2 * kBatch) {
            batch.push_back(std::move(frames_.front()));
            frames_.pop_front();
        }
        lock.unlock();
        room_.notify_one();
        return batch;
    }

private:
    std::mutex mutex_;
    std::condition_variable ready_, room_;
    std::deque<Frame> frames_;
    bool closed_ = false;
};

class Source {
public:
    Frame next(int number)
    {
        Frame f;
        f.number = number;
        f.samples.resize(kSamples);
        double speed = 0.05 + 0.00001 * (number % 500);
        double wear = number % 400 > 360 ? 0.6 : 0.05;
        for (size_t i = 0; i < kSamples; ++i) {
            double t = double(i) + double(number) * kSamples;
            f.samples[i] = float(std::sin(speed * t) + wear * std::sin(7.3 * speed * t) + 0.2 * noise());
        }
        return f;
    }

private:
    uint32_t state_ = 12345;

    double noise()
    {
        state_ = state_ * 1664525u + 1013904223u;
        return double(state_ >> 8) / double(1 << 24) - 0.5;
    }
};

class Spectrum {
public:
    Spectrum() : window_(kSamples), twiddle_(kSamples / 2), data_(kSamples)
    {
        for (size_t i = 0; i < kSamples; ++i)
            window_[i] = float(0.5 - 0.5 * std::cos(2 * M_PI * double(i) / (kSamples - 1)));
        for (size_t i = 0; i < kSamples / 2; ++i)
            twiddle_[i] = std::polar(1.0f, float(-2 * M_PI * double(i) / kSamples));
    }

    std::vector<double> bands(const std::vector<float> &samples)
    {
        for (size_t i = 0, r = 0; i < kSamples; ++i) {
            data_[r] = samples[i] * window_[i];
            size_t bit = kSamples >> 1;
            for (; r & bit; bit >>= 1)
                r ^= bit;
            r |= bit;
        }
        transform();
        std::vector<double> energy(kBands);
        for (size_t i = 1; i < kSamples / 2; ++i)
            energy[i * kBands / (kSamples / 2)] += std::norm(data_[i]);
        return energy;
    }

private:
    std::vector<float> window_;
    std::vector<std::complex<float>> twiddle_, data_;

    void transform()
    {
        for (size_t half = 1; half < kSamples; half *= 2) {
            size_t stride = kSamples / (2 * half);
            for (size_t base = 0; base < kSamples; base += 2 * half)
                for (size_t k = 0; k < half; ++k) {
                    std::complex<float> w = twiddle_[k * stride], v = data_[base + half + k];
                    std::complex<float> t(w.real() * v.real() - w.imag() * v.imag(),
                                          w.real() * v.imag() + w.imag() * v.real());
                    data_[base + half + k] = data_[base + k] - t;
                    data_[base + k] += t;
                }
        }
    }
};

struct Report {
    int frames = 0, alarms = 0;
    double energy = 0;
    std::vector<double> baseline = std::vector<double>(kBands);

    void add(const std::vector<double> &bands)
    {
        bool alarm = false;
        for (int b = 0; b < kBands; ++b) {
            energy += bands[size_t(b)];
            double &base = baseline[size_t(b)];
            if (frames > 20 && bands[size_t(b)] > 4 * base)
                alarm = true;
            base += (bands[size_t(b)] - base) * 0.02;
        }
        alarms += alarm;
        ++frames;
    }
};

void analyse(FrameQueue &queue, Report &report)
{
    Spectrum spectrum;
    for (;;) {
        std::vector<Frame> batch = queue.take();
        if (batch.empty())
            return;
        for (const Frame &f : batch)
            report.add(spectrum.bands(f.samples));
    }
}

} // namespace

int main()
{
    FrameQueue queue;
    Report report;
    std::thread analyser([&] { analyse(queue, report); });
    Source source;
    for (int n = 0; n < kFrames; ++n)
        queue.push(source.next(n));
    queue.close();
    analyser.join();
    std::printf("frames %d alarms %d\n", report.frames, report.alarms);
    std::printf("mean energy %.4e\n", report.energy / report.frames);
    return 0;
}
