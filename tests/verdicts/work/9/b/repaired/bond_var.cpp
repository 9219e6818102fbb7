// Historical-style value at risk for a bond book: revalues every position under
// simulated yield-curve shifts and reports the loss quantiles per desk.
#include <dwell/probe.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr int kMonths = 361;
constexpr int kDesks = 6;
constexpr int kScenarios = 5500;
constexpr int kBonds = 13000;

struct CashFlow {
    int month;
    double amount;
};

struct Bond {
    std::string isin;
    std::string issuer;
    int desk = 0;
    double notional = 0;
    double spread = 0;
    std::vector<CashFlow> flows;
};

using Book = std::map<std::string, Bond>;
using Curve = std::array<double, kMonths>;

Book make_book(std::mt19937& rng) {
    std::uniform_int_distribution<int> years(1, 10), desk(0, kDesks - 1), bp(10, 350);
    std::uniform_real_distribution<double> coupon(0.005, 0.07);
    Book book;
    for (int i = 0; i < kBonds; ++i) {
        Bond b;
        char id[40];
        std::snprintf(id, sizeof id, "XS%010u", static_cast<unsigned>(rng()));
        b.isin = id;
        std::snprintf(id, sizeof id, "Issuer Holdings %u plc", static_cast<unsigned>(rng() % 700));
        b.issuer = id;
        b.desk = desk(rng);
        b.notional = 1e5 * (1 + rng() % 40);
        b.spread = bp(rng) * 1e-4;
        const double c = coupon(rng);
        const int n = years(rng);
        for (int y = 1; y <= n; ++y)
            b.flows.push_back({12 * y, c + (y == n ? 1.0 : 0.0)});
        book.emplace(b.isin, std::move(b));
    }
    return book;
}

Curve base_curve() {
    Curve c{};
    for (int m = 0; m < kMonths; ++m) {
        const double t = m / 12.0;
        c[m] = 0.02 + 0.015 * (1 - std::exp(-t / 3)) - 0.004 * std::exp(-t / 1.2);
    }
    return c;
}

Curve shifted(const Curve& base, std::mt19937& rng) {
    std::normal_distribution<double> n(0, 1);
    const double level = 0.004 * n(rng), slope = 0.003 * n(rng), hump = 0.002 * n(rng);
    Curve c = base;
    for (int m = 0; m < kMonths; ++m) {
        const double t = m / 12.0;
        c[m] += level + slope * (t / 30 - 0.5) + hump * std::exp(-(t - 6) * (t - 6) / 18);
    }
    return c;
}

// Discount factors for every month and 10 basis point spread bucket.
class Discounts {
public:
    static constexpr int kBuckets = 40;

    explicit Discounts(const Curve& zero) : df_(static_cast<size_t>(kBuckets) * kMonths) {
        for (int m = 0; m < kMonths; ++m) {
            const double t = m / 12.0;
            double d = std::exp(-zero[m] * t);
            const double step = std::exp(-0.001 * t);
            for (int s = 0; s < kBuckets; ++s, d *= step)
                df_[static_cast<size_t>(s) * kMonths + m] = d;
        }
    }

    double price(const Bond& b) const {
        const double pos = b.spread / 0.001;
        const int s = std::min(static_cast<int>(pos), kBuckets - 2);
        const double w = pos - s;
        const double* lo = &df_[static_cast<size_t>(s) * kMonths];
        const double* hi = lo + kMonths;
        double pv = 0;
        for (const CashFlow& f : b.flows)
            pv += f.amount * (lo[f.month] + w * (hi[f.month] - lo[f.month]));
        return pv * b.notional;
    }

private:
    std::vector<double> df_;
};

std::array<double, kDesks> revalue(const Book& book, const Curve& zero) {
    const Discounts discounts(zero);
    std::array<double, kDesks> total{};
    for (const auto& entry : book)
        total[entry.second.desk] += discounts.price(entry.second);
    return total;
}

double quantile(std::vector<double> v, double q) {
    const size_t k = static_cast<size_t>(q * (v.size() - 1));
    std::nth_element(v.begin(), v.begin() + k, v.end());
    return v[k];
}

}  // namespace

int main() {
    std::mt19937 rng(20240229);
    const Book book = make_book(rng);
    const Curve base = base_curve();
    const auto today = revalue(book, base);

    std::array<std::vector<double>, kDesks> losses;
    std::vector<double> firm;
    for (int s = 0; s < kScenarios; ++s) {
        DWELL_STEP();
        const auto value = revalue(book, shifted(base, rng));
        double sum = 0;
        for (int d = 0; d < kDesks; ++d) {
            losses[d].push_back(today[d] - value[d]);
            sum += today[d] - value[d];
        }
        firm.push_back(sum);
    }

    std::printf("bonds %zu scenarios %d\n", book.size(), kScenarios);
    for (int d = 0; d < kDesks; ++d)
        std::printf("desk %d value %.2f var95 %.2f var99 %.2f\n", d, today[d],
                    quantile(losses[d], 0.95), quantile(losses[d], 0.99));
    std::printf("firm var95 %.2f var99 %.2f\n", quantile(firm, 0.95), quantile(firm, 0.99));
    return 0;
}
