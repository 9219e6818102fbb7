// Compaction of a log-structured key-value store: several sorted runs with
// overlapping keys are merged, superseded versions and tombstones dropped,
// and the result is written as compressed blocks with an index of first keys.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <queue>
#include <random>
#include <string>
#include <string_view>
#include <vector>
#include <zlib.h>

namespace {

constexpr int kRuns = 12;
constexpr int kEntriesPerRun = 350000;
constexpr uint32_t kKeySpace = 1600000;
constexpr size_t kBlockTarget = 32 * 1024;

struct Block {
    std::string first_key;
    std::vector<unsigned char> packed;
    uint32_t plain = 0, crc = 0;
};

struct Table {
    std::vector<Block> blocks;
    uint64_t entries = 0, plain_bytes = 0, packed_bytes = 0;
};

void put_varint(std::string& out, uint32_t v) {
    while (v >= 0x80) {
        out.push_back(char(v | 0x80));
        v >>= 7;
    }
    out.push_back(char(v));
}

uint32_t get_varint(const unsigned char*& p) {
    uint32_t v = 0;
    for (int shift = 0;; shift += 7) {
        const unsigned char b = *p++;
        v |= uint32_t(b & 0x7f) << shift;
        if (!(b & 0x80)) return v;
    }
}

class TableWriter {
public:
    void add(std::string_view key, std::string_view value, bool tombstone) {
        if (block_.empty()) first_.assign(key), last_.clear();
        size_t shared = 0;
        const size_t most = std::min(key.size(), last_.size());
        while (shared < most && key[shared] == last_[shared]) ++shared;
        put_varint(block_, uint32_t(shared));
        put_varint(block_, uint32_t(key.size() - shared));
        put_varint(block_, uint32_t(value.size() << 1 | (tombstone ? 1 : 0)));
        block_.append(key.substr(shared));
        block_.append(value);
        last_.assign(key);
        ++table_.entries;
        if (block_.size() >= kBlockTarget) flush();
    }

    Table finish() {
        if (!block_.empty()) flush();
        return std::move(table_);
    }

private:
    void flush() {
        Block b;
        b.first_key = first_;
        b.plain = uint32_t(block_.size());
        uLongf room = compressBound(block_.size());
        scratch_.resize(room);
        compress2(scratch_.data(), &room, reinterpret_cast<const Bytef*>(block_.data()), block_.size(), 3);
        b.packed.assign(scratch_.begin(), scratch_.begin() + long(room));
        b.crc = uint32_t(crc32(0, b.packed.data(), uInt(room)));
        table_.plain_bytes += b.plain;
        table_.packed_bytes += room;
        table_.blocks.push_back(std::move(b));
        block_.clear();
    }

    Table table_;
    std::string block_, first_, last_;
    std::vector<unsigned char> scratch_;
};

class TableReader {
public:
    explicit TableReader(const Table& table) : table_(table) { next(); }
    bool valid() const { return valid_; }
    const std::string& key() const { return key_; }
    std::string_view value() const { return value_; }
    bool tombstone() const { return tombstone_; }

    void next() {
        if (at_ == end_ && !load()) {
            valid_ = false;
            return;
        }
        const uint32_t shared = get_varint(at_), rest = get_varint(at_), size = get_varint(at_);
        key_.resize(shared);
        key_.append(reinterpret_cast<const char*>(at_), rest);
        at_ += rest;
        tombstone_ = size & 1;
        value_ = {reinterpret_cast<const char*>(at_), size >> 1};
        at_ += size >> 1;
    }

private:
    bool load() {
        if (block_ == table_.blocks.size()) return false;
        const Block& b = table_.blocks[block_++];
        if (crc32(0, b.packed.data(), uInt(b.packed.size())) != b.crc) std::abort();
        plain_.resize(b.plain);
        uLongf size = b.plain;
        if (uncompress(plain_.data(), &size, b.packed.data(), b.packed.size()) != Z_OK) std::abort();
        at_ = plain_.data();
        end_ = at_ + size;
        return true;
    }

    const Table& table_;
    size_t block_ = 0;
    std::vector<unsigned char> plain_;
    const unsigned char *at_ = nullptr, *end_ = nullptr;
    std::string key_;
    std::string_view value_;
    bool valid_ = true, tombstone_ = false;
};

Table make_run(int age) {
    std::mt19937 rng(1000 + uint32_t(age));
    std::vector<uint32_t> ids(kEntriesPerRun);
    for (uint32_t& id : ids) id = rng() % kKeySpace;
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    TableWriter writer;
    char key[48], value[160];
    for (uint32_t id : ids) {
        const int k = std::snprintf(key, sizeof key, "tenant/%03u/object/%010u", id / 6000, id);
        const int v = std::snprintf(value, sizeof value, "{\"rev\":%d,\"size\":%u,\"owner\":\"u%04u\",\"etag\":\"%08x%08x\"}", age,
                                    unsigned(rng() % 1000000), unsigned(rng() % 3000), unsigned(rng()), unsigned(rng()));
        const bool dead = rng() % 12 == 0;
        writer.add({key, size_t(k)}, dead ? std::string_view{} : std::string_view{value, size_t(v)}, dead);
    }
    return writer.finish();
}

}  // namespace

int main() {
    std::vector<Table> runs;
    for (int age = 0; age < kRuns; ++age) runs.push_back(make_run(age));

    std::vector<TableReader> readers(runs.begin(), runs.end());
    auto after = [&readers](int a, int b) {
        const int c = readers[a].key().compare(readers[b].key());
        return c != 0 ? c > 0 : a < b;   // the newest version of a key comes first
    };
    std::priority_queue<int, std::vector<int>, decltype(after)> heap(after);
    for (int i = 0; i < kRuns; ++i)
        if (readers[i].valid()) heap.push(i);

    TableWriter writer;
    std::string last;
    uint64_t read = 0, superseded = 0, deleted = 0;
    while (!heap.empty()) {
        const int i = heap.top();
        heap.pop();
        TableReader& r = readers[i];
        ++read;
        if (r.key() == last) {
            ++superseded;
        } else {
            last = r.key();
            if (r.tombstone()) ++deleted;
            else writer.add(r.key(), r.value(), false);
        }
        r.next();
        if (r.valid()) heap.push(i);
    }
    const Table out = writer.finish();
    uint32_t digest = 0;
    for (const Block& b : out.blocks) digest = uint32_t(crc32(digest, b.packed.data(), uInt(b.packed.size())));
    std::printf("read %llu, superseded %llu, deleted %llu, kept %llu in %zu blocks, %.2f MB -> %.2f MB, digest %08x\n",
                (unsigned long long)read, (unsigned long long)superseded, (unsigned long long)deleted,
                (unsigned long long)out.entries, out.blocks.size(), out.plain_bytes / 1e6, out.packed_bytes / 1e6, digest);
    return 0;
}
