// Replays a synthetic exchange session through an order book and a quoting signal.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <vector>
#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

enum class Side { Bid, Ask };

struct Event {
    Side side;
    int32_t price;
    int32_t delta;
    uint32_t order_id;
};

struct Level {
    int32_t price;
    int32_t quantity;
    uint32_t orders;
    uint32_t last_order;
    double notional;
};

class OrderBook {
public:
    OrderBook() {
        bids_.reserve(1024);
        asks_.reserve(1024);
    }

    void apply(const Event& e) {
        auto& levels = e.side == Side::Bid ? bids_ : asks_;
        auto it = std::lower_bound(levels.begin(), levels.end(), e, [](const Level& l, const Event& ev) {
            return ev.side == Side::Bid ? l.price > ev.price : l.price < ev.price;
        });
        if (it != levels.end() && it->price == e.price) {
            it->quantity += e.delta;
            it->orders += e.delta > 0 ? 1 : 0;
            it->last_order = e.order_id;
            it->notional = double(it->quantity) * e.price;
            if (it->quantity <= 0) levels.erase(it);
        } else if (e.delta > 0) {
            levels.insert(it, Level{e.price, e.delta, 1, e.order_id, double(e.delta) * e.price});
        }
    }

    std::vector<Level> side(Side s) const { return s == Side::Bid ? bids_ : asks_; }

private:
    std::vector<Level> bids_;
    std::vector<Level> asks_;
};

class Signal {
public:
    void observe(const OrderBook& book) {
        double bid = pressure(book, Side::Bid);
        double ask = pressure(book, Side::Ask);
        double raw = (bid - ask) / (bid + ask + 1.0);
        fast_ += 0.05 * (raw - fast_);
        slow_ += 0.002 * (raw - slow_);
        double z = std::tanh(8.0 * (fast_ - slow_));
        var_ += 0.001 * (z * z - var_);
        if (z > 2.0 * std::sqrt(var_ + 1e-9)) ++buys_;
        if (z < -2.0 * std::sqrt(var_ + 1e-9)) ++sells_;
    }
    uint64_t buys() const { return buys_; }
    uint64_t sells() const { return sells_; }
    double level() const { return slow_; }

private:
    static double pressure(const OrderBook& book, Side s) {
        const auto levels = book.side(s);
        double total = 0, weight = 1;
        size_t n = std::min<size_t>(levels.size(), 12);
        for (size_t i = 0; i < n; ++i) {
            total += weight * std::log1p(levels[i].quantity);
            weight *= 0.8;
        }
        return total;
    }
    double fast_ = 0, slow_ = 0, var_ = 0.1;
    uint64_t buys_ = 0, sells_ = 0;
};

class Feed {
public:
    explicit Feed(uint32_t seed) : rng_(seed) {}
    void fill(std::vector<Event>& out, size_t n) {
        out.clear();
        for (size_t i = 0; i < n; ++i) {
            uint32_t r = rng_();
            Side s = (r & 1) ? Side::Bid : Side::Ask;
            uint32_t a = (r >> 1) & 511, b = (r >> 10) & 511;
            int32_t offset = 1 + int32_t(std::min(a, b));
            int32_t price = s == Side::Bid ? mid_ - offset : mid_ + offset;
            int32_t qty = 1 + int32_t((r >> 20) & 63);
            if (((r >> 26) & 3) == 0) qty = -qty * 3;
            out.push_back({s, price, qty, next_id_++});
        }
    }

private:
    std::mt19937 rng_;
    int32_t mid_ = 100000;
    uint32_t next_id_ = 1;
};

int main() {
    Feed feed(7);
    OrderBook book;
    Signal signal;
    std::vector<Event> events;
    for (int slice = 0; slice < 900; ++slice) {
        DWELL_STEP();
        feed.fill(events, 12000);
        for (const Event& e : events) {
            book.apply(e);
            signal.observe(book);
        }
    }
    std::printf("buys %llu sells %llu level %.6f\n", (unsigned long long)signal.buys(),
                (unsigned long long)signal.sells(), signal.level());
    return 0;
}
