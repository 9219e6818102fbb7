// A job server: clients hand in documents to fingerprint, worker threads do the jobs in the background.
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Digest { uint64_t whole = 0; std::vector<uint32_t> shingles; };

// SipHash-like mixing of the bytes, and the lowest hash of every block of rolling windows.
static Digest fingerprint(const std::string& text) {
    Digest d;
    uint64_t v0 = 0x736f6d6570736575ull, v1 = 0x646f72616e646f6dull;
    auto turn = [](uint64_t v, int n) { return v << n | v >> (64 - n); };
    for (unsigned char c : text) {
        v0 += c;
        v1 = turn(v1, 13) ^ v0;
        v0 = turn(v0, 32) + v1;
        v1 = turn(v1, 17) ^ v0;
        v0 = turn(v0, 21) + v1;
    }
    d.whole = v0 ^ v1;
    const size_t window = 16, block = 256;
    const uint32_t factor = 16777619u;
    uint32_t out = 1, h = 0, low = UINT32_MAX;
    for (size_t i = 0; i < window; ++i) out *= factor;
    for (size_t i = 0; i < text.size(); ++i) {
        h = h * factor + uint8_t(text[i]);
        if (i >= window) h -= out * uint8_t(text[i - window]);
        uint32_t mixed = (h ^ h >> 15) * 2246822519u;
        if (i + 1 >= window && mixed < low) low = mixed;
        if (i % block == block - 1) {
            d.shingles.push_back(low);
            low = UINT32_MAX;
        }
    }
    return d;
}

class Server {
public:
    explicit Server(int workers) {
        for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
    }
    ~Server() {
        {
            std::lock_guard<std::mutex> hold(lock_);
            closing_ = true;
        }
        changed_.notify_all();
        for (auto& t : threads_) t.join();
    }
    std::future<Digest> submit(std::string text) {
        std::packaged_task<Digest()> job([text = std::move(text)] { return fingerprint(text); });
        auto result = job.get_future();
        {
            std::lock_guard<std::mutex> hold(lock_);
            jobs_.push_back(std::move(job));
        }
        changed_.notify_one();
        return result;
    }

private:
    void work() {
        for (;;) {
            std::packaged_task<Digest()> job;
            {
                std::unique_lock<std::mutex> hold(lock_);
                changed_.wait(hold, [this] { return closing_ || !jobs_.empty(); });
                if (jobs_.empty()) return;
                job = std::move(jobs_.front());
                jobs_.pop_front();
            }
            job();
        }
    }
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<std::packaged_task<Digest()>> jobs_;
    std::vector<std::thread> threads_;
    bool closing_ = false;
};

// Three families of documents; members of one differ in few places.
static std::string document(int number, size_t size) {
    std::string text(size, ' ');
    uint32_t s = 1000u + number % 3;
    for (char& c : text) {
        s = s * 1664525u + 1013904223u;
        c = char('a' + (s >> 24) % 26);
    }
    for (size_t i = number * 97 % 5000; i < size; i += 5000 + number * 13) text[i] = '#';
    return text;
}

static double likeness(const Digest& a, const Digest& b) {
    size_t same = 0;
    for (size_t i = 0; i < a.shingles.size() && i < b.shingles.size(); ++i) same += a.shingles[i] == b.shingles[i];
    return double(same) / a.shingles.size();
}

int main() {
    auto start = Clock::now();
    uint64_t all = 0;
    int pairs = 0;
    {
        Server server(2);
        for (int batch = 0; batch < 30; ++batch) {
            std::vector<std::future<Digest>> results;
            for (int i = 0; i < 400; ++i) results.push_back(server.submit(document(batch * 400 + i, 60000)));
            std::vector<Digest> digests;
            for (auto& r : results) digests.push_back(r.get());
            for (size_t i = 0; i < digests.size(); ++i) {
                all ^= digests[i].whole;
                for (size_t j = i < 20 ? 0 : i - 20; j < i; ++j) pairs += likeness(digests[i], digests[j]) > 0.8;
            }
            if (batch % 6 == 5) printf("batch %d: digest %016llx, %d alike\n", batch + 1, (unsigned long long)all, pairs);
        }
    }
    printf("TRUTH {\"share\": 0, \"seconds\": %.1f}\n", since(start));
}
