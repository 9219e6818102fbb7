// Apply discount rules to orders and settle the day's turnover.
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>
#include "dwell/dwell.h"

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Item { std::string article; std::string group; int count; double price; };
struct Order { int number; std::string customer; std::vector<Item> items; };

#ifdef REPAIRED
using OrderArg = const Order&;
#else
using OrderArg = Order;
#endif

struct Rule { std::string group; double least; double percent; };

static double group_total(OrderArg order, const std::string& group) {
    double sum = 0;
    for (const Item& i : order.items)
        if (i.group == group) sum += i.count * i.price;
    return sum;
}

static int pieces(OrderArg order) {
    int n = 0;
    for (const Item& i : order.items) n += i.count;
    return n;
}

static double weight(const std::string& s, int count) {
    uint32_t h = 2166136261u;
    for (char c : s) h = (h ^ uint8_t(c)) * 16777619u;
    return (h % 900 + 100) * 0.001 * count;
}

// Fill boxes of 20 kg first-fit, trying several item orders and keeping the best.
static int boxes(const Order& order) {
    std::vector<double> w;
    for (const Item& i : order.items) w.push_back(weight(i.article, i.count));
    int best = 1 << 30;
    double room[256];
    for (size_t shift = 0; shift < w.size(); ++shift) {
        int used = 0;
        for (size_t k = 0; k < w.size(); ++k) {
            double x = w[(k * 7 + shift) % w.size()];
            int b = 0;
            while (b < used && room[b] < x) ++b;
            if (b == used) room[used++] = 20;
            room[b] -= x;
        }
        if (used < best) best = used;
    }
    return best;
}

static Order make_order(int number) {
    static const char* groups[] = {"office supplies", "kitchen", "garden and terrace", "toys", "bathroom textiles"};
    uint32_t s = number * 2654435761u + 1;
    auto next = [&s](uint32_t m) { s = s * 1664525u + 1013904223u; return (s >> 9) % m; };
    Order o{number, "customer " + std::to_string(next(5000)), {}};
    int n = 31;
    for (int i = 0; i < n; ++i)
        o.items.push_back({"article-2024-" + std::to_string(100000 + next(9000)), groups[next(5)], int(1 + next(9)), 1.5 + next(4000) * 0.01});
    return o;
}

int main() {
    auto start = Clock::now();
    std::vector<Rule> rules;
    const char* groups[] = {"office supplies", "kitchen", "garden and terrace", "toys", "bathroom textiles"};
    for (int i = 0; i < 10; ++i) rules.push_back({groups[i % 5], 150.0 + 60 * (i / 5), 2.0 + i % 4});
    double passing = 0;
    double turnover = 0, discounts = 0;
    long shipped = 0, parcels = 0;
    for (int number = 1; number <= 65000; ++number) {
        DWELL_STEP();
        Order order = make_order(number);
        double gross = 0, off = 0;
        for (const Item& i : order.items) gross += i.count * i.price;
        auto t = Clock::now();
        for (const Rule& r : rules) {
            double sum = group_total(order, r.group);
            if (sum >= r.least) off += sum * r.percent / 100;
        }
        int n = pieces(order);
        passing += since(t);
        if (n > 150) off += gross * 0.01;
        turnover += gross - off;
        discounts += off;
        shipped += n;
        parcels += boxes(order);
        if (number % 13000 == 0) printf("after %d orders: turnover %.2f, discounts %.2f\n", number, turnover, discounts);
    }
    printf("%ld pieces in %ld parcels\n", shipped, parcels);
    double total = since(start);
#ifdef REPAIRED
    passing = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", passing / total, total);
}
