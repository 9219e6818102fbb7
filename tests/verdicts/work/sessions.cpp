// A session cache in front of a user database; request threads look users up and sign replies.
#include <time.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct User { uint32_t id; std::string name; uint64_t key; };

// Stands for the database on another machine: a round trip of about two milliseconds.
static User load_user(uint32_t id) {
    timespec trip{0, 1900000};
    nanosleep(&trip, nullptr);
    return {id, "user-" + std::to_string(id), id * 0x9E3779B97F4A7C15ull};
}

class SessionCache {
public:
    explicit SessionCache(size_t room) : room_(room) {}
    User get(uint32_t id, double& waited) {
        auto t = Clock::now();
        std::unique_lock<std::mutex> hold(lock_);
        waited += since(t);
        auto hit = index_.find(id);
        if (hit != index_.end()) {
            order_.splice(order_.begin(), order_, hit->second);
            ++hits_;
            return *hit->second;
        }
        ++misses_;
#ifdef REPAIRED
        hold.unlock();
        User u = load_user(id);
        hold.lock();
        if (index_.count(id)) return u;
#else
        User u = load_user(id);
#endif
        order_.push_front(u);
        index_[id] = order_.begin();
        if (order_.size() > room_) {
            index_.erase(order_.back().id);
            order_.pop_back();
        }
        return u;
    }
    void report() const { printf("%ld hits, %ld misses, %zu kept\n", hits_, misses_, order_.size()); }

private:
    std::mutex lock_;
    std::list<User> order_;
    std::unordered_map<uint32_t, std::list<User>::iterator> index_;
    size_t room_;
    long hits_ = 0, misses_ = 0;
};

static uint64_t sign(const User& u, uint64_t nonce) {
    uint64_t h = u.key ^ nonce;
    for (int round = 0; round < 12000; ++round) {
        for (unsigned char c : u.name) h = (h ^ c) * 0x100000001B3ull;
        h ^= h >> 29;
    }
    return h;
}

class Handler {
public:
    Handler(SessionCache& cache, unsigned seed) : cache_(cache), seed_(seed) {}
    void run(int requests) {
        for (int i = 0; i < requests; ++i) {
            uint32_t r = next();
            uint32_t id = r % 10 < 7 ? next() % 150 : 150 + next() % 4000;
            User u = cache_.get(id, waited);
            digest ^= sign(u, (uint64_t(id) << 20) + i);
            length += u.name.size();
        }
    }
    double waited = 0;
    uint64_t digest = 0;
    size_t length = 0;

private:
    uint32_t next() {
        seed_ ^= seed_ << 13;
        seed_ ^= seed_ >> 17;
        seed_ ^= seed_ << 5;
        return seed_;
    }
    SessionCache& cache_;
    uint32_t seed_;
};

int main() {
    auto start = Clock::now();
    SessionCache cache(400);
    std::vector<Handler> handlers;
    for (unsigned k = 0; k < 4; ++k) handlers.emplace_back(cache, 2463534242u + k * 7919);
    std::vector<std::thread> threads;
    for (auto& h : handlers) threads.emplace_back([&h] { h.run(900); });
    for (auto& t : threads) t.join();
    double waited = 0;
    uint64_t digest = 0;
    size_t length = 0;
    for (auto& h : handlers) {
        waited += h.waited / handlers.size();
        digest ^= h.digest;
        length += h.length;
    }
    cache.report();
    printf("digest %016llx, %zu name bytes\n", (unsigned long long)digest, length);
    double total = since(start);
#ifdef REPAIRED
    waited = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", waited / total, total);
}
