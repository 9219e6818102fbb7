// swaption_grid: prices the desk's Bermudan swaptions for the morning report.
//
// Every deal is priced on a short-rate lattice of its currency, expiry bucket
// and scenario. Lattices are calibrated to the discount curve when first needed
// and are shared by the deals of the same bucket. Two workers share the book.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

namespace {

constexpr int kWorkers = 2;
constexpr int kSteps = 420;
constexpr double kYears = 10.0;
constexpr double kDt = kYears / kSteps;

struct Deal {
    int currency, bucket, scenario;
    double strike, notional;
    bool payer;
};

using Key = std::tuple<int, int, int>;

double marketDiscount(int currency, int scenario, double t) {
    double level = 0.015 + 0.006 * currency + 0.001 * scenario;
    double z = level + 0.01 * (1.0 - std::exp(-t / 3.0)) - 0.002 * std::exp(-t);
    return std::exp(-z * t);
}

// Black-Derman-Toy lattice: r(i, j) = base(i) * exp(2 j sigma sqrt(dt)).
class Lattice {
public:
    explicit Lattice(const Key& key) : base_(kSteps) {
        auto [currency, bucket, scenario] = key;
        sigma_ = 0.12 + 0.02 * bucket;
        std::vector<double> arrow{1.0};  // Arrow-Debreu prices of the states of step i
        up_ = std::exp(2.0 * sigma_ * std::sqrt(kDt));
        double guess = 0.02;
        for (int i = 0; i < kSteps; ++i) {
            double target = marketDiscount(currency, scenario, (i + 1) * kDt);
            guess = solve(arrow, target, guess, i);
            base_[i] = guess;
            std::vector<double> next(i + 2, 0.0);
            double r = guess * std::pow(up_, -0.5 * i);
            for (int j = 0; j <= i; ++j, r *= up_) {
                double v = 0.5 * arrow[j] * std::exp(-r * kDt);
                next[j] += v;
                next[j + 1] += v;
            }
            arrow.swap(next);
        }
    }

    double discount(int i, int j) const { return std::exp(-base_[i] * std::pow(up_, j - 0.5 * i) * kDt); }
    double lowest(int i) const { return base_[i] * std::pow(up_, -0.5 * i); }
    double ratio() const { return up_; }

private:
    double solve(const std::vector<double>& arrow, double target, double guess, int i) const {
        double lo = 1e-6, hi = 0.6, x = guess;
        for (int it = 0; it < 60; ++it) {
            double value = 0, slope = 0, m = std::pow(up_, -0.5 * i);
            for (int j = 0; j <= i; ++j, m *= up_) {
                double d = arrow[j] * std::exp(-x * m * kDt);
                value += d;
                slope -= d * m * kDt;
            }
            double miss = value - target;
            if (std::fabs(miss) < 1e-14) break;
            (miss > 0 ? lo : hi) = x;
            double newton = x - miss / slope;
            x = newton > lo && newton < hi ? newton : 0.5 * (lo + hi);
            if (hi - lo < 1e-15) break;
        }
        return x;
    }

    std::vector<double> base_;
    double sigma_ = 0, up_ = 0;
};

class LatticeCache {
public:
    std::shared_ptr<const Lattice> get(const Key& key) {
        {
            std::lock_guard<std::mutex> hold(mutex_);
            auto it = lattices_.find(key);
            if (it != lattices_.end()) return it->second;
        }
        auto fresh = std::make_shared<const Lattice>(key);
        std::lock_guard<std::mutex> hold(mutex_);
        return lattices_.emplace(key, std::move(fresh)).first->second;
    }
    std::size_t size() const { return lattices_.size(); }

private:
    std::mutex mutex_;
    std::map<Key, std::shared_ptr<const Lattice>> lattices_;
};

double price(const Deal& d, const Lattice& lat) {
    constexpr int kCoupon = 17;  // two coupons a year
    const int firstExercise = kSteps / 5 + 8 * d.bucket;
    std::vector<double> swap(kSteps + 1, 0.0), option(kSteps + 1, 0.0);
    for (int i = kSteps - 1; i >= 0; --i) {
        double r = lat.lowest(i);
        bool coupon = i % kCoupon == 0;
        for (int j = 0; j <= i; ++j, r *= lat.ratio()) {
            double df = 1.0 / (1.0 + r * kDt);
            swap[j] = df * 0.5 * (swap[j] + swap[j + 1]) + (r - d.strike) * kDt;
            option[j] = df * 0.5 * (option[j] + option[j + 1]);
            if (coupon && i >= firstExercise) option[j] = std::max(option[j], d.payer ? swap[j] : -swap[j]);
        }
    }
    return d.notional * option[0];
}

}  // namespace

int main() {
    std::mt19937 rng(31);
    std::vector<Deal> book;
    for (int scenario = 0; scenario < 130; ++scenario)
        for (int currency = 0; currency < 4; ++currency)
            for (int bucket = 0; bucket < 6; ++bucket)
                for (int k = 0; k < 2; ++k)
                    book.push_back({currency, bucket, scenario, 0.02 + 0.00001 * (rng() % 3000),
                                    1e6 * (1 + rng() % 20), (rng() & 1) != 0});
    std::shuffle(book.begin(), book.end(), rng);

    LatticeCache cache;
    std::vector<double> value(book.size());
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> workers;
    for (int w = 0; w < kWorkers; ++w)
        workers.emplace_back([&] {
            for (std::size_t i = next++; i < book.size(); i = next++) {
                const Deal& d = book[i];
                value[i] = price(d, *cache.get({d.currency, d.bucket, d.scenario}));
            }
        });
    for (auto& t : workers) t.join();

    double total = 0, largest = 0;
    for (double v : value) {
        total += v;
        largest = std::max(largest, v);
    }
    std::printf("deals %zu  lattices %zu  book value %.2f  largest %.2f\n", book.size(), cache.size(), total, largest);
    return 0;
}
