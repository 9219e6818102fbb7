// A reader parses access records; an accountant thread keeps per-client totals.
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

struct Record {
    uint32_t client;
    uint32_t status;
    uint32_t size;
    uint32_t millis;
};

class Journal {
public:
    Journal(size_t lines, uint32_t seed) {
        std::mt19937 rng(seed);
        auto draw = [&](unsigned n) { return unsigned(rng() % n); };
        char line[96];
        for (size_t i = 0; i < lines; ++i) {
            int n = std::snprintf(line, sizeof line, "%u GET /v1/object/%u %u %u %u\n", draw(20000),
                                  draw(1000), draw(50) == 0 ? 500u : 200u, draw(60000), draw(900));
            text_.append(line, size_t(n));
        }
    }
    const char* begin() const { return text_.data(); }
    const char* end() const { return text_.data() + text_.size(); }

private:
    std::string text_;
};

class Channel {
public:
    explicit Channel(size_t limit) : limit_(limit) {}
    void send(const Record& r) {
        std::unique_lock<std::mutex> hold(m_);
        room_.wait(hold, [this] { return items_.size() < limit_; });
        items_.push_back(r);
        hold.unlock();
        data_.notify_one();
    }
    bool receive(Record& r) {
        std::unique_lock<std::mutex> hold(m_);
        data_.wait(hold, [this] { return closed_ || !items_.empty(); });
        if (items_.empty()) return false;
        r = items_.front();
        items_.pop_front();
        hold.unlock();
        room_.notify_one();
        return true;
    }
    void close() {
        {
            std::lock_guard<std::mutex> hold(m_);
            closed_ = true;
        }
        data_.notify_all();
    }

private:
    size_t limit_;
    std::mutex m_;
    std::condition_variable room_, data_;
    std::deque<Record> items_;
    bool closed_ = false;
};

class Reader {
public:
    Reader(const Journal& j, Channel& out) : journal_(j), out_(out) {}
    void run() {
        const char* p = journal_.begin();
        while (p < journal_.end()) out_.send(parse(p));
    }

private:
    static uint32_t number(const char*& p) {
        uint32_t v = 0;
        while (*p >= '0' && *p <= '9') v = v * 10 + uint32_t(*p++ - '0');
        ++p;
        return v;
    }
    static Record parse(const char*& p) {
        Record r;
        r.client = number(p);
        while (*p != ' ') ++p;
        ++p;
        while (*p != ' ') ++p;
        ++p;
        r.status = number(p);
        r.size = number(p);
        r.millis = number(p);
        return r;
    }
    const Journal& journal_;
    Channel& out_;
};

struct Totals {
    uint64_t requests = 0, bytes = 0, errors = 0;
    double latency = 0;
    uint32_t histogram[32] = {};
};

class Accountant {
public:
    explicit Accountant(Channel& in) : in_(in) { clients_.reserve(32768); }
    void run() {
        Record r;
        while (in_.receive(r)) account(r);
    }
    void report() const {
        uint64_t requests = 0, bytes = 0, errors = 0;
        double worst = 0;
        for (const auto& kv : clients_) {
            requests += kv.second.requests;
            bytes += kv.second.bytes;
            errors += kv.second.errors;
            worst = kv.second.latency > worst ? kv.second.latency : worst;
        }
        std::printf("clients %zu requests %llu bytes %llu errors %llu worst %.3f\n", clients_.size(),
                    (unsigned long long)requests, (unsigned long long)bytes, (unsigned long long)errors, worst);
    }

private:
    void account(const Record& r) {
        Totals& t = clients_[r.client];
        ++t.requests;
        t.bytes += r.size;
        t.errors += r.status >= 500;
        t.latency += 0.1 * (r.millis - t.latency);
        ++t.histogram[r.millis >> 5 & 31];
    }
    Channel& in_;
    std::unordered_map<uint32_t, Totals> clients_;
};

int main() {
    Journal journal(1000000, 11);
    Channel channel(4096);
    Accountant accountant(channel);
    std::thread consumer([&] { accountant.run(); });
    for (int pass = 0; pass < 20; ++pass) {
        Reader reader(journal, channel);
        reader.run();
    }
    channel.close();
    consumer.join();
    accountant.report();
    return 0;
}
