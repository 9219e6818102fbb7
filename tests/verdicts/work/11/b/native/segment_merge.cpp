// Log-structured store: sorted segments of compressed blocks with checksums
// are written, merged into one by a heap, and read back once to verify.
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <queue>
#include <random>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr int kSegments = 15;
constexpr int kRecords = 60000;
constexpr uint64_t kKeys = 700000;
constexpr size_t kBlock = 16384;

struct Record {
    uint64_t key;
    uint32_t version;
    std::string value;
};

struct BlockEntry {
    long offset;
    uint32_t packed, raw, crc;
};

[[noreturn]] void fail(const char *what)
{
    std::perror(what), std::exit(1);
}

FILE *open_file(const std::string &path, const char *mode)
{
    FILE *f = std::fopen(path.c_str(), mode);
    if (!f)
        fail(path.c_str());
    return f;
}

class Writer {
public:
    explicit Writer(const std::string &path) : file_(open_file(path, "wb")) {}

    void add(const Record &r)
    {
        uint32_t head[2] = {r.version, uint32_t(r.value.size())};
        append(&r.key, sizeof r.key), append(head, sizeof head), append(r.value.data(), r.value.size());
        if (raw_.size() >= kBlock)
            flush();
    }

    std::vector<BlockEntry> finish()
    {
        flush();
        std::fclose(file_);
        return std::move(index_);
    }

private:
    FILE *file_;
    std::vector<unsigned char> raw_, packed_;
    std::vector<BlockEntry> index_;
    long offset_ = 0;

    void append(const void *data, size_t n)
    {
        auto p = static_cast<const unsigned char *>(data);
        raw_.insert(raw_.end(), p, p + n);
    }

    void flush()
    {
        if (raw_.empty())
            return;
        uLongf size = compressBound(uLong(raw_.size()));
        packed_.resize(size);
        if (compress2(packed_.data(), &size, raw_.data(), uLong(raw_.size()), 6) != Z_OK)
            fail("compress2");
        if (std::fwrite(packed_.data(), 1, size, file_) != size)
            fail("write");
        uint32_t crc = uint32_t(crc32(0, packed_.data(), uInt(size)));
        index_.push_back({offset_, uint32_t(size), uint32_t(raw_.size()), crc});
        offset_ += long(size);
        raw_.clear();
    }
};

class Segment {
public:
    Segment(const std::string &path, std::vector<BlockEntry> index) : file_(open_file(path, "rb")), index_(std::move(index)) {}
    ~Segment() { std::fclose(file_); }
    size_t blocks() const { return index_.size(); }

    std::vector<Record> load(size_t block)
    {
        const BlockEntry &e = index_[block];
        packed_.resize(e.packed), raw_.resize(e.raw);
        if (std::fseek(file_, e.offset, SEEK_SET) || std::fread(packed_.data(), 1, e.packed, file_) != e.packed)
            fail("read");
        uLongf size = e.raw;
        if (crc32(0, packed_.data(), e.packed) != e.crc ||
            uncompress(raw_.data(), &size, packed_.data(), e.packed) != Z_OK)
            fail("block");
        std::vector<Record> out;
        for (size_t at = 0; at < size;) {
            uint64_t key;
            uint32_t head[2];
            std::memcpy(&key, &raw_[at], 8), std::memcpy(head, &raw_[at + 8], 8);
            out.push_back({key, head[0], std::string(reinterpret_cast<char *>(&raw_[at + 16]), head[1])});
            at += 16 + head[1];
        }
        return out;
    }

private:
    FILE *file_;
    std::vector<BlockEntry> index_;
    std::vector<unsigned char> packed_, raw_;
};

struct Cursor {
    Segment *segment;
    size_t block = 0, at = 0;
    std::vector<Record> records;

    bool settle()
    {
        while (at == records.size()) {
            if (block == segment->blocks())
                return false;
            records = segment->load(block++), at = 0;
        }
        return true;
    }
    const Record &top() const { return records[at]; }
};

struct Later {
    bool operator()(const Cursor *a, const Cursor *b) const
    {
        const Record &x = a->top(), &y = b->top();
        return x.key != y.key ? x.key > y.key : x.version < y.version;
    }
};

bool newer_first(const Record &a, const Record &b) { return a.key != b.key ? a.key < b.key : a.version > b.version; }
bool same_key(const Record &a, const Record &b) { return a.key == b.key; }

std::vector<Record> make_records(int segment)
{
    static const char *words[] = {"order", "paid", "ship", "customer", "eu-west", "retry", "amount", "note", "pending"};
    std::mt19937 rng(uint32_t(900 + segment));
    std::vector<Record> out;
    for (int i = 0; i < kRecords; ++i) {
        Record r{rng() % kKeys, uint32_t(segment * kRecords + i), "{"};
        for (int w = 0; w < 8; ++w)
            r.value += std::string(words[rng() % 9]) + ":" + std::to_string(rng() % 5000) + ",";
        out.push_back(std::move(r));
    }
    std::sort(out.begin(), out.end(), newer_first);
    out.erase(std::unique(out.begin(), out.end(), same_key), out.end());
    return out;
}

} // namespace

int main()
{
    char dir[] = "/tmp/segments-XXXXXX";
    if (!mkdtemp(dir)) fail("mkdtemp");
    std::vector<std::string> paths;
    std::deque<Segment> segments;
    for (int s = 0; s < kSegments; ++s) {
        paths.push_back(std::string(dir) + "/" + std::to_string(s) + ".seg");
        Writer w(paths.back());
        for (const Record &r : make_records(s))
            w.add(r);
        segments.emplace_back(paths.back(), w.finish());
    }
    std::vector<Cursor> cursors(kSegments);
    std::priority_queue<Cursor *, std::vector<Cursor *>, Later> heap;
    for (int s = 0; s < kSegments; ++s) {
        cursors[size_t(s)].segment = &segments[size_t(s)];
        if (cursors[size_t(s)].settle())
            heap.push(&cursors[size_t(s)]);
    }
    paths.push_back(std::string(dir) + "/merged.seg");
    Writer merged(paths.back());
    uint64_t last = ~0ull, kept = 0, dropped = 0;
    while (!heap.empty()) {
        Cursor *c = heap.top();
        heap.pop();
        bool newest = c->top().key != last;
        if (newest)
            merged.add(c->top());
        last = c->top().key;
        ++(newest ? kept : dropped);
        ++c->at;
        if (c->settle())
            heap.push(c);
    }
    Segment store(paths.back(), merged.finish());
    uint64_t digest = 0;
    for (size_t b = 0; b < store.blocks(); ++b)
        for (const Record &r : store.load(b))
            digest = digest * 1000003 + (r.key ^ r.version) + r.value.size();
    std::filesystem::remove_all(dir);
    std::printf("kept %llu dropped %llu blocks %zu\n", (unsigned long long)kept, (unsigned long long)dropped, store.blocks());
    std::printf("digest %016llx\n", (unsigned long long)digest);
    return 0;
}
