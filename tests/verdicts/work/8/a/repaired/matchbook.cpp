// matchbook: replays a day of exchange messages through the matching engine and
// records the best quotes and a depth snapshot for the market data team.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <list>
#include <map>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>
#include <dwell/probe.h>

namespace {

constexpr int kBatches = 2000;
constexpr int kBatchSize = 1000;
constexpr int kDepth = 10;
constexpr int kSnapshotEvery = 500;

enum class Side : uint8_t { Buy, Sell };
enum class Kind : uint8_t { Add, Cancel };

struct Message {
    Kind kind;
    Side side;
    int price;
    int quantity;
    uint64_t id;
    uint32_t trader;
};

struct Order {
    uint64_t id;
    int quantity;
    uint32_t trader;
};

struct Level {
    std::list<Order> orders;
    long total = 0;
};

struct Where {
    Side side;
    int price;
    std::list<Order>::iterator it;
};

struct DepthRow {
    int price;
    long quantity;
    int orders;
    int traders;
};

class Book {
public:
    void add(const Message& m) {
        int left = m.side == Side::Buy ? match(asks_, m, std::less_equal<int>())
                                       : match(bids_, m, std::greater_equal<int>());
        if (left == 0)
            return;
        if (m.side == Side::Buy)
            rest(bids_, m, left);
        else
            rest(asks_, m, left);
    }

    void cancel(uint64_t id) {
        auto found = index_.find(id);
        if (found == index_.end())
            return;
        const Where& w = found->second;
        if (w.side == Side::Buy)
            remove(bids_, w);
        else
            remove(asks_, w);
        index_.erase(found);
        ++cancelled_;
    }

    std::vector<DepthRow> depth(Side side) const {
        return side == Side::Buy ? depth_of(bids_) : depth_of(asks_);
    }

    bool resting(uint64_t id) const { return index_.count(id) != 0; }
    long trades() const { return trades_; }
    long volume() const { return volume_; }
    long cancelled() const { return cancelled_; }
    size_t open_orders() const { return index_.size(); }

private:
    using Bids = std::map<int, Level, std::greater<int>>;
    using Asks = std::map<int, Level>;

    template <class Levels, class Crosses>
    int match(Levels& levels, const Message& m, Crosses crosses) {
        int left = m.quantity;
        while (left > 0 && !levels.empty() && crosses(levels.begin()->first, m.price)) {
            Level& level = levels.begin()->second;
            while (left > 0 && !level.orders.empty()) {
                Order& first = level.orders.front();
                int fill = std::min(left, first.quantity);
                left -= fill;
                first.quantity -= fill;
                level.total -= fill;
                volume_ += fill;
                ++trades_;
                if (first.quantity == 0) {
                    index_.erase(first.id);
                    level.orders.pop_front();
                }
            }
            if (level.orders.empty())
                levels.erase(levels.begin());
        }
        return left;
    }

    template <class Levels>
    void rest(Levels& levels, const Message& m, int quantity) {
        Level& level = levels[m.price];
        level.orders.push_back({m.id, quantity, m.trader});
        level.total += quantity;
        index_[m.id] = {m.side, m.price, std::prev(level.orders.end())};
    }

    template <class Levels>
    void remove(Levels& levels, const Where& w) {
        auto level = levels.find(w.price);
        level->second.total -= w.it->quantity;
        level->second.orders.erase(w.it);
        if (level->second.orders.empty())
            levels.erase(level);
    }

    template <class Levels>
    std::vector<DepthRow> depth_of(const Levels& levels) const {
        std::vector<DepthRow> rows;
        rows.reserve(kDepth);
        for (const auto& entry : levels) {
            if (static_cast<int>(rows.size()) == kDepth)
                break;
            const Level& level = entry.second;
            uint64_t seen = 0;
            int looked = 0;
            for (const Order& o : level.orders) {
                seen |= 1ull << (o.trader & 63);
                if (++looked == 32)
                    break;
            }
            rows.push_back({entry.first, level.total, static_cast<int>(level.orders.size()),
                            __builtin_popcountll(seen)});
        }
        return rows;
    }

    Bids bids_;
    Asks asks_;
    std::unordered_map<uint64_t, Where> index_;
    long trades_ = 0, volume_ = 0, cancelled_ = 0;
};

class Feed {
public:
    std::vector<Message> next(int n) {
        std::vector<Message> out;
        out.reserve(n);
        std::normal_distribution<double> offset(12.0, 7.0);
        for (int i = 0; i < n; ++i) {
            mid_ += (rng_() % 200 == 0) ? (rng_() % 2 ? 1 : -1) : 0;
            if (id_ > 1000 && rng_() % 100 < 42) {
                out.push_back({Kind::Cancel, Side::Buy, 0, 0, id_ - rng_() % 4000 % id_, 0});
                continue;
            }
            Side side = rng_() % 2 ? Side::Buy : Side::Sell;
            int away = static_cast<int>(offset(rng_));
            int price = side == Side::Buy ? mid_ - away : mid_ + away;
            out.push_back({Kind::Add, side, price, 1 + static_cast<int>(rng_() % 100), ++id_,
                           static_cast<uint32_t>(rng_() % 500)});
        }
        return out;
    }

private:
    std::mt19937 rng_{20231107};
    uint64_t id_ = 0;
    int mid_ = 10000;
};

}  // namespace

int main() {
    Book book;
    Feed feed;
    double checksum = 0;
    long rows = 0;

    for (int b = 0; b < kBatches; ++b) {
        DWELL_STEP();
        std::vector<Message> batch = feed.next(kBatchSize);
        for (int i = 0; i < kBatchSize; ++i) {
            const Message& m = batch[i];
            if (m.kind == Kind::Add)
                book.add(m);
            else
                book.cancel(m.id);
            if (i % kSnapshotEvery == 0)
                for (Side side : {Side::Buy, Side::Sell})
                    for (const DepthRow& r : book.depth(side)) {
                        checksum += 1e-6 * r.price * static_cast<double>(r.quantity) + r.traders;
                        ++rows;
                    }
        }
    }
    std::printf("trades %ld  volume %ld  cancelled %ld  open %zu\n", book.trades(), book.volume(),
                book.cancelled(), book.open_orders());
    std::printf("depth rows %ld  checksum %.3f\n", rows, checksum);
    return 0;
}
