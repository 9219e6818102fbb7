// A small limit order book with a durable journal and a margin check per order.
#include <fcntl.h>
#include <unistd.h>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <vector>
#include "dwell/dwell.h"

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Order { int id; int account; bool buy; int price; int qty; };

class Journal {
public:
    explicit Journal(const char* name) : fd_(open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600)) {}
    ~Journal() { close(fd_); }
    void append(const Order& o) {
        char rec[96];
        int n = snprintf(rec, sizeof rec, "%d,%d,%c,%d,%d\n", o.id, o.account, o.buy ? 'B' : 'S', o.price, o.qty);
        if (write(fd_, rec, n) != n) perror("journal");
        bytes_ += n;
        commit();
    }
    long bytes() const { return bytes_; }
    double spent = 0;

private:
    void commit() {
#ifdef REPAIRED
        if (++pending_ < 128) return;
        pending_ = 0;
#endif
        auto t = Clock::now();
        fsync(fd_);
        spent += since(t);
    }
    int fd_;
    int pending_ = 0;
    long bytes_ = 0;
};

class Book {
public:
    int match(Order o) {
        int filled = 0;
        auto& other = o.buy ? asks_ : bids_;
        while (o.qty > 0 && !other.empty()) {
            auto best = o.buy ? other.begin() : std::prev(other.end());
            if (o.buy ? best->first > o.price : best->first < o.price) break;
            int q = std::min(o.qty, best->second);
            o.qty -= q;
            filled += q;
            if ((best->second -= q) == 0) other.erase(best);
        }
        if (o.qty > 0) (o.buy ? bids_ : asks_)[o.price] += o.qty;
        return filled;
    }
    size_t depth() const { return bids_.size() + asks_.size(); }

private:
    std::map<int, int> bids_, asks_;
};

// Loss of an account over a set of price scenarios; its worst value is the margin.
static double margin(const std::vector<double>& shocks, int position, int price, double vol) {
    double worst = 0;
    for (double s : shocks) {
        double moved = price * std::exp(vol * s - 0.5 * vol * vol);
        double loss = position * (price - moved);
        if (loss > worst) worst = loss;
    }
    return worst;
}

int main() {
    auto start = Clock::now();
    std::mt19937 rng(7);
    std::normal_distribution<double> gauss;
    std::vector<double> shocks(90000);
    for (auto& s : shocks) s = gauss(rng);

    char name[64];
    snprintf(name, sizeof name, "/var/tmp/orders-%d.journal", (int)getpid());
    Journal journal(name);
    Book book;
    std::vector<int> position(50, 0);
    long traded = 0, refused = 0;
    double peak = 0;
    for (int id = 1; id <= 1500; ++id) {
        DWELL_STEP();
        Order o{id, int(rng() % 50), (rng() & 1) != 0, 1000 + int(rng() % 41) - 20, 1 + int(rng() % 100)};
        double need = margin(shocks, position[o.account] + (o.buy ? o.qty : -o.qty), o.price, 0.02);
        peak = std::max(peak, need);
        if (need > 60000) { ++refused; continue; }
        journal.append(o);
        int filled = book.match(o);
        position[o.account] += o.buy ? filled : -filled;
        traded += filled;
    }
    printf("traded %ld, refused %ld, book depth %zu, journal %ld bytes, peak margin %.0f\n",
           traded, refused, book.depth(), journal.bytes(), peak);
    unlink(name);
    double total = since(start);
#ifdef REPAIRED
    journal.spent = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", journal.spent / total, total);
}
