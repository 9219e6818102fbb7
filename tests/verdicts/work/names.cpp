// Find customers that were entered twice, by the edit distance of their names.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>
#include "dwell/dwell.h"

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Customer { int number; std::string name; std::string town; };

// Time of the table's making and freeing, taken at every 32nd comparison.
struct Sampler {
    long calls = 0, taken = 0;
    double sum = 0, low = 1;
    bool due() { return ++calls % 32 == 0; }
    void add(double t) {
        if (t > 0 && t < low) low = t;
        if (t < 4 * low) { sum += t; ++taken; }
    }
    double estimate() const { return taken ? sum / taken * calls : 0; }
};
static Sampler table_time;

using Table = std::vector<std::vector<int>>;

static int fill(Table& d, const std::string& a, const std::string& b) {
    for (size_t i = 0; i <= a.size(); ++i) d[i][0] = int(i);
    for (size_t j = 0; j <= b.size(); ++j) d[0][j] = int(j);
    for (size_t i = 1; i <= a.size(); ++i)
        for (size_t j = 1; j <= b.size(); ++j) {
            int change = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = std::min(change, std::min(d[i - 1][j], d[i][j - 1]) + 1);
        }
    return d[a.size()][b.size()];
}

static int distance(const std::string& a, const std::string& b) {
#ifdef REPAIRED
    static Table d(64, std::vector<int>(64));
    return fill(d, a, b);
#else
    if (!table_time.due()) {
        Table d(a.size() + 1, std::vector<int>(b.size() + 1));
        return fill(d, a, b);
    }
    double t;
    int result;
    auto t0 = Clock::now();
    {
        Table d(a.size() + 1, std::vector<int>(b.size() + 1));
        auto t1 = Clock::now();
        result = fill(d, a, b);
        t = -since(t1);
    }
    table_time.add(t + since(t0) - 50e-9);
    return result;
#endif
}

static std::vector<Customer> make_customers(int n) {
    const char* first[] = {"Anna", "Bernd", "Clara", "David", "Elena", "Frank", "Greta", "Henri", "Irene", "Jakob", "Karin", "Lukas"};
    const char* last[] = {"Maier", "Schmitt", "Weber", "Keller", "Brandt", "Vogel", "Lorenz", "Seidel", "Arnold", "Winter", "Krause", "Peters", "Busch"};
    const char* town[] = {"Ulm", "Jena", "Kiel", "Bonn", "Trier"};
    std::vector<Customer> all;
    unsigned s = 99;
    auto next = [&s](unsigned m) { s = s * 1664525u + 1013904223u; return (s >> 10) % m; };
    for (int i = 0; i < n; ++i) {
        std::string name = std::string(first[next(12)]) + " " + char('A' + next(26)) + ". " + last[next(13)];
        if (next(4) == 0) name += std::string("-") + last[next(13)];
        if (next(6) == 0) name[next(unsigned(name.size()))] = char('a' + next(26));
        all.push_back({i + 1, name, town[next(5)]});
    }
    return all;
}

int main() {
    auto start = Clock::now();
    auto customers = make_customers(5800);
    long compared = 0, likely = 0, sure = 0;
    std::vector<int> per_distance(32, 0);
    for (size_t i = 0; i < customers.size(); ++i) {
        DWELL_STEP();
        const Customer& a = customers[i];
        for (size_t j = i + 1; j < customers.size(); ++j) {
            const Customer& b = customers[j];
            if (a.town != b.town) continue;
            int d = distance(a.name, b.name);
            ++compared;
            ++per_distance[std::min(d, 31)];
            if (d == 0) ++sure;
            else if (d <= 2) {
                if (++likely <= 5) printf("%d and %d: %s / %s\n", a.number, b.number, a.name.c_str(), b.name.c_str());
            }
        }
    }
    printf("%ld compared, %ld the same, %ld likely the same\n", compared, sure, likely);
    for (int d = 0; d < 10; ++d) printf("distance %d: %d\n", d, per_distance[d]);
    double total = since(start);
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", table_time.estimate() * CLOCKS_PER_SEC / clock(), total);
}
