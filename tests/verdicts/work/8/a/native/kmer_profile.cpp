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
#include <unordered_map>
#include <vector>

namespace {

constexpr int kK = 21;
constexpr int kWorkers = 2;
constexpr size_t kGenome = 400000;
constexpr size_t kReads = 90000;
constexpr size_t kReadLength = 150;
constexpr size_t kChunk = 500;

inline uint64_t mix(uint64_t x) {
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ull;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44dull;
    return x ^ (x >> 33);
}

using Counts = std::unordered_map<std::string, uint32_t>;

class KmerIndex {
public:
    void absorb(const Counts& part) {
        std::lock_guard<std::mutex> hold(mutex_);
        for (const auto& [kmer, n] : part)
            table_[kmer] += n;
    }

    const Counts& table() const { return table_; }

private:
    std::mutex mutex_;
    Counts table_;
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

std::string reverse_complement(const std::string& s) {
    std::string out(s.rbegin(), s.rend());
    for (char& c : out)
        c = c == 'A' ? 'T' : c == 'C' ? 'G' : c == 'G' ? 'C' : 'A';
    return out;
}

void scan(const std::string& read, Counts& counts) {
    for (size_t i = 0; i + kK <= read.size(); ++i) {
        std::string kmer = read.substr(i, kK);
        if (kmer.find('N') != std::string::npos)
            continue;
        counts[std::min(kmer, reverse_complement(kmer))]++;
    }
}

uint64_t pack(const std::string& kmer, const std::array<int8_t, 256>& code) {
    uint64_t v = 0;
    for (unsigned char c : kmer)
        v = (v << 2) | static_cast<uint64_t>(code[c]);
    return v;
}

void count_reads(const std::vector<std::string>& reads, std::atomic<size_t>& cursor,
                 KmerIndex& index) {
    Counts mine;
    for (;;) {
        size_t begin = cursor.fetch_add(kChunk);
        if (begin >= reads.size())
            break;
        size_t end = std::min(begin + kChunk, reads.size());
        for (size_t i = begin; i < end; ++i)
            scan(reads[i], mine);
    }
    index.absorb(mine);
}

void report(const Counts& table) {
    const auto code = base_codes();
    std::vector<size_t> spectrum(128, 0);
    uint64_t total = 0, checksum = 0;
    for (const auto& [kmer, n] : table) {
        ++spectrum[std::min<size_t>(n, spectrum.size() - 1)];
        total += n;
        checksum ^= mix(pack(kmer, code) * 31 + n);
    }

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
                static_cast<unsigned long long>(total), table.size(),
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
