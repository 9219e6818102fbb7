// Edge gateway of a production line: gathers the readings of vibration and
// temperature sensors, packs one telemetry packet per machine and interval (delta +
// zigzag varint, then deflate with a checksum) and keeps the day's packets in a
// spool that the uplink drains.  The uplink side here verifies every packet.
#include <dwell/probe.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <stdexcept>
#include <string>
#include <vector>
#include <zlib.h>

namespace {

constexpr int n_machines = 48, channels = 4, samples_per_packet = 40, intervals = 3000;
constexpr uint32_t uplink_period = 500; // the modem is powered once per so many intervals

using Bytes = std::vector<uint8_t>;

struct Packet {
    uint16_t machine;
    uint32_t interval, raw_size, crc;
    Bytes payload;
};

class SensorModel {
public:
    explicit SensorModel(uint32_t seed) : state_(seed * 2654435761u + 1), phase_(seed % 100 * 0.07) {}

    int32_t read(int channel, uint32_t tick) {
        double base = channel == 0 ? 6200 + 40 * std::sin(tick * 0.001 + phase_) : 900 * std::sin(tick * (0.11 + 0.05 * channel) + phase_);
        return static_cast<int32_t>(base) + static_cast<int32_t>(noise() % 8);
    }

private:
    uint32_t noise() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 17;
        return state_ ^= state_ << 5;
    }
    uint32_t state_;
    double phase_;
};

void put_varint(Bytes &out, int32_t v) {
    uint32_t z = (static_cast<uint32_t>(v) << 1) ^ static_cast<uint32_t>(v >> 31);
    while (z >= 0x80) {
        out.push_back(static_cast<uint8_t>(z | 0x80));
        z >>= 7;
    }
    out.push_back(static_cast<uint8_t>(z));
}

int32_t get_varint(const uint8_t *&p) {
    uint32_t z = 0;
    for (int shift = 0;; shift += 7) {
        z |= static_cast<uint32_t>(*p & 0x7f) << shift;
        if (!(*p++ & 0x80))
            break;
    }
    return static_cast<int32_t>(z >> 1) ^ -static_cast<int32_t>(z & 1);
}

class Deflater {
public:
    explicit Deflater(int level) {
        if (deflateInit2(&z_, level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
            throw std::runtime_error("deflateInit2");
    }
    ~Deflater() { deflateEnd(&z_); }
    Deflater(const Deflater &) = delete;
    Deflater &operator=(const Deflater &) = delete;

    Bytes compress(const Bytes &raw) {
        deflateReset(&z_);
        Bytes out(deflateBound(&z_, raw.size()));
        z_.next_in = const_cast<uint8_t *>(raw.data());
        z_.avail_in = static_cast<uInt>(raw.size());
        z_.next_out = out.data();
        z_.avail_out = static_cast<uInt>(out.size());
        int rc = deflate(&z_, Z_FINISH);
        out.resize(z_.total_out);
        if (rc != Z_STREAM_END)
            throw std::runtime_error("deflate");
        return out;
    }

private:
    z_stream z_{};
};

class Inflater {
public:
    Inflater() {
        if (inflateInit2(&z_, -15) != Z_OK)
            throw std::runtime_error("inflateInit2");
    }
    ~Inflater() { inflateEnd(&z_); }
    Inflater(const Inflater &) = delete;
    Inflater &operator=(const Inflater &) = delete;

    void expand(const Bytes &packed, Bytes &out, size_t size) {
        out.resize(size);
        inflateReset(&z_);
        z_.next_in = const_cast<uint8_t *>(packed.data());
        z_.avail_in = static_cast<uInt>(packed.size());
        z_.next_out = out.data();
        z_.avail_out = static_cast<uInt>(size);
        if (inflate(&z_, Z_FINISH) != Z_STREAM_END || z_.avail_out)
            throw std::runtime_error("inflate");
    }

private:
    z_stream z_{};
};

class Uplink {
public:
    void drain(std::deque<Packet> &spool) {
        for (; !spool.empty(); spool.pop_front()) {
            const Packet &p = spool.front();
            inflater_.expand(p.payload, raw_, p.raw_size);
            if (crc32(0, raw_.data(), static_cast<uInt>(raw_.size())) != p.crc)
                throw std::runtime_error("bad checksum from machine " + std::to_string(p.machine));
            const uint8_t *q = raw_.data();
            for (int c = 0; c < channels; c++) {
                int32_t v = 0;
                for (int s = 0; s < samples_per_packet; s++) {
                    v += get_varint(q);
                    sum_[c] += v;
                    peak_[c] = std::max(peak_[c], std::abs(v));
                }
            }
            packets_++;
            bytes_ += p.payload.size();
        }
    }

    void report() const {
        std::printf("packets %llu  bytes %llu\n", static_cast<unsigned long long>(packets_),
                    static_cast<unsigned long long>(bytes_));
        for (int c = 0; c < channels; c++)
            std::printf("channel %d  mean %.3f  peak %d\n", c, double(sum_[c]) / double(packets_ * samples_per_packet), peak_[c]);
    }

private:
    Inflater inflater_;
    Bytes raw_;
    uint64_t packets_ = 0, bytes_ = 0;
    int64_t sum_[channels] = {};
    int32_t peak_[channels] = {};
};

} // namespace

int main() {
    std::vector<SensorModel> machines;
    for (uint32_t m = 0; m < n_machines; m++)
        machines.emplace_back(m);
    Deflater deflater(6);
    Uplink uplink;
    std::deque<Packet> spool;
    Bytes raw;
    for (uint32_t t = 0; t < intervals; t++) {
        DWELL_STEP();
        for (uint16_t m = 0; m < n_machines; m++) {
            raw.clear();
            for (int c = 0; c < channels; c++) {
                int32_t last = 0;
                for (uint32_t s = 0; s < samples_per_packet; s++) {
                    int32_t v = machines[m].read(c, t * samples_per_packet + s);
                    put_varint(raw, v - last);
                    last = v;
                }
            }
            auto crc = static_cast<uint32_t>(crc32(0, raw.data(), static_cast<uInt>(raw.size())));
            auto size = static_cast<uint32_t>(raw.size());
            spool.push_back({m, t, size, crc, deflater.compress(raw)});
        }
        if ((t + 1) % uplink_period == 0)
            uplink.drain(spool);
    }
    uplink.drain(spool);
    uplink.report();
    return 0;
}
