// Packs a generated data set into compressed, checksummed chunks on two threads.
#include <zlib.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

struct Chunk {
    uint32_t crc = 0;
    uint32_t raw = 0;
    std::vector<uint8_t> packed;
};

class Source {
public:
    explicit Source(size_t bytes) {
        std::mt19937 rng(15);
        static const char* words[] = {"pump", "valve", "sensor", "ok", "warning", "pressure", "line", "temp", "open"};
        data_.reserve(bytes + 128);
        while (data_.size() < bytes) {
            data_ += words[rng() % 9];
            data_ += '=';
            data_ += std::to_string(rng() % 5000);
            data_ += rng() % 8 == 0 ? '\n' : ' ';
        }
    }
    const uint8_t* at(size_t offset) const { return reinterpret_cast<const uint8_t*>(data_.data()) + offset; }
    size_t size() const { return data_.size(); }

private:
    std::string data_;
};

class Packer {
public:
    Packer() {
        if (deflateInit(&z_, 6) != Z_OK) std::exit(1);
    }
    ~Packer() { deflateEnd(&z_); }
    Packer(const Packer&) = delete;
    Packer& operator=(const Packer&) = delete;

    void pack(const uint8_t* p, size_t n, Chunk& out) {
        deflateReset(&z_);
        scratch_.resize(deflateBound(&z_, n));
        z_.next_in = const_cast<uint8_t*>(p);
        z_.avail_in = uInt(n);
        z_.next_out = scratch_.data();
        z_.avail_out = uInt(scratch_.size());
        if (deflate(&z_, Z_FINISH) != Z_STREAM_END) std::exit(1);
        out.packed.assign(scratch_.begin(), scratch_.begin() + long(scratch_.size() - z_.avail_out));
        out.crc = uint32_t(crc32(0, p, uInt(n)));
        out.raw = uint32_t(n);
    }

private:
    z_stream z_{};
    std::vector<uint8_t> scratch_;
};

class Archive {
public:
    Archive(const Source& s, size_t chunk) : source_(s), chunk_(chunk), chunks_((s.size() + chunk - 1) / chunk) {}

    void fill(int threads) {
        std::vector<std::thread> pool;
        for (int t = 0; t < threads; ++t) pool.emplace_back([this] { work(); });
        for (auto& t : pool) t.join();
    }

    void report() const {
        uint64_t packed = 0, raw = 0;
        uint32_t mix = 0;
        for (const auto& c : chunks_) {
            packed += c.packed.size();
            raw += c.raw;
            mix = mix * 31 + c.crc;
        }
        std::printf("chunks %zu raw %llu packed %llu mix %08x\n", chunks_.size(), (unsigned long long)raw,
                    (unsigned long long)packed, mix);
    }

private:
    void work() {
        Packer packer;
        for (size_t i = next_++; i < chunks_.size(); i = next_++) {
            size_t from = i * chunk_, n = std::min(chunk_, source_.size() - from);
            packer.pack(source_.at(from), n, chunks_[i]);
        }
    }
    const Source& source_;
    size_t chunk_;
    std::vector<Chunk> chunks_;
    std::atomic<size_t> next_{0};
};

int main() {
    Source source(size_t(110) << 20);
    Archive archive(source, size_t(1) << 20);
    archive.fill(2);
    archive.report();
    return 0;
}
