// match_engine: replays a day of orders of one venue through a price-time
// matching book, to check fills, fees and queue estimates before a release.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include <dwell/probe.h>

namespace {

enum class Side { Buy, Sell };

struct Order {
    uint64_t id;
    int price;
    int quantity;
    Side side;
    std::string account;
    uint64_t time;
};

struct Fill {
    uint64_t maker, taker;
    int price, quantity;
};

using Level = std::deque<Order>;

class Book {
public:
    // What stands at a price, oldest first.
    Level level(Side side, int price) const {
        if (side == Side::Buy) {
            auto it = bids_.find(price);
            return it == bids_.end() ? Level{} : it->second;
        }
        auto it = asks_.find(price);
        return it == asks_.end() ? Level{} : it->second;
    }

    void submit(Order o, std::vector<Fill>& fills) {
        if (o.side == Side::Buy)
            cross(asks_, o, fills, [&](int p) { return p <= o.price; });
        else
            cross(bids_, o, fills, [&](int p) { return p >= o.price; });
        if (o.quantity == 0)
            return;
        where_.emplace(o.id, std::make_pair(o.side, o.price));
        auto& lvl = o.side == Side::Buy ? bids_[o.price] : asks_[o.price];
        lvl.push_back(std::move(o));
    }

    bool cancel(uint64_t id) {
        auto it = where_.find(id);
        if (it == where_.end())
            return false;
        auto [side, price] = it->second;
        where_.erase(it);
        return side == Side::Buy ? drop(bids_, price, id) : drop(asks_, price, id);
    }

    int best(Side side) const {
        if (side == Side::Buy)
            return bids_.empty() ? 0 : bids_.begin()->first;
        return asks_.empty() ? 0 : asks_.begin()->first;
    }

    size_t resting() const { return where_.size(); }

private:
    template <class Levels, class Accept>
    void cross(Levels& levels, Order& o, std::vector<Fill>& fills, Accept accept) {
        while (o.quantity > 0 && !levels.empty() && accept(levels.begin()->first)) {
            Level& lvl = levels.begin()->second;
            Order& top = lvl.front();
            int q = std::min(o.quantity, top.quantity);
            fills.push_back({top.id, o.id, top.price, q});
            o.quantity -= q;
            top.quantity -= q;
            if (top.quantity == 0) {
                where_.erase(top.id);
                lvl.pop_front();
                if (lvl.empty())
                    levels.erase(levels.begin());
            }
        }
    }

    template <class Levels>
    bool drop(Levels& levels, int price, uint64_t id) {
        auto it = levels.find(price);
        if (it == levels.end())
            return false;
        Level& lvl = it->second;
        // Ids rise along the queue.
        auto pos = std::lower_bound(lvl.begin(), lvl.end(), id,
                                    [](const Order& o, uint64_t want) { return o.id < want; });
        if (pos == lvl.end() || pos->id != id)
            return false;
        lvl.erase(pos);
        if (lvl.empty())
            levels.erase(it);
        return true;
    }

    std::map<int, Level, std::greater<int>> bids_;
    std::map<int, Level> asks_;
    std::unordered_map<uint64_t, std::pair<Side, int>> where_;
};

// Volume that must trade before an order at this price would be reached.
long queueAhead(const Book& book, Side side, int price) {
    long ahead = 0;
    const auto& lvl = book.level(side, price);
    for (const Order& o : lvl)
        ahead += o.quantity;
    return ahead;
}

class Clearing {
public:
    void account(const Fill& f) {
        // Makers get a rebate; the fee falls with the volume of the day.
        volume_ += f.quantity;
        double rate = volume_ > 2000000 ? 0.00018 : 0.00025;
        fees_ += rate * f.price * f.quantity - 0.00004 * f.price * f.quantity;
        turnover_ += static_cast<double>(f.price) * f.quantity;
    }
    long volume() const { return volume_; }
    double fees() const { return fees_ / 100; }
    double turnover() const { return turnover_ / 100; }

private:
    long volume_ = 0;
    double fees_ = 0, turnover_ = 0;
};

}  // namespace

int main() {
    constexpr int kBatches = 5000, kPerBatch = 1100;
    std::mt19937_64 gen(7001);
    std::normal_distribution<double> drift(0, 0.35), spread(0, 7);
    std::uniform_int_distribution<int> lot(1, 40), percent(0, 99), client(0, 799);

    Book book;
    Clearing clearing;
    std::vector<Fill> fills;
    std::vector<uint64_t> live;
    uint64_t next_id = 1;
    double mid = 10000;
    long cancels = 0, queued = 0;

    for (int batch = 0; batch < kBatches; ++batch) {
        DWELL_STEP();
        fills.clear();
        mid += drift(gen);
        for (int i = 0; i < kPerBatch; ++i) {
            int kind = percent(gen);
            if (live.size() > 2500 && (kind < 45 || (kind < 90 && live.size() > 3000))) {
                size_t k = gen() % live.size();
                cancels += book.cancel(live[k]);
                live[k] = live.back();
                live.pop_back();
                continue;
            }
            Order o;
            o.id = next_id++;
            o.side = percent(gen) < 50 ? Side::Buy : Side::Sell;
            double edge = kind > 92 ? -2 : 1 + std::abs(spread(gen));
            o.price = static_cast<int>(o.side == Side::Buy ? mid - edge : mid + edge);
            o.quantity = lot(gen) * (kind > 92 ? 4 : 1);
            o.account = "clearing-member-" + std::to_string(client(gen));
            o.time = static_cast<uint64_t>(batch) * 1000 + i;
            queued += queueAhead(book, o.side, o.price);
            live.push_back(o.id);
            book.submit(std::move(o), fills);
        }
        for (const Fill& f : fills)
            clearing.account(f);
    }

    std::printf("orders %llu cancels %ld resting %zu best %d/%d\n", (unsigned long long)(next_id - 1), cancels,
                book.resting(), book.best(Side::Buy), book.best(Side::Sell));
    std::printf("volume %ld turnover %.2f fees %.2f mean queue %.1f\n", clearing.volume(), clearing.turnover(),
                clearing.fees(), static_cast<double>(queued) / (next_id - 1));
    return 0;
}
