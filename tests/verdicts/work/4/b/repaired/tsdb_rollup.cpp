// Storage node of the monitoring system: appends samples to per-shard segment
// files, and compacts each full window into rollup blocks.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <random>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>
#include <dwell/probe.h>

namespace {

constexpr int SHARDS = 8;
constexpr int SERIES = 600;
constexpr int WINDOWS = 80;
constexpr int TICKS = 20;               // samples of a series in one window

struct Sample {
    uint32_t series;
    uint32_t time;
    double value;
};

struct Rollup {
    uint32_t count = 0;
    double sum = 0, low = 1e300, high = -1e300, p90 = 0;
};

class Shard {
public:
    explicit Shard(std::string path) : path_(std::move(path)) {}

    void append(const Sample &s)
    {
        if (!out_) out_ = std::fopen(path_.c_str(), "ab");
        if (!out_) {
            std::perror(path_.c_str());
            std::exit(1);
        }
        std::fwrite(&s, sizeof s, 1, out_);
    }

    std::vector<Sample> take()
    {
        std::vector<Sample> out;
        if (out_) std::fclose(out_);
        out_ = nullptr;
        FILE *f = std::fopen(path_.c_str(), "rb");
        if (!f) return out;
        struct stat st;
        if (fstat(fileno(f), &st) == 0) out.resize(st.st_size / sizeof(Sample));
        out.resize(std::fread(out.data(), sizeof(Sample), out.size(), f));
        std::fclose(f);
        ::unlink(path_.c_str());
        return out;
    }

private:
    std::string path_;
    FILE *out_ = nullptr;
};

class Store {
public:
    explicit Store(const std::string &dir) : dir_(dir)
    {
        for (int i = 0; i < SHARDS; i++)
            shards_.emplace_back(dir + "/shard" + std::to_string(i) + ".seg");
    }

    void append(const Sample &s) { shards_[s.series % SHARDS].append(s); }

    void compact(int window)
    {
        std::vector<Rollup> rollups(SERIES);
        std::vector<std::vector<double>> values(SERIES);
        std::vector<unsigned char> raw;
        for (Shard &shard : shards_) {
            std::vector<Sample> samples = shard.take();
            std::stable_sort(samples.begin(), samples.end(), [](const Sample &a, const Sample &b) {
                return a.series != b.series ? a.series < b.series : a.time < b.time;
            });
            encode(samples, raw);
            for (const Sample &s : samples)
                values[s.series].push_back(s.value);
        }
        for (int i = 0; i < SERIES; i++)
            rollups[i] = summarize(values[i]);
        write_block(window, raw, rollups);
    }

    void report() const
    {
        std::printf("blocks %d samples %llu stored %llu bytes (%.2f per sample)\n", blocks_,
                    (unsigned long long)samples_, (unsigned long long)bytes_,
                    (double)bytes_ / samples_);
        std::printf("mean of sums %.4f mean p90 %.4f\n", sums_ / blocks_ / SERIES,
                    p90s_ / blocks_ / SERIES);
    }

private:
    // Delta of time and xor of value bits, as bytes for the compressor.
    void encode(const std::vector<Sample> &samples, std::vector<unsigned char> &raw)
    {
        uint64_t last = 0;
        uint32_t time = 0;
        for (const Sample &s : samples) {
            union {
                double d;
                uint64_t u;
            } v{s.value};
            uint64_t x = v.u ^ last;
            raw.push_back((unsigned char)(s.time - time));
            for (int b = 0; b < 8; b++)
                raw.push_back((unsigned char)(x >> (56 - 8 * b)));
            last = v.u;
            time = s.time;
        }
        samples_ += samples.size();
    }

    Rollup summarize(std::vector<double> &v)
    {
        Rollup r;
        if (v.empty()) return r;
        r.count = v.size();
        for (double x : v) {
            r.sum += x;
            r.low = std::min(r.low, x);
            r.high = std::max(r.high, x);
        }
        auto at = v.begin() + v.size() * 9 / 10;
        std::nth_element(v.begin(), at, v.end());
        r.p90 = *at;
        sums_ += r.sum;
        p90s_ += r.p90;
        return r;
    }

    void write_block(int window, const std::vector<unsigned char> &raw,
                     const std::vector<Rollup> &rollups)
    {
        uLongf n = compressBound(raw.size());
        std::vector<unsigned char> packed(n);
        compress2(packed.data(), &n, raw.data(), raw.size(), 6);
        std::string path = dir_ + "/block" + std::to_string(window);
        FILE *f = std::fopen(path.c_str(), "wb");
        if (!f) return;
        std::fwrite(rollups.data(), sizeof(Rollup), rollups.size(), f);
        std::fwrite(packed.data(), 1, n, f);
        std::fclose(f);
        ::unlink(path.c_str());     // retention of the test node is one block
        bytes_ += n + rollups.size() * sizeof(Rollup);
        blocks_++;
    }

    std::string dir_;
    std::vector<Shard> shards_;
    uint64_t bytes_ = 0, samples_ = 0;
    int blocks_ = 0;
    double sums_ = 0, p90s_ = 0;
};

}  // namespace

int main()
{
    char dir[] = "/tmp/tsdbXXXXXX";
    if (!mkdtemp(dir)) return 1;
    {
        Store store(dir);
        std::mt19937 rng(17);
        std::vector<double> level(SERIES, 50.0);
        for (int w = 0; w < WINDOWS; w++) {
            DWELL_STEP();
            for (int t = 0; t < TICKS; t++)
                for (uint32_t s = 0; s < SERIES; s++) {
                    level[s] += ((int)(rng() % 17) - 8) * 0.25;
                    store.append({s, (uint32_t)((w * TICKS + t) * 15), level[s]});
                }
            store.compact(w);
        }
        store.report();
    }
    rmdir(dir);
    return 0;
}
