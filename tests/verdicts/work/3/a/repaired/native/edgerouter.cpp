#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

// Discrete-time model of an edge router: flows feed bounded ingress queues, a
// weighted round-robin scheduler drains them, RED-style dropping when loaded.
#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

struct Packet {
    uint32_t flow = 0;
    uint32_t bytes = 0;
    uint64_t arrived = 0;
    uint64_t sequence = 0;
    uint32_t checksum = 0;
    uint8_t dscp = 0;
    uint8_t ttl = 64;
};

class Random {
public:
    explicit Random(uint64_t seed) : state_(seed) {}
    uint32_t next() {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<uint32_t>(state_ >> 32);
    }
    uint32_t below(uint32_t n) { return next() % n; }

private:
    uint64_t state_;
};

class IngressQueue {
public:
    IngressQueue(std::string name, size_t limit, uint32_t weight)
        : name_(std::move(name)), limit_(limit), weight_(weight) {}

    bool offer(const Packet &p, Random &rng) {
        size_t depth = packets_.size();
        if (depth >= limit_)
            return false;
        size_t knee = limit_ * 3 / 4;
        if (depth > knee && rng.below(static_cast<uint32_t>(limit_ - knee)) < depth - knee)
            return false;
        packets_.push_back(p);
        queued_bytes_ += p.bytes;
        return true;
    }

    bool take(Packet &out) {
        if (packets_.empty())
            return false;
        out = packets_.front();
        packets_.pop_front();
        queued_bytes_ -= out.bytes;
        return true;
    }

    uint32_t headBytes() const { return packets_.empty() ? 0 : packets_.front().bytes; }
    size_t depth() const { return packets_.size(); }
    uint32_t weight() const { return weight_; }
    const std::string &name() const { return name_; }
    uint64_t dropped = 0;
    int64_t deficit = 0;

private:
    std::string name_;
    size_t limit_;
    uint32_t weight_;
    uint64_t queued_bytes_ = 0;
    std::deque<Packet> packets_;
};

struct FlowTable {
    struct Entry {
        uint64_t packets = 0, bytes = 0, delay = 0;
        uint32_t digest = 0;
    };
    std::vector<Entry> entries;
    explicit FlowTable(size_t n) : entries(n) {}

    void account(const Packet &p, uint64_t now) {
        Entry &e = entries[p.flow];
        e.packets++;
        e.bytes += p.bytes;
        e.delay += now - p.arrived;
        e.digest = (e.digest * 16777619u) ^ p.checksum ^ static_cast<uint32_t>(p.sequence);
    }
};

static uint32_t headerChecksum(const Packet &p) {
    uint32_t h = 2166136261u;
    uint64_t words[3] = {p.sequence, (uint64_t(p.flow) << 32) | p.bytes, (uint64_t(p.dscp) << 8) | p.ttl};
    for (int round = 0; round < 2; round++)
        for (uint64_t w : words)
            for (int i = 0; i < 8; i++)
                h = (h ^ ((w >> (8 * i)) & 0xff)) * 16777619u;
    return h;
}

static void arrivals(std::vector<IngressQueue> &queues, Random &rng, uint64_t now, uint64_t &sequence,
                     size_t flows) {
    uint32_t burst = 42 + rng.below(29);
    for (uint32_t i = 0; i < burst; i++) {
        Packet p;
        p.flow = rng.below(static_cast<uint32_t>(flows));
        p.bytes = 64 + rng.below(1400);
        p.arrived = now;
        p.sequence = ++sequence;
        p.dscp = static_cast<uint8_t>(p.flow % 8);
        p.checksum = headerChecksum(p);
        IngressQueue &q = queues[p.flow % queues.size()];
        if (!q.offer(p, rng))
            q.dropped++;
    }
}

static uint64_t drain(std::vector<IngressQueue> &queues, FlowTable &table, uint64_t now) {
    uint64_t sent = 0;
    for (IngressQueue &q : queues) {
        q.deficit += q.weight();
        Packet p;
        while (q.headBytes() != 0 && q.deficit >= q.headBytes() && q.take(p)) {
            q.deficit -= p.bytes;
            p.ttl--;
            p.checksum = headerChecksum(p);
            table.account(p, now);
            sent++;
        }
        if (q.depth() == 0)
            q.deficit = 0;
    }
    return sent;
}

int main() {
    const size_t flows = 5000;
    std::vector<IngressQueue> queues;
    for (int i = 0; i < 8; i++)
        queues.emplace_back("ge-0/0/" + std::to_string(i), 3000 + 600 * i, 4200 + 300 * i);
    FlowTable table(flows);
    Random rng(88172645463325252ull);
    uint64_t sequence = 0, sent = 0;
    const uint64_t ticks = 170000;
    for (uint64_t now = 0; now < ticks; now++) {
        arrivals(queues, rng, now, sequence, flows);
        sent += drain(queues, table, now);
        DWELL_STEP();
    }
    uint64_t dropped = 0, delay = 0;
    uint32_t digest = 0;
    for (const IngressQueue &q : queues) {
        dropped += q.dropped;
        std::printf("%s depth %zu dropped %llu\n", q.name().c_str(), q.depth(),
                    static_cast<unsigned long long>(q.dropped));
    }
    for (const auto &e : table.entries) {
        delay += e.delay;
        digest ^= e.digest;
    }
    std::printf("sent %llu dropped %llu delay %llu digest %08x\n", (unsigned long long)sent,
                (unsigned long long)dropped, (unsigned long long)delay, digest);
    return 0;
}
