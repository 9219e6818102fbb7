// orderbook: price-time priority matching for one instrument, driven by a seeded
// flow of limit, market and cancel orders.
#include <cstdint>
#include <cstdio>
#include <vector>

namespace {

constexpr int kTicks = 4096;
constexpr int kEvents = 230'000'000;
constexpr uint32_t kNone = UINT32_MAX;

enum class Side : uint8_t { Buy, Sell };

struct Order {
    uint32_t qty = 0;
    uint32_t prev = kNone, next = kNone;
    uint32_t serial = 0;
    int32_t price = 0;
    Side side = Side::Buy;
    bool live = false;
};

struct Handle {
    uint32_t slot = kNone, serial = 0;
};

struct Level {
    uint32_t head = kNone, tail = kNone;
    uint64_t volume = 0;
};

struct Stats {
    uint64_t trades = 0, shares = 0, cancels = 0, rejected = 0;
    uint64_t notional = 0;
    uint64_t tape = 1469598103934665603ull;
};

class Book {
public:
    explicit Book(size_t capacity) : pool_(capacity), levels_(2 * kTicks) {
        free_.reserve(capacity);
        for (size_t i = capacity; i > 0; --i) free_.push_back(static_cast<uint32_t>(i - 1));
    }

    Handle limit(Side side, int32_t price, uint32_t qty) {
        qty = match(side, price, qty);
        if (qty == 0) return {};
        if (free_.empty()) {
            ++stats_.rejected;
            return {};
        }
        uint32_t id = free_.back();
        free_.pop_back();
        Order& o = pool_[id];
        Level& l = level(side, price);
        o = Order{qty, l.tail, kNone, ++serial_, price, side, true};
        if (l.tail == kNone) l.head = id;
        else pool_[l.tail].next = id;
        l.tail = id;
        l.volume += qty;
        if (side == Side::Buy && price > best_bid_) best_bid_ = price;
        if (side == Side::Sell && price < best_ask_) best_ask_ = price;
        return {id, serial_};
    }

    void market(Side side, uint32_t qty) { match(side, side == Side::Buy ? kTicks - 1 : 0, qty); }

    void cancel(Handle h) {
        uint32_t id = h.slot;
        if (id == kNone || !pool_[id].live || pool_[id].serial != h.serial) return;
        level(pool_[id].side, pool_[id].price).volume -= pool_[id].qty;
        unlink(id);
        ++stats_.cancels;
        settle();
    }

    int32_t mid(int32_t round) const {
        if (best_bid_ < 0 || best_ask_ >= kTicks) return last_;
        return (best_bid_ + best_ask_ + round) / 2;
    }
    const Stats& stats() const { return stats_; }
    size_t resting() const { return pool_.size() - free_.size(); }

private:
    Level& level(Side s, int32_t price) { return levels_[(s == Side::Buy ? 0 : kTicks) + price]; }

    void unlink(uint32_t id) {
        Order& o = pool_[id];
        Level& l = level(o.side, o.price);
        if (o.prev == kNone) l.head = o.next;
        else pool_[o.prev].next = o.next;
        if (o.next == kNone) l.tail = o.prev;
        else pool_[o.next].prev = o.prev;
        o.live = false;
        free_.push_back(id);
    }

    void settle() {
        while (best_bid_ >= 0 && level(Side::Buy, best_bid_).head == kNone) --best_bid_;
        while (best_ask_ < kTicks && level(Side::Sell, best_ask_).head == kNone) ++best_ask_;
    }

    uint32_t match(Side side, int32_t price, uint32_t qty) {
        while (qty > 0) {
            int32_t best = side == Side::Buy ? best_ask_ : best_bid_;
            bool crosses = side == Side::Buy ? (best < kTicks && best <= price) : (best >= 0 && best >= price);
            if (!crosses) break;
            Level& l = level(side == Side::Buy ? Side::Sell : Side::Buy, best);
            while (qty > 0 && l.head != kNone) {
                uint32_t id = l.head;
                Order& o = pool_[id];
                uint32_t fill = qty < o.qty ? qty : o.qty;
                o.qty -= fill;
                qty -= fill;
                l.volume -= fill;
                record(best, fill);
                if (o.qty == 0) unlink(id);
            }
            last_ = best;
            settle();
        }
        return qty;
    }

    void record(int32_t price, uint32_t fill) {
        ++stats_.trades;
        stats_.shares += fill;
        stats_.notional += static_cast<uint64_t>(price) * fill;
        stats_.tape = (stats_.tape ^ (static_cast<uint64_t>(price) << 32 | fill)) * 1099511628211ull;
    }

    std::vector<Order> pool_;
    std::vector<Level> levels_;
    std::vector<uint32_t> free_;
    int32_t best_bid_ = -1, best_ask_ = kTicks, last_ = kTicks / 2;
    uint32_t serial_ = 0;
    Stats stats_;
};

struct Rng {
    uint64_t s;
    uint32_t operator()(uint32_t n) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        return static_cast<uint32_t>(((s >> 32) * n) >> 32);
    }
};

}  // namespace

int main() {
    Book book(60'000);
    Rng rnd{0x1234567887654321ull};
    std::vector<Handle> recent(32'768);
    for (int i = 0; i < kEvents; ++i) {
        uint32_t kind = rnd(100);
        Side side = rnd(2) ? Side::Buy : Side::Sell;
        if (kind < 50) {
            int32_t off = static_cast<int32_t>(rnd(24)) - 2;
            int32_t price = book.mid(static_cast<int32_t>(rnd(2))) + (side == Side::Buy ? -off : off);
            price = price < 1 ? 1 : price > kTicks - 2 ? kTicks - 2 : price;
            Handle& slot = recent[static_cast<size_t>(i) & (recent.size() - 1)];
            book.cancel(slot);  // the oldest order expires
            slot = book.limit(side, price, 1 + rnd(200));
        } else if (kind < 60) {
            book.market(side, 1 + rnd(300));
        } else {
            book.cancel(recent[rnd(static_cast<uint32_t>(recent.size()))]);
        }
    }
    const Stats& s = book.stats();
    std::printf("events %d trades %llu shares %llu vwap %.4f cancels %llu rejected %llu resting %zu tape %016llx\n", kEvents,
                (unsigned long long)s.trades, (unsigned long long)s.shares, double(s.notional) / double(s.shares),
                (unsigned long long)s.cancels, (unsigned long long)s.rejected, book.resting(), (unsigned long long)s.tape);
    return 0;
}
