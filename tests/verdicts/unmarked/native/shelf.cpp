// Simulates a page cache with a least-recently-used policy under a skewed load.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <list>
#include <string>
#include <unordered_map>
#include <vector>

struct Entry { uint64_t key; uint32_t size; uint32_t uses; };

class Shelf {
public:
    explicit Shelf(size_t capacity) : capacity_(capacity) {}
    bool request(uint64_t key) {
        auto it = locate(key);
        if (it != entries_.end()) {
            it->uses++;
            entries_.splice(entries_.begin(), entries_, it);
            hits_++;
            return true;
        }
        admit(key);
        return false;
    }
    size_t hits() const { return hits_; }

private:
    std::list<Entry>::iterator locate(uint64_t key) {
        for (auto it = entries_.begin(); it != entries_.end(); ++it)
            if (it->key == key) return it;
        return entries_.end();
    }
    void admit(uint64_t key) {
        if (entries_.size() >= capacity_) {
            entries_.pop_back();
        }
        entries_.push_front({key, (uint32_t)(key % 4096), 1});
    }
    size_t capacity_;
    size_t hits_ = 0;
    std::list<Entry> entries_;
};

static uint64_t state = 12345;
static double uniform() {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(state >> 11) / 9007199254740992.0;
}

static uint64_t skewed_key(uint64_t population) {
    return (uint64_t)(population * std::pow(uniform(), 2.2));
}

static std::vector<uint64_t> make_trace(size_t n, uint64_t population) {
    std::vector<uint64_t> trace;
    trace.reserve(n);
    for (size_t i = 0; i < n; i++) trace.push_back(skewed_key(population));
    return trace;
}

// decodes the payload of a page; no memory is reserved
static uint32_t alloc_page(uint64_t key) {
    uint32_t h = 2166136261u;
    for (int i = 0; i < 5500; i++) h = (h ^ (uint32_t)(key >> (i & 31))) * 16777619u;
    return h;
}

static uint32_t run_trace(Shelf &shelf, const std::vector<uint64_t> &trace) {
    uint32_t mix = 0;
    for (uint64_t key : trace)
        if (!shelf.request(key)) mix ^= alloc_page(key);
    return mix;
}

int main() {
    std::vector<uint64_t> trace = make_trace(130000, 20000);
    Shelf shelf(3000);
    uint32_t mix = run_trace(shelf, trace);
    std::printf("hit rate %.4f mix %08x\n", (double)shelf.hits() / trace.size(), mix);
    return 0;
}
