// Overnight valuation of American put options (Longstaff-Schwartz) over a grid
// of spot and volatility shifts.
#include <dwell/probe.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace {

constexpr int kPaths = 14000;
constexpr int kDates = 40;
constexpr double kRate = 0.03;
constexpr double kMaturity = 1.5;

struct Option {
    double strike;
    double notional;
};

struct Scenario {
    double spot, vol;
};

// Normal draws are shared by all scenarios, so that differences between grid
// points carry no sampling noise.
class NormalTable {
public:
    explicit NormalTable(std::uint64_t seed) : z_(std::size_t(kPaths) * kDates) {
        std::mt19937_64 gen(seed);
        std::normal_distribution<double> n;
        for (int p = 0; p < kPaths; p += 2)
            for (int d = 0; d < kDates; d++) {
                double v = n(gen);
                z_[std::size_t(d) * kPaths + p] = v;
                z_[std::size_t(d) * kPaths + p + 1] = -v;
            }
    }
    const double *date(int d) const { return z_.data() + std::size_t(d) * kPaths; }

private:
    std::vector<double> z_;
};

// Solves the 3x3 normal equations by Cramer's rule.
std::array<double, 3> fit(const double s[5], const double t[3]) {
    auto det = [](double a, double b, double c, double d, double e, double f, double g, double h,
                  double i) { return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g); };
    double d = det(s[0], s[1], s[2], s[1], s[2], s[3], s[2], s[3], s[4]);
    if (std::fabs(d) < 1e-12)
        return {0, 0, 0};
    return {det(t[0], s[1], s[2], t[1], s[2], s[3], t[2], s[3], s[4]) / d,
            det(s[0], t[0], s[2], s[1], t[1], s[3], s[2], t[2], s[4]) / d,
            det(s[0], s[1], t[0], s[1], s[2], t[1], s[2], s[3], t[2]) / d};
}

class Pricer {
public:
    explicit Pricer(const NormalTable &z)
        : z_(z), path_(std::size_t(kPaths) * kDates), cash_(kPaths) {}

    void simulate(const Scenario &sc) {
        const double dt = kMaturity / kDates;
        const double drift = (kRate - 0.5 * sc.vol * sc.vol) * dt, sd = sc.vol * std::sqrt(dt);
        std::vector<double> &log_s = cash_;
        log_s.assign(kPaths, std::log(sc.spot));
        for (int d = 0; d < kDates; d++) {
            const double *z = z_.date(d);
            double *out = path_.data() + std::size_t(d) * kPaths;
            for (int p = 0; p < kPaths; p++) {
                log_s[p] += drift + sd * z[p];
                out[p] = std::exp(log_s[p]);
            }
        }
    }

    double price(const Option &o) {
        const double disc = std::exp(-kRate * kMaturity / kDates);
        const double *last = path_.data() + std::size_t(kDates - 1) * kPaths;
        for (int p = 0; p < kPaths; p++)
            cash_[p] = std::max(o.strike - last[p], 0.0);
        for (int d = kDates - 2; d >= 0; d--) {
            const double *s = path_.data() + std::size_t(d) * kPaths;
            double m[5] = {}, t[3] = {};
            for (int p = 0; p < kPaths; p++) {
                cash_[p] *= disc;
                if (s[p] >= o.strike)
                    continue;
                double x = s[p] / o.strike, x2 = x * x;
                m[0] += 1; m[1] += x; m[2] += x2; m[3] += x2 * x; m[4] += x2 * x2;
                t[0] += cash_[p]; t[1] += cash_[p] * x; t[2] += cash_[p] * x2;
            }
            if (m[0] < 10)
                continue;
            const auto b = fit(m, t);
            for (int p = 0; p < kPaths; p++) {
                if (s[p] >= o.strike)
                    continue;
                double x = s[p] / o.strike, now = o.strike - s[p];
                if (now > b[0] + b[1] * x + b[2] * x * x)
                    cash_[p] = now;
            }
        }
        double sum = 0;
        for (double c : cash_)
            sum += c;
        return disc * sum / kPaths;
    }

private:
    const NormalTable &z_;
    std::vector<double> path_;
    std::vector<double> cash_;
};

}  // namespace

int main() {
    const NormalTable normals(4711);
    const std::vector<Option> book = {{85, 1200}, {92, 800},  {97, 1500}, {100, 3000},
                                      {104, 900}, {109, 700}, {116, 400}, {125, 250}};
    std::vector<Scenario> grid;
    for (int i = 0; i < 14; i++)
        for (int j = 0; j < 11; j++)
            grid.push_back({86.0 + 2.0 * i, 0.12 + 0.02 * j});
    std::vector<double> value(grid.size());

    Pricer left(normals), right(normals);
    auto value_at = [&](Pricer &p, std::size_t g) {
        p.simulate(grid[g]);
        double v = 0;
        for (const Option &o : book)
            v += o.notional * p.price(o);
        value[g] = v;
    };
    for (std::size_t g = 0; g < grid.size(); g += 2) {
        DWELL_STEP();
        std::thread other([&] {
            if (g + 1 < grid.size())
                value_at(right, g + 1);
        });
        value_at(left, g);
        other.join();
    }

    double worst = 1e300, best = -1e300, sum = 0;
    for (double v : value) {
        worst = std::min(worst, v);
        best = std::max(best, v);
        sum += v;
    }
    std::printf("%zu scenarios: min %.2f max %.2f mean %.2f\n", grid.size(), worst, best,
                sum / double(value.size()));
    return 0;
}
