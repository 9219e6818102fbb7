// segment_compact - merges the sorted segment files of a small log-structured
// store into one, dropping overwritten and deleted keys.  The output consists
// of compressed blocks with an index of their first keys.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <queue>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <dwell/probe.h>

namespace {

constexpr int kSegments = 6;
constexpr int kKeysPerSegment = 480000;
constexpr uint64_t kKeySpace = 2000000;
constexpr size_t kBlockBytes = 8192;
constexpr size_t kBatch = 2000;         // records between two index checkpoints

struct Record {
    uint64_t key = 0;
    bool tombstone = false;
    std::string value;
};

void put_varint(std::string& out, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        out.push_back(static_cast<char>(v | 0x80));
    out.push_back(static_cast<char>(v));
}

// Record: varint key delta, varint (length << 1 | tombstone), value.
void put_record(std::string& out, uint64_t delta, const Record& r)
{
    put_varint(out, delta);
    put_varint(out, r.value.size() << 1 | (r.tombstone ? 1 : 0));
    out += r.value;
}

class SegmentReader {
public:
    explicit SegmentReader(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY))
    {
        if (fd_ < 0)
            throw std::runtime_error("cannot open " + path);
    }
    ~SegmentReader() { ::close(fd_); }
    SegmentReader(const SegmentReader&) = delete;
    SegmentReader& operator=(const SegmentReader&) = delete;

    bool next(Record& r)
    {
        uint64_t delta, head;
        if (!varint(delta))
            return false;
        if (!varint(head))
            throw std::runtime_error("truncated segment");
        r.key += delta;
        r.tombstone = head & 1;
        r.value.resize(head >> 1);
        if (fetch(r.value.data(), r.value.size()) != r.value.size())
            throw std::runtime_error("truncated segment");
        return true;
    }

private:
    bool varint(uint64_t& v)
    {
        v = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            unsigned char b;
            if (fetch(&b, 1) != 1)
                return false;
            v |= static_cast<uint64_t>(b & 0x7f) << shift;
            if (b < 0x80)
                return true;
        }
        throw std::runtime_error("bad varint");
    }

    size_t fetch(void* to, size_t n)
    {
        size_t got = 0;
        while (got < n) {
            if (at_ == end_) {
                ssize_t k = ::read(fd_, buffer_.data(), buffer_.size());
                if (k < 0)
                    throw std::runtime_error("read");
                if (k == 0)
                    break;
                at_ = 0;
                end_ = static_cast<size_t>(k);
            }
            size_t k = std::min(n - got, end_ - at_);
            std::memcpy(static_cast<char*>(to) + got, buffer_.data() + at_, k);
            at_ += k;
            got += k;
        }
        return got;
    }

    int fd_;
    std::vector<char> buffer_ = std::vector<char>(1 << 16);
    size_t at_ = 0, end_ = 0;
};

class BlockWriter {
public:
    void append(const Record& r)
    {
        if (raw_.empty())
            first_ = last_ = r.key;
        put_record(raw_, r.key - last_, r);
        last_ = r.key;
        records_++;
        if (raw_.size() >= kBlockBytes)
            flush();
    }

    void flush()
    {
        if (raw_.empty())
            return;
        uLongf n = compressBound(raw_.size());
        packed_.resize(n);
        if (compress2(reinterpret_cast<Bytef*>(packed_.data()), &n,
                      reinterpret_cast<const Bytef*>(raw_.data()), raw_.size(), 4) != Z_OK)
            throw std::runtime_error("compress");
        index_.push_back({first_, data_.size(), n, raw_.size()});
        data_.append(packed_, 0, n);
        raw_.clear();
    }

    size_t records() const { return records_; }
    size_t blocks() const { return index_.size(); }
    size_t bytes() const { return data_.size(); }

    uint32_t checksum() const
    {
        return static_cast<uint32_t>(
            crc32(0, reinterpret_cast<const Bytef*>(data_.data()), static_cast<uInt>(data_.size())));
    }

private:
    struct Entry {
        uint64_t first;
        size_t offset, packed, raw;
    };
    std::string data_, raw_, packed_;
    std::vector<Entry> index_;
    uint64_t first_ = 0, last_ = 0;
    size_t records_ = 0;
};

std::string write_segment(const std::string& dir, int generation)
{
    static const char* const kState[] = {"active", "suspended", "closed", "review"};
    std::mt19937_64 rng(7001 + generation);
    std::vector<uint64_t> keys(kKeysPerSegment);
    for (auto& k : keys)
        k = (rng() % kKeySpace) * 1024 + 17;
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    std::string out;
    uint64_t last = 0;
    Record r;
    for (uint64_t k : keys) {
        r.tombstone = generation > 0 && rng() % 20 == 0;
        r.value.clear();
        if (!r.tombstone)
            r.value = std::string(kState[rng() % 4]) + ':' + std::to_string(rng() % 1000000);
        put_record(out, k - last, r);
        last = k;
    }
    const std::string path = dir + "/" + std::to_string(generation) + ".seg";
    std::FILE* f = std::fopen(path.c_str(), "wb");
    if (!f || std::fwrite(out.data(), 1, out.size(), f) != out.size() || std::fclose(f))
        throw std::runtime_error("cannot write " + path);
    return path;
}

// K-way merge; of records with equal keys the newest comes first.
class Merger {
public:
    explicit Merger(const std::vector<std::string>& paths)
    {
        for (const auto& p : paths) {
            inputs_.push_back({std::make_unique<SegmentReader>(p), {}});
            advance(inputs_.size() - 1);
        }
    }

    bool next(Record& r)
    {
        while (!heap_.empty()) {
            const auto [key, i] = heap_.top();
            heap_.pop();
            const bool stale = started_ && key == last_;
            const bool live = !stale && !inputs_[i].head.tombstone;
            if (live) {
                r.key = key;
                r.value = inputs_[i].head.value;
            }
            started_ = true;
            last_ = key;
            advance(i);
            if (live)
                return true;
        }
        return false;
    }

private:
    struct Input {
        std::unique_ptr<SegmentReader> reader;
        Record head;
    };
    struct Head {
        uint64_t key;
        size_t segment;
        bool operator<(const Head& o) const
        {
            return key != o.key ? key > o.key : segment < o.segment;
        }
    };

    void advance(size_t i)
    {
        if (inputs_[i].reader->next(inputs_[i].head))
            heap_.push({inputs_[i].head.key, i});
    }

    std::vector<Input> inputs_;
    std::priority_queue<Head> heap_;
    uint64_t last_ = 0;
    bool started_ = false;
};

}  // namespace

int main()
{
    char dir[] = "/tmp/segments-XXXXXX";
    if (!mkdtemp(dir))
        return 1;
    std::vector<std::string> paths;
    for (int g = 0; g < kSegments; g++)
        paths.push_back(write_segment(dir, g));

    BlockWriter writer;
    std::vector<size_t> checkpoints;
    {
        Merger merger(paths);
        Record r;
        bool more = true;
        while (more) {
            DWELL_STEP();
            for (size_t i = 0; i < kBatch && (more = merger.next(r)); i++)
                writer.append(r);
            checkpoints.push_back(writer.blocks());
        }
    }
    writer.flush();
    for (const auto& p : paths)
        ::unlink(p.c_str());
    ::rmdir(dir);
    std::printf("%zu records in %zu blocks, %zu bytes, crc %08x, %zu checkpoints\n",
                writer.records(), writer.blocks(), writer.bytes(), writer.checksum(),
                checkpoints.size());
    return writer.records() > 0 ? 0 : 1;
}
