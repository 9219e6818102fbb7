// Prices of path-dependent options by Monte Carlo simulation.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <random>
#include <vector>
#include "dwell/dwell.h"

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Contract { const char* name; double strike; double barrier; int months; };
struct Market { double spot, rate, volatility; };
struct Estimate { double price = 0, error = 0; long knocked = 0; };

struct Sampler {
    long calls = 0, taken = 0;
    double sum = 0, low = 1;
    bool due() { return ++calls % 16 == 0; }
    void add(double t) {
        if (t > 0 && t < low) low = t;
        if (t < 4 * low) { sum += t; ++taken; }
    }
    double estimate() const { return taken ? sum / taken * calls : 0; }
};
static Sampler seeding;

// Every path has its own number, so that a single path can be repeated later.
static std::mt19937 generator(unsigned path) {
    std::mt19937 g(path * 2654435761u + 1);
    g.discard(2);
    return g;
}

static double payoff(const std::vector<double>& path, const Contract& c, bool& knocked) {
    double sum = 0, top = 0;
    for (double p : path) {
        sum += p;
        if (p > top) top = p;
    }
    knocked = top >= c.barrier;
    if (knocked) return 0;
    double mean = sum / path.size();
    return mean > c.strike ? mean - c.strike : 0;
}

static void walk(std::mt19937& g, const Market& m, std::vector<double>& path) {
    std::normal_distribution<double> normal;
    double dt = 1 / 48.0;
    double drift = (m.rate - 0.5 * m.volatility * m.volatility) * dt, scale = m.volatility * std::sqrt(dt);
    double price = m.spot;
    for (double& p : path) {
        price *= std::exp(drift + scale * normal(g));
        p = price;
    }
}

static Estimate simulate(const Contract& c, const Market& m, int paths, unsigned first) {
    Estimate e;
    std::vector<double> path(c.months * 4);
    double sum = 0, squares = 0;
    double discount = std::exp(-m.rate * c.months / 12.0);
#ifdef REPAIRED
    std::mt19937 g = generator(first);
#endif
    for (int i = 0; i < paths; ++i) {
#ifndef REPAIRED
        bool due = seeding.due();
        auto t = due ? Clock::now() : Clock::time_point();
        std::mt19937 g = generator(first + i);
        if (due) seeding.add(since(t) - 30e-9);
#endif
        walk(g, m, path);
        bool knocked;
        double v = discount * payoff(path, c, knocked);
        sum += v;
        squares += v * v;
        e.knocked += knocked;
    }
    e.price = sum / paths;
    e.error = std::sqrt((squares / paths - e.price * e.price) / paths);
    return e;
}

// Implied flat volatility of a plain option with the same price, by bisection.
static double implied(const Contract& c, const Market& m, double price) {
    auto cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
    double low = 0.01, high = 2, t = c.months / 12.0;
    for (int i = 0; i < 60; ++i) {
        double v = 0.5 * (low + high), s = v * std::sqrt(t);
        double d1 = (std::log(m.spot / c.strike) + (m.rate + 0.5 * v * v) * t) / s;
        double value = m.spot * cdf(d1) - c.strike * std::exp(-m.rate * t) * cdf(d1 - s);
        (value < price ? low : high) = v;
    }
    return 0.5 * (low + high);
}

int main() {
    auto start = Clock::now();
    Market market{100, 0.03, 0.22};
    std::vector<Contract> contracts;
    for (int k = 0; k < 6; ++k) contracts.push_back({k % 2 ? "barrier" : "plain", 92.0 + 4 * k, k % 2 ? 135.0 : 1e9, 9 + k});
    unsigned path = 1;
    for (int day = 0; day < 12; ++day) {
        DWELL_STEP();
        market.spot = 100 + 3 * std::sin(day * 0.9);
        market.volatility = 0.22 + 0.02 * std::cos(day * 0.5);
        double total = 0, error = 0, vol = 0;
        long knocked = 0;
        for (const Contract& c : contracts) {
            Estimate e = simulate(c, market, 6500, path);
            path += 6500;
            total += e.price;
            error += e.error * e.error;
            knocked += e.knocked;
            vol += implied(c, market, e.price) / contracts.size();
        }
        printf("day %2d: book %.3f +- %.3f, %ld knocked out, implied %.4f\n", day, total, std::sqrt(error), knocked, vol);
    }
    double total = since(start);
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", seeding.estimate() * CLOCKS_PER_SEC / clock(), total);
}
