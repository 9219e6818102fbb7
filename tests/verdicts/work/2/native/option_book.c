/* Values a book of Asian and barrier options by Monte Carlo under a term structure. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

#define PILLARS 24
#define STEPS 128
#define PATHS 15000
#define CONTRACTS 60

typedef struct {
    double time[PILLARS], rate[PILLARS], vol[PILLARS];
} Curve;

typedef struct {
    double strike, barrier, maturity, spot;
    int asian;
} Contract;

typedef struct {
    uint64_t s;
    double spare;
    int have_spare;
} Normal;

static double uniform(Normal *g)
{
    g->s ^= g->s << 13;
    g->s ^= g->s >> 7;
    g->s ^= g->s << 17;
    return (double)(g->s >> 11) / 9007199254740992.0;
}

static double normal(Normal *g)
{
    if (g->have_spare) {
        g->have_spare = 0;
        return g->spare;
    }
    double u, v, q;
    do {
        u = 2 * uniform(g) - 1;
        v = 2 * uniform(g) - 1;
        q = u * u + v * v;
    } while (q >= 1 || q == 0);
    double m = sqrt(-2 * log(q) / q);
    g->spare = v * m;
    g->have_spare = 1;
    return u * m;
}

static void curve_init(Curve *c)
{
    for (int i = 0; i < PILLARS; i++) {
        c->time[i] = 0.05 * pow(1.22, i);
        c->rate[i] = 0.02 + 0.015 * (1 - exp(-c->time[i]));
        c->vol[i] = 0.28 - 0.07 * (1 - exp(-0.7 * c->time[i]));
    }
}

static int pillar_before(const Curve *c, double t)
{
    int i = 0;
    while (i < PILLARS - 2 && c->time[i + 1] < t) i++;
    return i;
}

static double curve_rate(const Curve *c, double t)
{
    int i = pillar_before(c, t);
    double w = (t - c->time[i]) / (c->time[i + 1] - c->time[i]);
    w = w < 0 ? 0 : w > 1 ? 1 : w;
    return exp((1 - w) * log(c->rate[i]) + w * log(c->rate[i + 1]));
}

static double curve_vol(const Curve *c, double t)
{
    int i = pillar_before(c, t);
    double w = (t - c->time[i]) / (c->time[i + 1] - c->time[i]);
    w = w < 0 ? 0 : w > 1 ? 1 : w;
    return sqrt((1 - w) * c->vol[i] * c->vol[i] + w * c->vol[i + 1] * c->vol[i + 1]);
}

static double advance(const Curve *c, double x, double t, double dt, double z)
{
    double r = curve_rate(c, t), v = curve_vol(c, t);
    return x + (r - 0.5 * v * v) * dt + v * sqrt(dt) * z;
}

static double path_payoff(const Contract *k, const Curve *c, Normal *g)
{
    double dt = k->maturity / STEPS, x = log(k->spot), sum = 0;
    int knocked = 0;
    for (int s = 0; s < STEPS; s++) {
        x = advance(c, x, (s + 0.5) * dt, dt, normal(g));
        double price = exp(x);
        sum += price;
        if (price > k->barrier) knocked = 1;
    }
    if (k->asian) return fmax(sum / STEPS - k->strike, 0);
    return knocked ? 0 : fmax(exp(x) - k->strike, 0);
}

static double value(const Contract *k, const Curve *c, Normal *g)
{
    double total = 0;
    for (int p = 0; p < PATHS; p++) total += path_payoff(k, c, g);
    return exp(-curve_rate(c, k->maturity) * k->maturity) * total / PATHS;
}

int main(void)
{
    Curve curve;
    curve_init(&curve);
    Normal g = {0x9E3779B97F4A7C15ull, 0, 0};
    double book = 0;
    for (int i = 0; i < CONTRACTS; i++) {
        DWELL_STEP();
        Contract k = {90 + i % 20, 150 + i % 7, 0.5 + 0.05 * i, 100, i % 3 == 0};
        double v = value(&k, &curve, &g);
        book += v;
        if (i % 12 == 0) printf("contract %d value %.8f\n", i, v);
    }
    printf("book %.8f\n", book);
    return 0;
}
