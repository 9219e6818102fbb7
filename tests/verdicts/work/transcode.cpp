// Encode a clip chunk by chunk; the rate controller needs each chunk's size before the next.
#include <unistd.h>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Chunk { int number = 0; double quantizer = 8; std::vector<float> pixels; long bits = 0; };

class Encoder {
public:
    Encoder() : worker_([this] { serve(); }) {}
    ~Encoder() { put(nullptr, Stop); worker_.join(); }
    void submit(Chunk* c) { put(c, Ready); }
    void wait_done() { wait_for([this] { return state_ == Done; }); }
    double busy = 0;

private:
    enum State { Idle, Ready, Done, Stop };
    void put(Chunk* c, State s) {
        std::lock_guard<std::mutex> g(lock_);
        if (c) chunk_ = c;
        state_ = s;
#ifdef REPAIRED
        changed_.notify_all();
#endif
    }
    template <class Test> void wait_for(Test test) {
#ifdef REPAIRED
        std::unique_lock<std::mutex> g(lock_);
        changed_.wait(g, test);
#else
        for (;;) {
            {
                std::lock_guard<std::mutex> g(lock_);
                if (test()) return;
            }
            usleep(6000);
        }
#endif
    }
    void serve() {
        for (;;) {
            wait_for([this] { return state_ == Ready || state_ == Stop; });
            if (state_ == Stop) return;
            auto t = Clock::now();
            encode(*chunk_);
            busy += since(t);
            put(nullptr, Done);
        }
    }
    static void encode(Chunk& c) {
        c.bits = 0;
        float basis[8][8];
        for (int u = 0; u < 8; ++u)
            for (int x = 0; x < 8; ++x) basis[u][x] = std::cos((2 * x + 1) * u * 3.14159265f / 16) * (u ? 0.5f : 0.353553f);
        for (size_t b = 0; b + 64 <= c.pixels.size(); b += 64) {
            float mid[64], out[64];
            const float* in = &c.pixels[b];
            for (int y = 0; y < 8; ++y)
                for (int u = 0; u < 8; ++u) {
                    float s = 0;
                    for (int x = 0; x < 8; ++x) s += in[y * 8 + x] * basis[u][x];
                    mid[y * 8 + u] = s;
                }
            for (int v = 0; v < 8; ++v)
                for (int u = 0; u < 8; ++u) {
                    float s = 0;
                    for (int y = 0; y < 8; ++y) s += mid[y * 8 + u] * basis[v][y];
                    out[v * 8 + u] = s;
                }
            for (float f : out) {
                int q = int(f / c.quantizer);
                c.bits += q ? 3 + 2 * (32 - __builtin_clz(std::abs(q))) : 0;
            }
        }
    }
    std::mutex lock_;
    std::condition_variable changed_;
    Chunk* chunk_ = nullptr;
    std::atomic<State> state_{Idle};
    std::thread worker_;
};

static void capture(Chunk& c, int number) {
    c.number = number;
    c.pixels.resize(64 * 4000);
    for (size_t i = 0; i < c.pixels.size(); ++i) {
        size_t block = i / 64, x = i % 8, y = i % 64 / 8;
        c.pixels[i] = 128 + 90 * std::sin(0.11f * (block * 8 + x) + 0.2f * number) * std::cos(0.3f * y + 0.05f * block);
    }
}

int main() {
    auto start = Clock::now();
    double captured = 0, idle = 0;
    {
        Encoder encoder;
        Chunk chunk;
        long total_bits = 0;
        double quantizer = 8;
        for (int n = 0; n < 200; ++n) {
            auto t = Clock::now();
            capture(chunk, n);
            chunk.quantizer = quantizer;
            captured += since(t);
            encoder.submit(&chunk);
            encoder.wait_done();
            total_bits += chunk.bits;
            quantizer *= chunk.bits > 600000 ? 1.06 : 0.95;
            if (quantizer < 1) quantizer = 1;
            if (n % 50 == 49) printf("chunk %d: %ld bits, quantizer %.2f\n", n + 1, chunk.bits, quantizer);
        }
        printf("clip: %ld bits\n", total_bits);
        idle = since(start) - captured - encoder.busy;
    }
    double total = since(start);
#ifdef REPAIRED
    idle = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", idle / total, total);
}
