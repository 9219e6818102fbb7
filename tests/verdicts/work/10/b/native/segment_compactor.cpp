// segment_compactor: background merge of an append-only key/value store.
// Builds sorted runs with restart-point prefix compression and a CRC per block,
// merges them with a binary heap, drops shadowed versions and
// tombstones, and verifies the result with point look-ups through a Bloom filter.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>
#include <zlib.h>

namespace {

constexpr size_t kBlockBytes = 4096;

struct Block { std::string bytes, first_key; uint32_t crc; };

void put_varint(std::string &s, uint32_t v) {
    while (v >= 128) { s.push_back(static_cast<char>(v | 128)); v >>= 7; }
    s.push_back(static_cast<char>(v));
}

uint32_t get_varint(const char *&p) {
    uint32_t v = 0;
    for (int shift = 0;; shift += 7) {
        auto c = static_cast<unsigned char>(*p++);
        v |= uint32_t(c & 127) << shift;
        if (c < 128) return v;
    }
}

uint64_t hash_key(std::string_view k) {
    uint64_t h = 0xcbf29ce484222325ULL;
    for (unsigned char c : k) h = (h ^ c) * 0x100000001b3ULL;
    return h ^ (h >> 29);
}

class Bloom {
public:
    explicit Bloom(size_t keys) : bits_((keys * 10 + 63) / 64 + 1) {}
    void add(uint64_t h) { each(h, [&](size_t i) { bits_[i >> 6] |= 1ULL << (i & 63); return true; }); }
    bool may_contain(uint64_t h) const {
        return each(h, [&](size_t i) { return (bits_[i >> 6] >> (i & 63) & 1) != 0; });
    }

private:
    template <class F> bool each(uint64_t h, F f) const {
        uint64_t step = (h >> 33) | 1, n = bits_.size() * 64;
        for (int i = 0; i < 6; ++i, h += step)
            if (!f(h % n)) return false;
        return true;
    }
    mutable std::vector<uint64_t> bits_;
};

struct Segment {
    std::vector<Block> blocks;
    std::unique_ptr<Bloom> bloom;
    size_t entries = 0;
};

class SegmentWriter {
public:
    explicit SegmentWriter(size_t expected) { seg_.bloom = std::make_unique<Bloom>(expected); }

    void add(std::string_view key, std::string_view value) {
        if (buf_.empty()) { first_.assign(key); last_.clear(); }
        size_t shared = 0, n = std::min(last_.size(), key.size());
        while (shared < n && last_[shared] == key[shared]) ++shared;
        put_varint(buf_, static_cast<uint32_t>(shared));
        put_varint(buf_, static_cast<uint32_t>(key.size() - shared));
        put_varint(buf_, static_cast<uint32_t>(value.size()));
        buf_.append(key.substr(shared));
        buf_.append(value);
        last_.assign(key);
        seg_.bloom->add(hash_key(key));
        ++seg_.entries;
        if (buf_.size() >= kBlockBytes) flush();
    }

