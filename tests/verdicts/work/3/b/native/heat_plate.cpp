// Explicit heat conduction in a plate with two worker threads: each owns half
// of the rows, a barrier separates the steps, thread 0 keeps the probe log.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

namespace {

constexpr int kN = 1024;
constexpr int kThreads = 2;

class Barrier {
public:
    explicit Barrier(int n) : n_(n) {}

    void arrive()
    {
        std::unique_lock<std::mutex> lock(m_);
        long gen = gen_;
        if (++waiting_ == n_) {
            waiting_ = 0;
            gen_++;
            lock.unlock();
            cv_.notify_all();
        } else {
            cv_.wait(lock, [&] { return gen != gen_; });
        }
    }

private:
    std::mutex m_;
    std::condition_variable cv_;
    int n_, waiting_ = 0;
    long gen_ = 0;
};

struct Plate {
    std::vector<float> a = std::vector<float>(kN * kN, 20.0f);
    std::vector<float> b = std::vector<float>(kN * kN, 20.0f);
    std::vector<float> k = std::vector<float>(kN * kN, 0.2f);
};

struct Probe {
    double sum = 0;
    float last = 0;
};

void set_up(Plate& p)
{
    for (int x = 0; x < kN; x++) {
        p.a[static_cast<size_t>(x)] = p.b[static_cast<size_t>(x)] = 90.0f;
        p.a[static_cast<size_t>((kN - 1) * kN + x)] = p.b[static_cast<size_t>((kN - 1) * kN + x)] = 5.0f;
    }
    uint32_t s = 3;
    for (float& v : p.k) {
        s = s * 1664525u + 1013904223u;
        v = 0.12f + 0.1f * static_cast<float>(s >> 24) / 255.0f;
    }
}

void relax_rows(const Plate& p, const std::vector<float>& in, std::vector<float>& out, int y0, int y1)
{
    for (int y = y0; y < y1; y++) {
        const float* c = &in[static_cast<size_t>(y) * kN];
        const float* up = c - kN;
        const float* dn = c + kN;
        const float* k = &p.k[static_cast<size_t>(y) * kN];
        float* o = &out[static_cast<size_t>(y) * kN];
        for (int x = 1; x < kN - 1; x++)
            o[x] = c[x] + k[x] * (up[x] + dn[x] + c[x - 1] + c[x + 1] - 4.0f * c[x]);
        o[0] = o[1];
        o[kN - 1] = o[kN - 2];
    }
}

void sample_probe(const std::vector<float>& field, Probe& probe)
{
    probe.last = field[static_cast<size_t>(8) * kN + kN / 2];
    probe.sum += probe.last;
}

void worker(int id, int steps, Plate& p, Barrier& bar, Probe& probe)
{
    int rows = (kN - 2) / kThreads;
    int y0 = 1 + id * rows, y1 = id == kThreads - 1 ? kN - 1 : y0 + rows;
    for (int t = 0; t < steps; t++) {
        auto& in = t % 2 ? p.b : p.a;
        auto& out = t % 2 ? p.a : p.b;
        relax_rows(p, in, out, y0, y1);
        bar.arrive();
        if (id == 0) {
            sample_probe(out, probe);
            DWELL_STEP();
        }
    }
}

}  // namespace

int main(int argc, char** argv)
{
    int steps = argc > 1 ? std::atoi(argv[1]) : 8000;
    Plate plate;
    Probe probe;
    Barrier bar(kThreads);
    set_up(plate);
    std::thread other(worker, 1, steps, std::ref(plate), std::ref(bar), std::ref(probe));
    worker(0, steps, plate, bar, probe);
    other.join();
    double total = 0;
    for (float v : plate.a)
        total += v;
    std::printf("steps %d probe %.6f mean %.6f total %.4f\n", steps, static_cast<double>(probe.last),
                probe.sum / steps, total);
    return 0;
}
