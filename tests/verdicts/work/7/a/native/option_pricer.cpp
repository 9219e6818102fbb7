// End-of-day valuation of an American put book: Crank-Nicolson in log price with a
// Brennan-Schwartz sweep for the early-exercise boundary, contracts spread over the
// cores, greeks from the grid.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <random>
#include <thread>
#include <vector>

namespace {

struct Contract {
    double spot, strike, vol, rate, years;
    int quantity;
};

struct Value {
    double price = 0, delta = 0, gamma = 0;
};

// Scratch of one worker; sized once, used for all of its contracts.
class Grid {
public:
    Grid(int nodes, int steps)
        : n_(nodes), steps_(steps), v_(nodes), rhs_(nodes), payoff_(nodes), diag_(nodes), upper_(nodes) {}

    Value price(const Contract &c) {
        const double width = 5 * c.vol * std::sqrt(c.years) + 0.05, dx = 2 * width / (n_ - 1), dt = c.years / steps_;
        const double drift = c.rate - 0.5 * c.vol * c.vol, var = c.vol * c.vol;
        const double lo = 0.25 * dt * (var / (dx * dx) - drift / dx), hi = 0.25 * dt * (var / (dx * dx) + drift / dx);
        const double mid = 0.5 * dt * (var / (dx * dx) + c.rate);

        for (int i = 0; i < n_; i++) {
            double s = c.spot * std::exp((i - n_ / 2) * dx);
            v_[i] = payoff_[i] = std::max(c.strike - s, 0.0);
        }
        // The matrix is the same in all steps: eliminate the upper diagonal once.
        diag_[n_ - 1] = 1 + mid;
        for (int i = n_ - 2; i >= 0; i--) {
            upper_[i] = -hi / diag_[i + 1];
            diag_[i] = 1 + mid + upper_[i] * lo;
        }
        for (int k = 0; k < steps_; k++)
            step(lo, mid, hi);
        return greeks(c, dx);
    }

private:
    void step(double lo, double mid, double hi) {
        const double *v = v_.data();
        double *rhs = rhs_.data();
        rhs[0] = payoff_[0];
        rhs[n_ - 1] = 0;
        for (int i = 1; i < n_ - 1; i++)
            rhs[i] = lo * v[i - 1] + (1 - mid) * v[i] + hi * v[i + 1];
        for (int i = n_ - 2; i >= 1; i--)
            rhs[i] -= upper_[i] * rhs[i + 1];
        // From deep in the money outwards: first the exercise region, then the rest.
        double *out = v_.data();
        out[0] = payoff_[0];
        for (int i = 1; i < n_ - 1; i++)
            out[i] = std::max((rhs[i] + lo * out[i - 1]) / diag_[i], payoff_[i]);
        out[n_ - 1] = 0;
    }

    Value greeks(const Contract &c, double dx) const {
        const int m = n_ / 2;
        const double up = c.spot * std::exp(dx), down = c.spot * std::exp(-dx);
        const double d_up = (v_[m + 1] - v_[m]) / (up - c.spot), d_down = (v_[m] - v_[m - 1]) / (c.spot - down);
        return {v_[m], 0.5 * (d_up + d_down), (d_up - d_down) / (0.5 * (up - down))};
    }

    int n_, steps_;
    std::vector<double> v_, rhs_, payoff_, diag_, upper_;
};

std::vector<Contract> load_book(size_t n) {
    std::mt19937 gen(31337);
    std::uniform_real_distribution<double> u(0, 1);
    std::vector<Contract> book;
    book.reserve(n);
    for (size_t i = 0; i < n; i++) {
        double spot = 20 + 180 * u(gen);
        book.push_back({spot, spot * (0.8 + 0.4 * u(gen)), 0.1 + 0.4 * u(gen), 0.01 + 0.04 * u(gen), 0.1 + 1.9 * u(gen),
                        static_cast<int>(gen() % 400) - 150});
    }
    return book;
}

std::vector<Value> price_book(const std::vector<Contract> &book, int nodes, int steps) {
    std::vector<Value> values(book.size());
    std::atomic<size_t> next{0};
    auto work = [&] {
        constexpr size_t chunk = 8;
        Grid grid(nodes, steps);
        for (size_t begin; (begin = next.fetch_add(chunk)) < book.size();)
            for (size_t i = begin; i < std::min(begin + chunk, book.size()); i++)
                values[i] = grid.price(book[i]);
    };
    std::vector<std::thread> workers;
    for (unsigned k = 1; k < std::max(1u, std::thread::hardware_concurrency()); k++)
        workers.emplace_back(work);
    work();
    for (auto &w : workers)
        w.join();
    return values;
}

} // namespace

int main() {
    const auto book = load_book(3400);
    const auto values = price_book(book, 701, 360);
    double total = 0, delta = 0, gamma = 0, worst = 0;
    for (size_t i = 0; i < book.size(); i++) {
        total += book[i].quantity * values[i].price;
        delta += book[i].quantity * values[i].delta;
        gamma += book[i].quantity * values[i].gamma;
        worst = std::max(worst, values[i].price / book[i].strike);
    }
    std::printf("contracts %zu  value %.2f  delta %.3f  gamma %.4f  richest %.4f\n", book.size(), total, delta, gamma, worst);
    return std::isfinite(total) ? 0 : 1;
}
