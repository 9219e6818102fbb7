// Revalues a book of options once per market tick: moves the spot prices,
// discounts along the currency curve, aggregates value and delta per desk.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

namespace {

struct Curve {
    std::vector<double> tenor;
    std::vector<double> rate;

    double at(double t) const
    {
        size_t lo = 0, hi = tenor.size() - 1;
        while (hi - lo > 1) {
            size_t mid = (lo + hi) / 2;
            (tenor[mid] <= t ? lo : hi) = mid;
        }
        double w = (t - tenor[lo]) / (tenor[hi] - tenor[lo]);
        return rate[lo] + w * (rate[hi] - rate[lo]);
    }
};

class Market {
public:
    explicit Market(unsigned seed) : rng_(seed)
    {
        for (const char* ccy : {"EUR", "USD", "GBP", "JPY"}) {
            Curve c;
            for (int i = 0; i <= 360; i++) {
                c.tenor.push_back(i / 12.0);
                c.rate.push_back(0.01 + 0.0004 * i / 12.0 + 0.002 * static_cast<double>(curves_.size()));
            }
            curves_[ccy] = c;
        }
        spots_.assign(64, 100.0);
    }

    void tick()
    {
        std::uniform_real_distribution<double> move(-0.4, 0.4);
        for (double& s : spots_)
            s += move(rng_);
    }

    Curve curve(const std::string& ccy) const { return curves_.at(ccy); }
    double spot(int underlying) const { return spots_[static_cast<size_t>(underlying)]; }

private:
    std::mt19937 rng_;
    std::map<std::string, Curve> curves_;
    std::vector<double> spots_;
};

struct Option {
    int underlying;
    int desk;
    std::string ccy;
    double strike, expiry, vol, quantity;
    bool call;
};

struct Greeks {
    double value = 0, delta = 0;
};

double norm_cdf(double x)
{
    return 0.5 * std::erfc(-x * M_SQRT1_2);
}

Greeks black_scholes(const Option& o, double spot, double r)
{
    double sd = o.vol * std::sqrt(o.expiry);
    double d1 = (std::log(spot / o.strike) + (r + 0.5 * o.vol * o.vol) * o.expiry) / sd;
    double df = std::exp(-r * o.expiry);
    double n1 = norm_cdf(d1), n2 = norm_cdf(d1 - sd);
    double call = spot * n1 - o.strike * df * n2;
    Greeks g;
    g.value = o.call ? call : call - spot + o.strike * df;
    g.delta = o.call ? n1 : n1 - 1.0;
    return g;
}

Greeks revalue(const Option& o, const Market& m)
{
    auto discount = m.curve(o.ccy);
    Greeks g = black_scholes(o, m.spot(o.underlying), discount.at(o.expiry));
    g.value *= o.quantity;
    g.delta *= o.quantity;
    return g;
}

std::vector<Option> build_book(size_t n)
{
    static const char* const ccys[] = {"EUR", "USD", "GBP", "JPY"};
    std::mt19937 rng(11);
    std::uniform_real_distribution<double> u(0.0, 1.0);
    std::vector<Option> book;
    for (size_t i = 0; i < n; i++)
        book.push_back({static_cast<int>(rng() % 64), static_cast<int>(rng() % 8), ccys[rng() % 4], 80 + 40 * u(rng),
                        0.1 + 9 * u(rng), 0.1 + 0.3 * u(rng), 1.0 + static_cast<double>(rng() % 50), u(rng) < 0.5});
    return book;
}

}  // namespace

int main(int argc, char** argv)
{
    int ticks = argc > 1 ? std::atoi(argv[1]) : 2600;
    Market market(5);
    std::vector<Option> book = build_book(8000);
    double desk[8] = {0}, delta = 0;
    for (int t = 0; t < ticks; t++) {
        market.tick();
        for (const Option& o : book) {
            Greeks g = revalue(o, market);
            desk[o.desk] += g.value;
            delta += g.delta;
        }
        DWELL_STEP();
    }
    double total = 0;
    for (double d : desk)
        total += d;
    std::printf("ticks %d value %.4f delta %.4f\n", ticks, total / ticks, delta / ticks);
    return 0;
}
