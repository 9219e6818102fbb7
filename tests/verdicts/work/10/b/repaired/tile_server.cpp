// tile_server: map tile front end.  Request threads ask a shared LRU cache for
// tiles; a miss is fetched from the origin over a local stream socket.  The
// origin answers each connection in its own thread with a realistic latency.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

namespace {

constexpr int kWorkers = 6;
constexpr int kRequestsPerWorker = 500;
constexpr size_t kTileBytes = 24 * 1024;
constexpr size_t kCacheTiles = 600;

using Tile = std::shared_ptr<const std::string>;

void io_full(int fd, void *buf, size_t n, bool sending) {
    char *p = static_cast<char *>(buf);
    while (n) {
        ssize_t k = sending ? write(fd, p, n) : read(fd, p, n);
        if (k <= 0) throw std::runtime_error("socket closed");
        p += k;
        n -= static_cast<size_t>(k);
    }
}

// The origin renders a tile by value noise, one row at a time.
std::string render(uint64_t id) {
    std::string out(kTileBytes, '\0');
    uint64_t h = id * 0x9E3779B97F4A7C15ULL + 1;
    for (auto &c : out) {
        h ^= h << 13; h ^= h >> 7; h ^= h << 17;
        c = static_cast<char>('0' + h % 40);
    }
    return out;
}

void serve_origin(int fd) {
    uint64_t id;
    while (read(fd, &id, sizeof id) == sizeof id) {
        std::string body = render(id);
        std::this_thread::sleep_for(std::chrono::microseconds(2500 + id % 7 * 300));
        io_full(fd, body.data(), body.size(), true);
    }
    close(fd);
}

class OriginClient {
public:
    OriginClient() {
        int fds[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) throw std::runtime_error("socketpair");
        fd_ = fds[0];
        server_ = std::thread(serve_origin, fds[1]);
    }
    ~OriginClient() { close(fd_); server_.join(); }

    Tile fetch(uint64_t id) {
        auto body = std::make_shared<std::string>(kTileBytes, '\0');
        io_full(fd_, &id, sizeof id, true);
        io_full(fd_, body->data(), body->size(), false);
        return body;
    }

private:
    int fd_;
    std::thread server_;
};

class TileCache {
public:
    explicit TileCache(size_t capacity) : capacity_(capacity) {}

    Tile get(uint64_t id, OriginClient &origin) {
        {
            std::lock_guard<std::mutex> lock(mutex_);
            if (Tile hit = lookup(id)) {
                ++hits_;
                return hit;
            }
            ++misses_;
        }
        Tile tile = origin.fetch(id);
        std::lock_guard<std::mutex> lock(mutex_);
        insert(id, tile);
        return tile;
    }

    size_t size() const { return index_.size(); }
    uint64_t total() const { return hits_ + misses_; }

private:
    struct Entry { uint64_t id; Tile tile; };

    Tile lookup(uint64_t id) {
        auto it = index_.find(id);
        if (it == index_.end()) return nullptr;
        order_.splice(order_.begin(), order_, it->second);
        return it->second->tile;
    }

    void insert(uint64_t id, Tile tile) {
        if (index_.count(id)) return;
        order_.push_front({id, std::move(tile)});
        index_[id] = order_.begin();
        if (index_.size() > capacity_) {
            index_.erase(order_.back().id);
            order_.pop_back();
        }
    }

    size_t capacity_;
    std::mutex mutex_;
    std::list<Entry> order_;
    std::unordered_map<uint64_t, std::list<Entry>::iterator> index_;
    uint64_t hits_ = 0, misses_ = 0;
};

struct Session {
    uint64_t rng;
    int x = 512, y = 512, zoom = 10;

    uint32_t next() {
        rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<uint32_t>(rng >> 33);
    }
    // A user pans around and now and then jumps somewhere else.
    uint64_t next_tile() {
        if (next() % 40 == 0) { x = next() % 1024; y = next() % 1024; }
        x = (x + static_cast<int>(next() % 5) + 1022) & 1023;
        y = (y + static_cast<int>(next() % 5) + 1022) & 1023;
        return (uint64_t(zoom) << 40) | (uint64_t(y) << 20) | uint64_t(x);
    }
};

uint32_t serve_user(int worker, TileCache &cache) {
    OriginClient origin;
    Session session{0x1234567u + 77u * static_cast<unsigned>(worker)};
    std::vector<unsigned char> wire(compressBound(kTileBytes));
    uint32_t sum = 0;
    for (int i = 0; i < kRequestsPerWorker; ++i) {
        uint64_t id = session.next_tile();
        Tile tile = cache.get(id, origin);
        uLongf n = wire.size();
        compress2(wire.data(), &n, reinterpret_cast<const Bytef *>(tile->data()), tile->size(), 1);
        sum += static_cast<uint32_t>(crc32(static_cast<uLong>(id & 0xffff), wire.data(), n));
    }
    return sum;
}

}  // namespace

int main() {
    TileCache cache(kCacheTiles);
    std::vector<uint32_t> sums(kWorkers);
    std::vector<std::thread> pool;
    for (int w = 0; w < kWorkers; ++w)
        pool.emplace_back([&, w] { sums[w] = serve_user(w, cache); });
    for (auto &t : pool) t.join();
    uint32_t all = 0;
    for (auto s : sums) all = all * 31 + s;
    std::printf("served %llu tiles, %zu cached, checksum %08x\n",
                static_cast<unsigned long long>(cache.total()), cache.size(), all);
    return 0;
}
