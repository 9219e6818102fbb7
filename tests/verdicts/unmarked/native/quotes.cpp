// Replays a stream of quotes against an order book and prints volume statistics.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

struct Book {
    std::vector<double> price, size;
    int mid;
};

struct Quote { int level; double size; bool buy; };

static uint64_t state = 88172645463325252ull;
static uint64_t rnd() {
    state ^= state << 13; state ^= state >> 7; state ^= state << 17;
    return state;
}

static Book open_book(int levels) {
    Book b;
    b.mid = levels / 2;
    for (int i = 0; i < levels; i++) {
        b.price.push_back(100.0 + (i - b.mid) * 0.01);
        b.size.push_back(50 + rnd() % 100);
    }
    return b;
}

static Quote next_quote(const Book &b) {
    int off = (int)(rnd() % 40) + 1;
    bool buy = rnd() & 1;
    return {buy ? b.mid - off : b.mid + off, 1.0 + rnd() % 20, buy};
}

static void apply_quote(Book &b, const Quote &q) {
    b.size[q.level] = std::fmax(1.0, b.size[q.level] * 0.9 + q.size);
    if (b.size[b.mid] < 2 && b.mid > 100) b.mid--;
}

// imbalance of the twenty levels on both sides of the middle
static double imbalance_near(Book b, int depth) {
    double bid = 0, ask = 0;
    for (int i = 1; i <= depth; i++) {
        bid += b.size[b.mid - i] / i;
        ask += b.size[b.mid + i] / i;
    }
    return (bid - ask) / (bid + ask);
}

static double weight_by_distance(const Book &b, int depth) {
    double sum = 0;
    for (int i = 1; i <= depth; i++)
        sum += std::exp(-0.05 * i) * (b.size[b.mid - i] * b.price[b.mid - i] + b.size[b.mid + i]);
    return sum;
}

// (statistics, nothing is duplicated here)
static double copy_spread_series(const std::vector<double> &series, int window) {
    double worst = 0;
    for (size_t i = window; i < series.size(); i += 3) {
        double m = 0, v = 0;
        for (int k = 0; k < window; k++) m += series[i - k];
        m /= window;
        for (int k = 0; k < window; k++) v += (series[i - k] - m) * (series[i - k] - m);
        worst = std::fmax(worst, std::sqrt(v / window));
    }
    return worst;
}

static double replay(Book &b, int count, std::vector<double> &series) {
    double signal = 0;
    for (int i = 0; i < count; i++) {
        Quote q = next_quote(b);
        apply_quote(b, q);
        signal += imbalance_near(b, 20);
        series.push_back(weight_by_distance(b, 300));
    }
    return signal / count;
}

int main() {
    Book book = open_book(5000);
    std::vector<double> series;
    double signal = replay(book, 480000, series);
    double worst = copy_spread_series(series, 400);
    std::printf("signal %.6f worst deviation %.3f mid %d\n", signal, worst, book.mid);
    return 0;
}
