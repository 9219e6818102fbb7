// Counts canonical k-mers of simulated sequencing reads, drops those that look
// like sequencing errors, and assembles the rest into unitigs.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kK = 31;
constexpr size_t kGenome = 2'700'000;
constexpr size_t kReadLength = 150;
constexpr size_t kCoverage = 24;
constexpr uint64_t kMask = (uint64_t(1) << (2 * kK)) - 1;

uint64_t hash(uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93ull;
    return x ^ (x >> 32);
}

uint64_t reverse_complement(uint64_t k) {
    uint64_t r = k ^ 0xaaaaaaaaaaaaaaaaull;
    r = ((r >> 2) & 0x3333333333333333ull) | ((r & 0x3333333333333333ull) << 2);
    r = ((r >> 4) & 0x0f0f0f0f0f0f0f0full) | ((r & 0x0f0f0f0f0f0f0f0full) << 4);
    return __builtin_bswap64(r) >> (64 - 2 * kK);
}

uint64_t canonical(uint64_t k) { return std::min(k, reverse_complement(k)); }

// Open-addressing counter keyed by packed k-mer.
class KmerTable {
public:
    explicit KmerTable(size_t expected) {
        size_t n = 1;
        while (n < expected * 2)
            n <<= 1;
        slots_.assign(n, Slot{kEmpty, 0, false});
        mask_ = n - 1;
    }

    struct Slot {
        uint64_t key;
        uint32_t count;
        bool used;
    };

    void add(uint64_t key) {
        if ((size_ + 1) * 10 > slots_.size() * 7)
            grow();
        Slot& s = locate(key);
        if (s.key == kEmpty) {
            s.key = key;
            ++size_;
        }
        ++s.count;
    }

    Slot* find(uint64_t key) {
        Slot& s = locate(key);
        return s.key == kEmpty ? nullptr : &s;
    }

    size_t size() const { return size_; }
    std::vector<Slot>& slots() { return slots_; }
    static constexpr uint64_t kEmpty = ~uint64_t(0);

private:
    Slot& locate(uint64_t key) {
        size_t i = hash(key) & mask_;
        while (slots_[i].key != kEmpty && slots_[i].key != key)
            i = (i + 1) & mask_;
        return slots_[i];
    }

    void grow() {
        std::vector<Slot> old(slots_.size() * 2, Slot{kEmpty, 0, false});
        old.swap(slots_);
        mask_ = slots_.size() - 1;
        for (const Slot& s : old)
            if (s.key != kEmpty)
                locate(s.key) = s;
    }

    std::vector<Slot> slots_;
    size_t mask_ = 0, size_ = 0;
};

int code(char c) { return (c >> 1) & 3; }  // A0 C1 T2 G3

std::string make_genome(std::mt19937_64& rng) {
    std::string g(kGenome, 'A');
    for (char& c : g)
        c = "ACTG"[rng() & 3];
    for (int copy = 0; copy < 40; ++copy) {  // repeats
        const size_t from = rng() % (kGenome - 1000), to = rng() % (kGenome - 1000);
        std::copy_n(g.begin() + from, 300 + rng() % 500, g.begin() + to);
    }
    return g;
}

void count_read(KmerTable& table, std::string_view read) {
    uint64_t fwd = 0, rev = 0;
    for (size_t i = 0; i < read.size(); ++i) {
        const uint64_t c = code(read[i]);
        fwd = (fwd << 2 | c) & kMask;
        rev = rev >> 2 | (c ^ 2) << (2 * (kK - 1));
        if (i + 1 >= kK)
            table.add(std::min(fwd, rev));
    }
}

bool solid(KmerTable& t, uint64_t kmer, KmerTable::Slot** out) {
    KmerTable::Slot* s = t.find(canonical(kmer));
    if (!s || s->count < 4)
        return false;
    *out = s;
    return true;
}

// Number of solid successors of a k-mer; the last one found is stored in next.
int successors(KmerTable& t, uint64_t kmer, uint64_t* next, KmerTable::Slot** slot) {
    int n = 0;
    for (uint64_t c = 0; c < 4; ++c) {
        KmerTable::Slot* s;
        const uint64_t k = (kmer << 2 | c) & kMask;
        if (solid(t, k, &s)) {
            ++n;
            *next = k;
            *slot = s;
        }
    }
    return n;
}

size_t extend(KmerTable& t, uint64_t kmer) {
    size_t length = 0;
    uint64_t next;
    KmerTable::Slot* slot;
    while (successors(t, kmer, &next, &slot) == 1 && !slot->used) {
        slot->used = true;
        kmer = next;
        ++length;
    }
    return length;
}

}  // namespace

int main() {
    std::mt19937_64 rng(31);
    const std::string genome = make_genome(rng);
    KmerTable table(kGenome * 3);
    std::string read;
    const size_t reads = kGenome * kCoverage / kReadLength;
    for (size_t r = 0; r < reads; ++r) {
        read.assign(genome, rng() % (kGenome - kReadLength), kReadLength);
        for (char& c : read)
            if (rng() % 250 == 0)
                c = "ACTG"[rng() & 3];
        count_read(table, read);
    }

    std::vector<uint64_t> histogram(64), lengths;
    size_t solid_kmers = 0;
    for (auto& s : table.slots()) {
        if (s.key == KmerTable::kEmpty)
            continue;
        histogram[std::min<uint32_t>(s.count, 63)]++;
        solid_kmers += s.count >= 4;
    }
    for (auto& s : table.slots()) {
        if (s.key == KmerTable::kEmpty || s.used || s.count < 4)
            continue;
        s.used = true;
        lengths.push_back(kK + extend(table, s.key) + extend(table, reverse_complement(s.key)));
    }
    std::sort(lengths.rbegin(), lengths.rend());
    uint64_t total = 0, n50 = 0, run = 0;
    for (uint64_t l : lengths)
        total += l;
    for (uint64_t l : lengths)
        if ((run += l) * 2 >= total) {
            n50 = l;
            break;
        }
    std::printf("reads %zu distinct %zu solid %zu singletons %llu\n", reads, table.size(), solid_kmers,
                (unsigned long long)histogram[1]);
    std::printf("unitigs %zu total %llu n50 %llu longest %llu\n", lengths.size(), (unsigned long long)total,
                (unsigned long long)n50, (unsigned long long)lengths[0]);
    return 0;
}