    Segment finish() { flush(); return std::move(seg_); }

private:
    void flush() {
        if (buf_.empty()) return;
        auto crc = crc32(0, reinterpret_cast<const Bytef *>(buf_.data()), static_cast<uInt>(buf_.size()));
        seg_.blocks.push_back({buf_, first_, static_cast<uint32_t>(crc)});
        buf_.clear();
    }
    Segment seg_;
    std::string buf_, first_, last_;
};

class Cursor {
public:
    Cursor(const Segment &s, int age, size_t block = 0) : seg_(&s), age_(age), block_(block) { open(); }
    bool valid() const { return valid_; }
    const std::string &key() const { return key_; }
    std::string_view value() const { return value_; }
    int age() const { return age_; }
    size_t block() const { return block_; }
    void next() {
        if (p_ == end_) { ++block_; open(); return; }
        uint32_t shared = get_varint(p_), rest = get_varint(p_), len = get_varint(p_);
        key_.resize(shared);
        key_.append(p_, rest);
        p_ += rest;
        value_ = {p_, len};
        p_ += len;
    }

private:
    void open() {
        valid_ = block_ < seg_->blocks.size();
        if (!valid_) return;
        const Block &b = seg_->blocks[block_];
        if (crc32(0, reinterpret_cast<const Bytef *>(b.bytes.data()),
                  static_cast<uInt>(b.bytes.size())) != b.crc)
            throw std::runtime_error("block checksum mismatch");
        p_ = b.bytes.data();
        end_ = p_ + b.bytes.size();
        key_.clear();
        next();
    }
    const Segment *seg_;
    int age_;
    size_t block_;
    const char *p_ = nullptr, *end_ = nullptr;
    std::string key_;
    std::string_view value_;
    bool valid_ = false;
};

Segment compact(const std::vector<Segment> &runs) {
    size_t expected = 0;
    std::vector<Cursor> cursors;
    for (size_t i = 0; i < runs.size(); ++i) {
        expected += runs[i].entries;
        cursors.emplace_back(runs[i], static_cast<int>(i));
    }
    auto later = [&](int a, int b) {
        int c = cursors[a].key().compare(cursors[b].key());
        return c != 0 ? c > 0 : cursors[a].age() < cursors[b].age();
    };
    std::vector<int> heap;
    for (size_t i = 0; i < cursors.size(); ++i)
        if (cursors[i].valid()) heap.push_back(static_cast<int>(i));
    std::make_heap(heap.begin(), heap.end(), later);
    SegmentWriter out(expected);
    std::string previous;
    while (!heap.empty()) {
        std::pop_heap(heap.begin(), heap.end(), later);
        Cursor &c = cursors[heap.back()];
        if (c.key() != previous) {                 // the newest version comes first
            previous = c.key();
            if (!c.value().empty()) out.add(c.key(), c.value());
        }
        c.next();
        if (c.valid()) std::push_heap(heap.begin(), heap.end(), later);
        else heap.pop_back();
    }
    return out.finish();
}

bool find(const Segment &s, const std::string &key, std::string &value) {
    if (!s.bloom->may_contain(hash_key(key))) return false;
    auto it = std::upper_bound(s.blocks.begin(), s.blocks.end(), key,
                               [](const std::string &k, const Block &b) { return k < b.first_key; });
    if (it == s.blocks.begin()) return false;
    size_t at = static_cast<size_t>(it - s.blocks.begin()) - 1;
    for (Cursor c(s, 0, at); c.valid() && c.block() == at; c.next()) {
        int o = c.key().compare(key);
        if (o == 0) { value = c.value(); return true; }
        if (o > 0) return false;
    }
    return false;
}

std::string make_key(uint32_t n) {
    char b[48];
    std::snprintf(b, sizeof b, "tenant%03u/object/%010u", n % 40, n * 2654435761u);
    return b;
}

}  // namespace

int main() {
    std::mt19937 rng(99);
    constexpr uint32_t kKeys = 900000;
    std::vector<Segment> runs;
    for (int r = 0; r < 12; ++r) {
        std::vector<std::pair<std::string, std::string>> mem;
        mem.reserve(260000);
        for (int i = 0; i < 260000; ++i)
            mem.emplace_back(make_key(rng() % kKeys), rng() % 10 == 0 ? "" : std::string(20 + rng() % 40, char('a' + r)));
        std::stable_sort(mem.begin(), mem.end(), [](auto &a, auto &b) { return a.first < b.first; });
        SegmentWriter w(mem.size());
        for (size_t i = 0; i < mem.size(); ++i)
            if (i + 1 == mem.size() || mem[i].first != mem[i + 1].first) w.add(mem[i].first, mem[i].second);
        runs.push_back(w.finish());
    }
    Segment merged = compact(runs);
    uint64_t found = 0, bytes = 0;
    std::string value;
    for (int i = 0; i < 400000; ++i)
        if (find(merged, make_key(rng() % (2 * kKeys)), value)) { ++found; bytes += value.size(); }
    std::printf("runs %zu merged entries %zu blocks %zu found %llu bytes %llu\n", runs.size(), merged.entries,
                merged.blocks.size(), static_cast<unsigned long long>(found), static_cast<unsigned long long>(bytes));
    return 0;
}
