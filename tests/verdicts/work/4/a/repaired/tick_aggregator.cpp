// Intraday bars from a trade tape: reader threads decode the partitions of
// the tape and the aggregator builds one-minute bars per instrument.
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

namespace {

constexpr int kReaders = 2;
constexpr size_t kBlock = 256;
constexpr size_t kQueued = 8;
constexpr uint32_t kInstruments = 400;
constexpr uint32_t kPartitions = 64;
constexpr uint32_t kTradesPerPartition = 100000;
constexpr uint32_t kSessionSeconds = 23400;

struct Trade {
    uint32_t instrument;
    uint32_t second;
    int64_t price;   // in 1/100 cent
    uint32_t size;
    uint64_t order;
};

struct Bar {
    int64_t open = 0, high = INT64_MIN, low = INT64_MAX, close = 0;
    uint64_t first_key = UINT64_MAX, last_key = 0;
    uint64_t volume = 0, trades = 0;
    __int128 notional = 0;

    void add(const Trade& t) {
        if (t.order < first_key) {
            first_key = t.order;
            open = t.price;
        }
        if (t.order >= last_key) {
            last_key = t.order;
            close = t.price;
        }
        high = std::max(high, t.price);
        low = std::min(low, t.price);
        volume += t.size;
        notional += __int128(t.price) * t.size;
        ++trades;
    }
};

using BarMap = std::unordered_map<uint64_t, Bar>;

uint64_t bar_key(const Trade& t) { return uint64_t(t.instrument) << 32 | t.second / 60; }

using Block = std::vector<Trade>;

// Bounded queue of decoded blocks between the readers and the aggregator.
class BlockQueue {
public:
    BlockQueue(size_t capacity, int producers) : capacity_(capacity), producers_(producers) {}

    void push(Block&& block) {
        std::unique_lock<std::mutex> lock(mutex_);
        room_.wait(lock, [&] { return blocks_.size() < capacity_; });
        blocks_.push_back(std::move(block));
        lock.unlock();
        filled_.notify_one();
    }

    // False when all producers have left and nothing is queued.
    bool pop(Block& block) {
        std::unique_lock<std::mutex> lock(mutex_);
        filled_.wait(lock, [&] { return !blocks_.empty() || producers_ == 0; });
        if (blocks_.empty()) return false;
        block = std::move(blocks_.front());
        blocks_.pop_front();
        lock.unlock();
        room_.notify_one();
        return true;
    }

    void leave() {
        std::lock_guard<std::mutex> guard(mutex_);
        --producers_;
        filled_.notify_one();
    }

private:
    size_t capacity_;
    int producers_;
    std::deque<Block> blocks_;
    std::mutex mutex_;
    std::condition_variable room_, filled_;
};

// Decodes one partition of the tape: delta-coded records as the feed's
// capture process writes them.
class PartitionReader {
public:
    explicit PartitionReader(uint32_t partition)
        : state_(0x2545f4914f6cdd1dull * (partition + 1)), partition_(partition) {}

    bool next(Trade& t) {
        if (done_ == kTradesPerPartition) return false;
        uint64_t r = step();
        t.instrument = uint32_t(skew(r & 0xffff));
        t.second = uint32_t(uint64_t(done_) * kSessionSeconds / kTradesPerPartition);
        drift_ += int64_t(r >> 16 & 0xff) - 127;
        t.price = 100000 + 5000 * int64_t(t.instrument) + drift_ % 20000;
        t.size = 100 * (1 + uint32_t(r >> 40 & 7));
        t.order = uint64_t(done_++) * kPartitions + partition_;
        return true;
    }

private:
    uint64_t step() {
        state_ ^= state_ >> 12;
        state_ ^= state_ << 25;
        state_ ^= state_ >> 27;
        return state_ * 0x2545f4914f6cdd1dull;
    }
    static uint64_t skew(uint64_t r) { return (r * r >> 16) * kInstruments >> 16; }

    uint64_t state_;
    uint32_t partition_, done_ = 0;
    int64_t drift_ = 0;
};

void read_partitions(std::atomic<uint32_t>& next, BlockQueue& queue) {
    for (uint32_t p = next++; p < kPartitions; p = next++) {
        PartitionReader reader(p);
        Trade trade;
        Block block;
        while (reader.next(trade)) {
            if (block.empty()) block.reserve(kBlock);
            block.push_back(trade);
            if (block.size() == kBlock) {
                queue.push(std::move(block));
                block = Block();
            }
        }
        if (!block.empty()) queue.push(std::move(block));
    }
    queue.leave();
}

}  // namespace

int main() {
    BlockQueue queue(kQueued, kReaders);
    std::atomic<uint32_t> next{0};
    std::vector<std::thread> readers;
    for (int i = 0; i < kReaders; ++i)
        readers.emplace_back(read_partitions, std::ref(next), std::ref(queue));

    BarMap bars;
    bars.reserve(kInstruments * (kSessionSeconds / 60));
    uint64_t trades = 0;
    for (Block block; queue.pop(block);) {
        for (const Trade& t : block) bars[bar_key(t)].add(t);
        trades += block.size();
    }
    for (auto& r : readers) r.join();

    uint64_t volume = 0, checksum = 0;
    double range = 0;
    for (const auto& [key, bar] : bars) {
        volume += bar.volume;
        range += double(bar.high - bar.low);
        checksum += key * 31 + uint64_t(bar.open * 7 + bar.close) + uint64_t(bar.notional);
    }
    std::printf("trades %llu, bars %zu, volume %llu\n", (unsigned long long)trades, bars.size(),
                (unsigned long long)volume);
    std::printf("mean range %.3f, checksum %016llx\n", range / double(bars.size()),
                (unsigned long long)checksum);
    return 0;
}
