// Builds one-minute bars and volume profiles per instrument from a day's ticks.
//
// Ticks carry wall clock text as the exchange sends it; they are parsed,
// assigned to a session minute and folded into bars.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Tick {
    std::time_t when;
    std::uint32_t symbol;
    std::int64_t price;  // 1/10000
    std::int32_t size;
    int millis;
};

struct Bar {
    std::int64_t open = 0, high = 0, low = 0, close = 0, volume = 0;
    std::int64_t notional = 0;
    std::uint32_t trades = 0;
};

class SymbolTable {
public:
    std::uint32_t id(const char *name, std::size_t n) {
        key_.assign(name, n);
        auto [it, fresh] = ids_.try_emplace(key_, std::uint32_t(ids_.size()));
        (void)fresh;
        return it->second;
    }
    std::size_t size() const { return ids_.size(); }

private:
    std::unordered_map<std::string, std::uint32_t> ids_;
    std::string key_;
};

int digits(const char *p, int n) {
    int v = 0;
    for (int i = 0; i < n; i++)
        v = v * 10 + (p[i] - '0');
    return v;
}

// "2024-03-14 09:30:00.123"
std::time_t parse_time(const char *p, int *millis) {
    std::tm tm{};
    tm.tm_year = digits(p, 4) - 1900;
    tm.tm_mon = digits(p + 5, 2) - 1;
    tm.tm_mday = digits(p + 8, 2);
    tm.tm_hour = digits(p + 11, 2);
    tm.tm_min = digits(p + 14, 2);
    tm.tm_sec = digits(p + 17, 2);
    tm.tm_isdst = -1;
    *millis = digits(p + 20, 3);
    return std::mktime(&tm);
}

std::int64_t parse_price(const char *p, const char **end) {
    std::int64_t v = 0;
    while (*p >= '0' && *p <= '9')
        v = v * 10 + (*p++ - '0');
    int frac = 0;
    if (*p == '.')
        for (++p; *p >= '0' && *p <= '9' && frac < 4; ++p, ++frac)
            v = v * 10 + (*p - '0');
    for (; frac < 4; frac++)
        v *= 10;
    *end = p;
    return v;
}

// "time,symbol,price,size\n"
const char *parse_line(const char *p, SymbolTable &symbols, Tick *t) {
    t->when = parse_time(p, &t->millis);
    p += 24;
    const char *comma = std::strchr(p, ',');
    t->symbol = symbols.id(p, std::size_t(comma - p));
    t->price = parse_price(comma + 1, &p);
    t->size = 0;
    for (++p; *p >= '0' && *p <= '9'; ++p)
        t->size = t->size * 10 + (*p - '0');
    return p + 1;
}

class BarBook {
public:
    explicit BarBook(std::time_t open) : open_(open) {}

    void add(const Tick &t) {
        if (t.symbol >= bars_.size())
            bars_.resize(t.symbol + 1, std::vector<Bar>(390));
        auto minute = std::clamp<std::int64_t>((t.when - open_) / 60, 0, 389);
        Bar &b = bars_[t.symbol][std::size_t(minute)];
        if (!b.trades) {
            b.open = b.high = b.low = t.price;
        }
        b.high = std::max(b.high, t.price);
        b.low = std::min(b.low, t.price);
        b.close = t.price;
        b.volume += t.size;
        b.notional += t.price * t.size;
        b.trades++;
    }

    double realised_vol(std::size_t symbol) const {
        double sum = 0;
        std::int64_t prev = 0;
        for (const Bar &b : bars_[symbol]) {
            if (!b.trades)
                continue;
            if (prev) {
                double r = std::log(double(b.close) / double(prev));
                sum += r * r;
            }
            prev = b.close;
        }
        return std::sqrt(sum * 252);
    }

    std::int64_t volume() const {
        std::int64_t v = 0;
        for (const auto &s : bars_)
            for (const Bar &b : s)
                v += b.volume;
        return v;
    }

private:
    std::time_t open_;
    std::vector<std::vector<Bar>> bars_;
};

std::string synthesise_minute(std::mt19937 &gen, int minute, std::vector<double> &last) {
    std::string out;
    char line[96];
    for (int i = 0; i < 10000; i++) {
        unsigned s = gen() % last.size();
        last[s] *= 1.0 + (int(gen() % 2001) - 1000) * 1e-7;
        int sec = i * 60 / 10000, m = 9 * 60 + 30 + minute;
        int n = std::snprintf(line, sizeof line, "2024-03-14 %02d:%02d:%02d.%03d,SYM%03u,%.4f,%u\n", m / 60,
                              m % 60, sec, i % 1000, s, last[s], 1 + unsigned(gen() % 500));
        out.append(line, std::size_t(n));
    }
    return out;
}

}  // namespace

int main() {
    std::mt19937 gen(20240314);
    std::vector<double> last(300);
    for (double &p : last)
        p = 20.0 + gen() % 400;
    SymbolTable symbols;
    int ms;
    BarBook book(parse_time("2024-03-14 09:30:00.000", &ms));
    std::uint64_t ticks = 0;
    for (int minute = 0; minute < 390; minute++) {
        const std::string text = synthesise_minute(gen, minute, last);
        const char *p = text.c_str(), *end = p + text.size();
        while (p < end) {
            Tick t;
            p = parse_line(p, symbols, &t);
            book.add(t);
            ticks++;
        }
    }
    double vol = 0;
    for (std::size_t s = 0; s < symbols.size(); s++)
        vol += book.realised_vol(s);
    std::printf("%llu ticks, volume %lld, mean vol %.6f\n", (unsigned long long)ticks,
                (long long)book.volume(), vol / double(symbols.size()));
    return 0;
}
