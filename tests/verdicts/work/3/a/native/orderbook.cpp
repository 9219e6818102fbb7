#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

// Limit order book: price levels in ordered maps, orders in intrusive FIFO
// lists out of a fixed pool, matching in price-time priority, batch by batch.
#include <cstdint>
#include <cstdio>
#include <map>
#include <vector>

using Price = int32_t;
using Quantity = int32_t;

struct Order {
    uint32_t id;
    Price price;
    Quantity left;
    bool buy;
    int32_t next, prev;
};

struct Level {
    int32_t head = -1, tail = -1;
    int64_t volume = 0;
};

struct Message {
    enum Kind : uint8_t { Add, Cancel } kind;
    bool buy;
    uint32_t id;
    Price price;
    Quantity quantity;
};

class Book {
public:
    void add(const Message &m) {
        where_.push_back(-1);
        Quantity left = m.buy ? match(asks_, m, [](Price level, Price limit) { return level <= limit; })
                              : match(bids_, m, [](Price level, Price limit) { return level >= limit; });
        if (left > 0)
            rest(m, left);
    }

    void cancel(uint32_t id) {
        int32_t at = where_[id];
        if (at < 0)
            return;
        const Order &o = pool_[static_cast<size_t>(at)];
        if (o.buy)
            remove(bids_, at);
        else
            remove(asks_, at);
        cancelled_++;
    }

    void report() const {
        std::printf("trades %llu volume %lld cancelled %llu bids %zu asks %zu check %016llx\n",
                    (unsigned long long)trades_, (long long)volume_, (unsigned long long)cancelled_, bids_.size(),
                    asks_.size(), (unsigned long long)check_);
    }

private:
    using Bids = std::map<Price, Level, std::greater<Price>>;
    using Asks = std::map<Price, Level>;

    int32_t allocate() {
        if (!free_.empty()) {
            int32_t at = free_.back();
            free_.pop_back();
            return at;
        }
        pool_.emplace_back();
        return static_cast<int32_t>(pool_.size() - 1);
    }

    template <class Side> void remove(Side &side, int32_t at) {
        Order &o = pool_[static_cast<size_t>(at)];
        auto it = side.find(o.price);
        unlink(it->second, at);
        if (it->second.head < 0)
            side.erase(it);
    }

    void unlink(Level &l, int32_t at) {
        Order &o = pool_[static_cast<size_t>(at)];
        (o.prev < 0 ? l.head : pool_[static_cast<size_t>(o.prev)].next) = o.next;
        (o.next < 0 ? l.tail : pool_[static_cast<size_t>(o.next)].prev) = o.prev;
        l.volume -= o.left;
        where_[o.id] = -1;
        free_.push_back(at);
    }

    template <class Side, class Crosses> Quantity match(Side &side, const Message &m, Crosses crosses) {
        Quantity left = m.quantity;
        while (left > 0 && !side.empty() && crosses(side.begin()->first, m.price)) {
            Level &level = side.begin()->second;
            Order &resting = pool_[static_cast<size_t>(level.head)];
            Quantity traded = resting.left < left ? resting.left : left;
            left -= traded;
            resting.left -= traded;
            level.volume -= traded;
            trades_++;
            volume_ += traded;
            check_ = (check_ ^ resting.id ^ (uint64_t(traded) << 32)) * 1099511628211ull;
            if (resting.left == 0)
                unlink(level, level.head);
            if (level.head < 0)
                side.erase(side.begin());
        }
        return left;
    }

    void rest(const Message &m, Quantity left) {
        int32_t at = allocate();
        Level &l = m.buy ? bids_[m.price] : asks_[m.price];
        pool_[static_cast<size_t>(at)] = {m.id, m.price, left, m.buy, -1, l.tail};
        (l.tail < 0 ? l.head : pool_[static_cast<size_t>(l.tail)].next) = at;
        l.tail = at;
        l.volume += left;
        where_[m.id] = at;
    }

    Bids bids_;
    Asks asks_;
    std::vector<Order> pool_;
    std::vector<int32_t> free_, where_;
    uint64_t trades_ = 0, cancelled_ = 0, check_ = 14695981039346656037ull;
    int64_t volume_ = 0;
};

class Feed {
public:
    void batch(std::vector<Message> &out, size_t n) {
        out.clear();
        for (size_t i = 0; i < n; i++) {
            if (id_ > 1000 && roll(100) < 38) {
                uint32_t back = 1 + roll(1000) * roll(60);
                out.push_back({Message::Cancel, false, id_ > back ? id_ - back : 1, 0, 0});
                continue;
            }
            mid_ += static_cast<int>(roll(5)) - 2;
            bool buy = roll(2) == 0;
            int offset = static_cast<int>(roll(60)) - 8;
            out.push_back({Message::Add, buy, id_++, buy ? mid_ - offset : mid_ + offset,
                           static_cast<Quantity>(1 + roll(500))});
        }
    }
    uint32_t issued() const { return id_; }

private:
    uint32_t roll(uint32_t n) {
        s_ ^= s_ << 13;
        s_ ^= s_ >> 7;
        s_ ^= s_ << 17;
        return static_cast<uint32_t>(s_ >> 33) % n;
    }
    uint64_t s_ = 0x1234567887654321ull;
    uint32_t id_ = 0;
    int mid_ = 100000;
};

int main() {
    const size_t batches = 75000, size = 1000;
    Book book;
    Feed feed;
    std::vector<Message> messages;
    for (size_t b = 0; b < batches; b++) {
        feed.batch(messages, size);
        for (const Message &m : messages)
            if (m.kind == Message::Add)
                book.add(m);
            else
                book.cancel(m.id);
        DWELL_STEP();
    }
    book.report();
    return 0;
}
