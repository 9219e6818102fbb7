// Dispatch of a battery against day-ahead prices: backward dynamic programming
// over state of charge with uncertain wind output, one week ahead, rolling.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>
#include <dwell/probe.h>

namespace {

constexpr int LEVELS = 401;              // state of charge grid
constexpr int ACTIONS = 41;              // charge steps per hour, symmetric
constexpr int SCENARIOS = 5;
constexpr int HORIZON = 168;
constexpr int DAYS = 130;
constexpr double CAPACITY = 80.0;        // MWh
constexpr double STEP = CAPACITY / (LEVELS - 1);
constexpr double EFFICIENCY = 0.93;
constexpr double WEAR = 2.1;             // EUR per MWh moved
constexpr double GRID_LIMIT = 14.0;      // MW at the connection

struct Hour {
    double price;
    std::array<double, SCENARIOS> wind, prob;
};

std::vector<Hour> make_market(int hours)
{
    std::mt19937 rng(77);
    std::normal_distribution<double> noise(0, 1);
    std::vector<Hour> h(hours);
    double slow = 0, gust = 0;
    for (int t = 0; t < hours; t++) {
        slow = 0.98 * slow + 0.2 * noise(rng);
        gust = 0.9 * gust + 0.3 * noise(rng);
        double day = std::sin((t % 24 - 9) * M_PI / 12) + 0.5 * std::sin((t % 24 - 5) * M_PI / 6);
        h[t].price = 60 + 22 * day + 14 * slow + 3 * noise(rng);
        for (int s = 0; s < SCENARIOS; s++) {
            double x = 1 / (1 + std::exp(-(gust + 0.5 * (s - SCENARIOS / 2))));
            h[t].wind[s] = 12 * x;
            h[t].prob[s] = s == 2 ? 0.4 : 0.15;
        }
    }
    return h;
}

// Expected revenue in one hour for every action; does not depend on the charge.
std::array<double, ACTIONS> action_values(const Hour &h)
{
    std::array<double, ACTIONS> value;
    for (int a = 0; a < ACTIONS; a++) {
        const double move = (a - ACTIONS / 2) * STEP * 2;     // MWh into the battery
        const double power = move > 0 ? -move / EFFICIENCY : -move * EFFICIENCY;
        double v = -WEAR * std::fabs(move);
        for (int s = 0; s < SCENARIOS; s++) {
            double out = std::clamp(h.wind[s] + power, -GRID_LIMIT, GRID_LIMIT);
            double short_fall = std::fabs(h.wind[s] + power - out);
            v += h.prob[s] * (out * h.price - 25 * short_fall);
        }
        value[a] = v;
    }
    return value;
}

class Planner {
public:
    Planner() : next_(LEVELS), now_(LEVELS), policy_(HORIZON * LEVELS) {}

    void solve(const Hour *hours)
    {
        std::fill(next_.begin(), next_.end(), 0.0);
        for (int t = HORIZON - 1; t >= 0; t--) {
            const auto value = action_values(hours[t]);
            for (int s = 0; s < LEVELS; s++) {
                const int lo = std::max(0, ACTIONS / 2 - s / 2);
                const int hi = std::min(ACTIONS - 1, ACTIONS / 2 + (LEVELS - 1 - s) / 2);
                double best = -1e300;
                int arg = ACTIONS / 2;
                for (int a = lo; a <= hi; a++) {
                    const double v = value[a] + next_[s + 2 * (a - ACTIONS / 2)];
                    if (v > best) {
                        best = v;
                        arg = a;
                    }
                }
                now_[s] = best;
                policy_[t * LEVELS + s] = (signed char)(arg - ACTIONS / 2);
            }
            std::swap(now_, next_);
        }
    }

    int action(int t, int level) const { return policy_[t * LEVELS + level]; }
    double value(int level) const { return next_[level]; }

private:
    std::vector<double> next_, now_;
    std::vector<signed char> policy_;
};

double realized(const Hour &h, int action, std::mt19937 &rng)
{
    double u = std::uniform_real_distribution<double>(0, 1)(rng);
    int s = 0;
    while (s < SCENARIOS - 1 && u > h.prob[s])
        u -= h.prob[s++];
    const double move = action * STEP * 2;
    const double power = move > 0 ? -move / EFFICIENCY : -move * EFFICIENCY;
    const double out = std::clamp(h.wind[s] + power, -GRID_LIMIT, GRID_LIMIT);
    return out * h.price - WEAR * std::fabs(move) - 25 * std::fabs(h.wind[s] + power - out);
}

}  // namespace

int main()
{
    const auto market = make_market(DAYS * 24 + HORIZON);
    Planner planner;
    std::mt19937 rng(3);
    int level = LEVELS / 2;
    double revenue = 0, moved = 0, expected = 0;
    for (int hour = 0; hour < DAYS * 24; hour++) {
        DWELL_STEP();
        planner.solve(&market[hour]);
        if (hour == 0) expected = planner.value(level);
        const int a = planner.action(0, level);
        revenue += realized(market[hour], a, rng);
        moved += std::fabs(a * STEP * 2);
        level += 2 * a;
        if ((hour + 1) % 480 == 0)
            std::printf("day %d revenue %.2f charge %.1f MWh\n", (hour + 1) / 24, revenue,
                        level * STEP);
    }
    std::printf("first week expected %.2f, total %.2f, moved %.1f MWh\n", expected, revenue, moved);
    return 0;
}
