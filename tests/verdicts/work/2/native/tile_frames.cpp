// Renders fractal frames in tiles on two threads and keeps the packed tiles in a store.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>
#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

constexpr int kTile = 128;
constexpr int kTilesPerSide = 10;

struct TileJob {
    int frame, row, col;
};

using Pixels = std::vector<uint8_t>;

static void shade(const TileJob& job, Pixels& out) {
    out.resize(kTile * kTile);
    double zoom = 1.6 / (1.0 + 0.02 * job.frame);
    for (int y = 0; y < kTile; ++y)
        for (int x = 0; x < kTile; ++x) {
            double re = -0.7 + zoom * ((job.col * kTile + x) / double(kTile * kTilesPerSide) - 0.5);
            double im = 0.3 + zoom * ((job.row * kTile + y) / double(kTile * kTilesPerSide) - 0.5);
            double a = 0, b = 0;
            int n = 0;
            while (n < 2 && a * a + b * b < 4.0) {
                double t = a * a - b * b + re;
                b = 2 * a * b + im;
                a = t;
                ++n;
            }
            out[y * kTile + x] = uint8_t(n * 23 + int(a * 40) + int(b * 25));
        }
}

static int paeth(int a, int b, int c) {
    int p = a + b - c, pa = std::abs(p - a), pb = std::abs(p - b), pc = std::abs(p - c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

static int predict(int filter, int left, int up, int corner) {
    switch (filter) {
        case 1: return left;
        case 2: return up;
        case 3: return (left + up) / 2;
        case 4: return paeth(left, up, corner);
        default: return 0;
    }
}

static Pixels filtered(const Pixels& px) {
    Pixels out(px.size());
    for (int y = 0; y < kTile; ++y) {
        const uint8_t* row = &px[y * kTile];
        int best = 0, best_cost = 1 << 30;
        for (int filter = 0; filter < 6; ++filter) {
            int use = filter == 5 ? best : filter, cost = 0, corner = 0, left = 0;
            for (int x = 0; x < kTile; ++x) {
                int up = y ? row[x - kTile] : 0;
                uint8_t d = uint8_t(row[x] - predict(use, left, up, corner));
                cost += d < 128 ? d : 256 - d;
                if (filter == 5) out[y * kTile + x] = d;
                left = row[x];
                corner = up;
            }
            if (filter < 5 && cost < best_cost) best = filter, best_cost = cost;
        }
    }
    return out;
}

static std::vector<uint8_t> pack(const Pixels& raw) {
    const Pixels px = filtered(raw);
    std::vector<uint8_t> out;
    out.reserve(px.size());
    std::vector<int32_t> recent(4096, -1);
    size_t i = 0;
    while (i < px.size()) {
        size_t best = 0, where = 0;
        if (i + 4 <= px.size()) {
            uint32_t h = (px[i] | px[i + 1] << 8 | px[i + 2] << 16) * 2654435761u >> 20;
            for (int probe = 0; probe < 8; ++probe) {
                int32_t cand = recent[(h + probe * 7) & 4095];
                if (cand < 0) continue;
                size_t n = 0;
                while (i + n < px.size() && n < 250 && px[cand + n] == px[i + n]) ++n;
                if (n > best) best = n, where = size_t(cand);
            }
            recent[(h + (i & 7) * 7) & 4095] = int32_t(i);
        }
        if (best >= 5) {
            out.push_back(255);
            out.push_back(uint8_t(best));
            out.push_back(uint8_t(where));
            out.push_back(uint8_t(where >> 8));
            i += best;
        } else {
            out.push_back(px[i++]);
        }
    }
    return out;
}

class TileStore {
public:
    void put(const TileJob& job, const Pixels& px) {
        auto packed = pack(px);
        std::lock_guard<std::mutex> hold(mutex_);
        bytes_ += packed.size();
        tiles_[job.row * kTilesPerSide + job.col] = std::move(packed);
        digest_ = digest_of(tiles_);
    }
    uint64_t bytes() const { return bytes_; }
    uint64_t digest() const { return digest_; }

private:
    using Tiles = std::map<int, std::vector<uint8_t>>;

    static uint64_t digest_of(const Tiles& tiles) {
        uint64_t d = 1469598103934665603ull;
        for (const auto& kv : tiles)
            for (uint8_t c : kv.second) d = (d ^ c) * 1099511628211ull;
        return d;
    }

    std::mutex mutex_;
    Tiles tiles_;
    uint64_t bytes_ = 0;
    uint64_t digest_ = 0;
};

class Pool {
public:
    Pool(int n, TileStore& store) : store_(store) {
        for (int i = 0; i < n; ++i) threads_.emplace_back([this] { work(); });
    }
    ~Pool() {
        {
            std::lock_guard<std::mutex> hold(m_);
            closing_ = true;
        }
        ready_.notify_all();
        for (auto& t : threads_) t.join();
    }
    void submit(const TileJob& j) {
        {
            std::lock_guard<std::mutex> hold(m_);
            jobs_.push_back(j);
            ++open_;
        }
        ready_.notify_one();
    }
    void drain() {
        std::unique_lock<std::mutex> hold(m_);
        done_.wait(hold, [this] { return open_ == 0; });
    }

private:
    void work() {
        Pixels px;
        for (;;) {
            TileJob j;
            {
                std::unique_lock<std::mutex> hold(m_);
                ready_.wait(hold, [this] { return closing_ || !jobs_.empty(); });
                if (jobs_.empty()) return;
                j = jobs_.front();
                jobs_.pop_front();
            }
            shade(j, px);
            store_.put(j, px);
            std::lock_guard<std::mutex> hold(m_);
            if (--open_ == 0) done_.notify_all();
        }
    }
    TileStore& store_;
    std::mutex m_;
    std::condition_variable ready_, done_;
    std::deque<TileJob> jobs_;
    std::vector<std::thread> threads_;
    int open_ = 0;
    bool closing_ = false;
};

int main() {
    TileStore store;
    Pool pool(2, store);
    for (int frame = 0; frame < 130; ++frame) {
        DWELL_STEP();
        for (int r = 0; r < kTilesPerSide; ++r)
            for (int c = 0; c < kTilesPerSide; ++c) pool.submit({frame, r, c});
        pool.drain();
    }
    std::printf("packed %llu digest %016llx\n", (unsigned long long)store.bytes(),
                (unsigned long long)store.digest());
    return 0;
}
