// Replays a synthetic exchange session through a limit order book and
// publishes a depth-weighted mid price after every message.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <random>
#include <unordered_map>
#include <vector>

#include "dwell.h"

namespace {

constexpr int kBatches = 1200;
constexpr int kMessagesPerBatch = 10000;
constexpr int kDepth = 5;
constexpr int kStartPrice = 10000;
constexpr size_t kOpenOrders = 1600;

enum class Side : uint8_t { Buy, Sell };
enum class Kind : uint8_t { Add, Cancel, Market };

struct Order {
    uint64_t id;
    uint64_t time;
    uint32_t owner;
    int quantity;
};

struct Level {
    std::vector<Order> orders;
    int64_t total = 0;
};

struct Locator {
    int price;
    Side side;
};

struct Message {
    Kind kind;
    Side side;
    int price;
    int quantity;
    uint64_t id;
};

struct Trade {
    int price;
    int quantity;
};

class Book {
public:
    void add(const Message &m, uint64_t now)
    {
        Level &level = m.side == Side::Buy ? bids_[m.price] : asks_[m.price];
        level.orders.push_back({m.id, now, uint32_t(m.id % 97), m.quantity});
        level.total += m.quantity;
        where_[m.id] = {m.price, m.side};
    }

    bool cancel(uint64_t id)
    {
        auto it = where_.find(id);
        if (it == where_.end())
            return false;
        if (it->second.side == Side::Buy)
            remove(bids_, it->second.price, id);
        else
            remove(asks_, it->second.price, id);
        where_.erase(it);
        return true;
    }

    void market(Side side, int quantity, std::vector<Trade> &out)
    {
        if (side == Side::Buy)
            sweep(asks_, quantity, out);
        else
            sweep(bids_, quantity, out);
    }

    double weighted_mid() const
    {
        double bid = side_price(bids_);
        double ask = side_price(asks_);
        return bid == 0 || ask == 0 ? 0 : 0.5 * (bid + ask);
    }

    int best_bid() const { return bids_.empty() ? kStartPrice - 1 : bids_.begin()->first; }
    int best_ask() const { return asks_.empty() ? kStartPrice + 1 : asks_.begin()->first; }
    size_t live() const { return where_.size(); }

private:
    std::map<int, Level, std::greater<int>> bids_;
    std::map<int, Level> asks_;
    std::unordered_map<uint64_t, Locator> where_;

    template <class Levels> static double side_price(const Levels &levels)
    {
        double notional = 0, quantity = 0;
        int seen = 0;
        for (auto [price, level] : levels) {
            notional += double(price) * double(level.total);
            quantity += double(level.total);
            if (++seen == kDepth)
                break;
        }
        return quantity > 0 ? notional / quantity : 0;
    }

    template <class Levels> static void remove(Levels &levels, int price, uint64_t id)
    {
        auto at = levels.find(price);
        if (at == levels.end())
            return;
        Level &level = at->second;
        auto it = std::find_if(level.orders.begin(), level.orders.end(),
                               [id](const Order &o) { return o.id == id; });
        if (it == level.orders.end())
            return;
        level.total -= it->quantity;
        level.orders.erase(it);
        if (level.orders.empty())
            levels.erase(at);
    }

    template <class Levels> void sweep(Levels &levels, int quantity, std::vector<Trade> &out)
    {
        while (quantity > 0 && !levels.empty()) {
            auto at = levels.begin();
            Level &level = at->second;
            size_t used = 0;
            while (quantity > 0 && used < level.orders.size()) {
                Order &o = level.orders[used];
                int fill = std::min(quantity, o.quantity);
                out.push_back({at->first, fill});
                quantity -= fill;
                o.quantity -= fill;
                level.total -= fill;
                if (o.quantity == 0) {
                    where_.erase(o.id);
                    ++used;
                }
            }
            level.orders.erase(level.orders.begin(), level.orders.begin() + long(used));
            if (level.orders.empty())
                levels.erase(at);
        }
    }
};

class Feed {
public:
    explicit Feed(uint32_t seed) : rng_(seed) {}

    Message next(const Book &book)
    {
        uint32_t r = rng_() % 100;
        Side side = rng_() & 1 ? Side::Buy : Side::Sell;
        if (open_.empty() || (open_.size() < kOpenOrders && r < 90)) {
            int away = int(rng_() % 12);
            int price = side == Side::Buy ? book.best_ask() - 1 - away : book.best_bid() + 1 + away;
            open_.push_back(next_id_);
            return {Kind::Add, side, price, int(1 + rng_() % 50), next_id_++};
        }
        if (r < 97) {
            size_t pick = rng_() % open_.size();
            std::swap(open_[pick], open_.back());
            uint64_t id = open_.back();
            open_.pop_back();
            return {Kind::Cancel, side, 0, 0, id};
        }
        return {Kind::Market, side, 0, int(1 + rng_() % 120), 0};
    }

private:
    std::mt19937 rng_;
    std::vector<uint64_t> open_;
    uint64_t next_id_ = 1;
};

} // namespace

int main()
{
    Book book;
    Feed feed(20240611);
    std::vector<Trade> trades;
    int64_t volume = 0, traded = 0, cancelled = 0;
    double drift = 0, last = 0;
    uint64_t now = 0;
    for (int batch = 0; batch < kBatches; ++batch) {
        for (int i = 0; i < kMessagesPerBatch; ++i, ++now) {
            Message m = feed.next(book);
            trades.clear();
            switch (m.kind) {
            case Kind::Add: book.add(m, now); break;
            case Kind::Cancel: cancelled += book.cancel(m.id); break;
            case Kind::Market: book.market(m.side, m.quantity, trades); break;
            }
            for (const Trade &t : trades) {
                volume += t.quantity;
                traded += int64_t(t.quantity) * t.price;
            }
            double mid = book.weighted_mid();
            drift += mid > last ? mid - last : last - mid;
            last = mid;
        }
        DWELL_STEP();
    }
    std::printf("messages %llu live %zu cancelled %lld\n", (unsigned long long)now, book.live(), (long long)cancelled);
    std::printf("volume %lld vwap %.4f\n", (long long)volume, double(traded) / double(volume ? volume : 1));
    std::printf("mid %.4f path %.2f\n", last, drift);
    return 0;
}
