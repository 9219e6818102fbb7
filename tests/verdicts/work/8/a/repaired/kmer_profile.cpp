// kmer_profile: k-mer spectrum of a set of sequencing reads.
//
// Two workers take chunks of reads from a common queue and count canonical
// k-mers; the spectrum is used to estimate the genome size and the error rate.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kK = 21;
constexpr int kWorkers = 2;
constexpr size_t kGenome = 400000;
constexpr size_t kReads = 90000;
constexpr size_t kReadLength = 150;
constexpr size_t kChunk = 500;
constexpr uint64_t kMask = (1ull << (2 * kK)) - 1;

inline uint64_t mix(uint64_t x) {
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ull;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44dull;
    return x ^ (x >> 33);
}

// Open addressing table from packed k-mer to count.
class CountTable {
public:
    explicit CountTable(size_t log2_size) : slots_(1ull << log2_size), mask_(slots_.size() - 1) {}

    void add(uint64_t kmer, uint32_t n) {
        uint64_t key = kmer + 1;
        size_t i = mix(kmer) & mask_;
        while (slots_[i].key != 0 && slots_[i].key != key)
            i = (i + 1) & mask_;
        if (slots_[i].key == 0) {
            slots_[i].key = key;
            ++used_;
        }
        slots_[i].count += n;
    }

    template <class F>
    void each(F f) const {
        for (const Slot& s : slots_)
            if (s.key)
                f(s.key - 1, s.count);
    }

    size_t used() const { return used_; }

private:
    struct Slot {
        uint64_t key = 0;
        uint32_t count = 0;
    };
    std::vector<Slot> slots_;
    size_t mask_;
    size_t used_ = 0;
};

class KmerIndex {
public:
    void absorb(const CountTable& part) {
        std::lock_guard<std::mutex> hold(mutex_);
        part.each([&](uint64_t kmer, uint32_t n) { table_.add(kmer, n); });
    }

    const CountTable& table() const { return table_; }

private:
    std::mutex mutex_;
    CountTable table_{23};
};

std::vector<std::string> sequence_reads() {
    static const char kBases[] = "ACGT";
    std::mt19937_64 rng(8675309);
    std::string genome(kGenome, 'A');
    for (char& c : genome)
        c = kBases[rng() & 3];
    for (int i = 0; i < 40; ++i) {  // repeats
        size_t from = rng() % (kGenome - 2000), to = rng() % (kGenome - 2000);
        std::copy_n(genome.begin() + from, 1500, genome.begin() + to);
    }

    std::vector<std::string> reads;
    reads.reserve(kReads);
    for (size_t i = 0; i < kReads; ++i) {
        std::string read = genome.substr(rng() % (kGenome - kReadLength), kReadLength);
        for (char& c : read)
            if (rng() % 250 == 0)
                c = rng() % 20 == 0 ? 'N' : kBases[rng() & 3];
        reads.push_back(std::move(read));
    }
    return reads;
}

std::array<int8_t, 256> base_codes() {
    std::array<int8_t, 256> code;
    code.fill(-1);
    code['A'] = 0;
    code['C'] = 1;
    code['G'] = 2;
    code['T'] = 3;
    return code;
}

template <class Sink>
void scan(const std::string& read, const std::array<int8_t, 256>& code, Sink sink) {
    uint64_t forward = 0, reverse = 0;
    int length = 0;
    for (unsigned char c : read) {
        int b = code[c];
        if (b < 0) {
            length = 0;
            continue;
        }
        forward = ((forward << 2) | static_cast<uint64_t>(b)) & kMask;
        reverse = (reverse >> 2) | (static_cast<uint64_t>(3 - b) << (2 * (kK - 1)));
        if (++length >= kK)
            sink(std::min(forward, reverse));
    }
}

void count_reads(const std::vector<std::string>& reads, std::atomic<size_t>& cursor,
                 KmerIndex& index) {
    const auto code = base_codes();
    CountTable mine(23);
    for (;;) {
        size_t begin = cursor.fetch_add(kChunk);
        if (begin >= reads.size())
            break;
        size_t end = std::min(begin + kChunk, reads.size());
        for (size_t i = begin; i < end; ++i)
            scan(reads[i], code, [&](uint64_t kmer) { mine.add(kmer, 1); });
    }
    index.absorb(mine);
}

void report(const CountTable& table) {
    std::vector<size_t> spectrum(128, 0);
    uint64_t total = 0, checksum = 0;
    table.each([&](uint64_t kmer, uint32_t n) {
        ++spectrum[std::min<size_t>(n, spectrum.size() - 1)];
        total += n;
        checksum ^= mix(kmer * 31 + n);
    });

    size_t valley = 2;
    while (valley + 1 < spectrum.size() && spectrum[valley + 1] < spectrum[valley])
        ++valley;
    size_t peak = valley;
    for (size_t i = valley; i < spectrum.size(); ++i)
        if (spectrum[i] > spectrum[peak])
            peak = i;
    uint64_t solid = 0;
    for (size_t i = valley; i < spectrum.size(); ++i)
        solid += i * spectrum[i];

    std::printf("k-mers %llu  distinct %zu  checksum %016llx\n",
                static_cast<unsigned long long>(total), table.used(),
                static_cast<unsigned long long>(checksum));
    std::printf("coverage peak %zu  error cutoff %zu  genome size ~ %llu\n", peak, valley,
                static_cast<unsigned long long>(solid / peak));
}

}  // namespace

int main() {
    const std::vector<std::string> reads = sequence_reads();
    KmerIndex index;
    std::atomic<size_t> cursor{0};

    std::vector<std::thread> workers;
    for (int i = 0; i < kWorkers; ++i)
        workers.emplace_back([&] { count_reads(reads, cursor, index); });
    for (std::thread& w : workers)
        w.join();
    report(index.table());
    return 0;
}
