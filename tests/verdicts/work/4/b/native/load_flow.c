/* Hourly DC load flow over a year for a synthetic transmission grid:
 * injections change each hour, branch flows are checked against ratings. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwell/probe.h>

#define BUSES 236
#define BRANCHES 540
#define HOURS 8760
#define SLACK 0

typedef struct {
    int from, to;
    double x, rating;
} Branch;

typedef struct {
    Branch br[BRANCHES];
    int nbr;
    double peak[BUSES];        /* peak demand, MW */
    double cap[BUSES];         /* generator capacity, MW */
    double wind[BUSES];
} Network;

typedef struct {
    int n;
    double *lu;
    int *piv;
} Factor;

static uint32_t seed = 4242;

static double uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) / 16777216.0;
}

static void network_build(Network *g)
{
    memset(g, 0, sizeof *g);
    for (int i = 1; i < BUSES; i++) {
        int near = i - 1 - (int)(uniform() * (i < 8 ? i : 8));
        g->br[g->nbr++] = (Branch){ near < 0 ? 0 : near, i, 0.02 + 0.1 * uniform(), 400 };
    }
    while (g->nbr < BRANCHES) {
        int a = (int)(uniform() * BUSES), b = (a + 1 + (int)(uniform() * 25)) % BUSES;
        if (a != b) g->br[g->nbr++] = (Branch){ a, b, 0.03 + 0.15 * uniform(), 250 };
    }
    for (int i = 0; i < BUSES; i++) {
        g->peak[i] = 20 + 60 * uniform();
        if (uniform() < 0.2) g->cap[i] = 500;
        if (uniform() < 0.15) g->wind[i] = 120;
    }
    g->cap[SLACK] = 1000;
}

/* Susceptance matrix without the slack bus. */
static void susceptance(const Network *g, double *m, int n)
{
    memset(m, 0, sizeof(double) * n * n);
    for (int k = 0; k < g->nbr; k++) {
        int a = g->br[k].from - 1, b = g->br[k].to - 1;
        double y = 1.0 / g->br[k].x;
        if (a >= 0) m[a * n + a] += y;
        if (b >= 0) m[b * n + b] += y;
        if (a >= 0 && b >= 0) {
            m[a * n + b] -= y;
            m[b * n + a] -= y;
        }
    }
}

static void factorize(Factor *f)
{
    int n = f->n;
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(f->lu[i * n + k]) > fabs(f->lu[p * n + k])) p = i;
        f->piv[k] = p;
        if (p != k)
            for (int j = 0; j < n; j++) {
                double t = f->lu[k * n + j];
                f->lu[k * n + j] = f->lu[p * n + j];
                f->lu[p * n + j] = t;
            }
        for (int i = k + 1; i < n; i++) {
            double l = f->lu[i * n + k] /= f->lu[k * n + k];
            if (l == 0) continue;
            for (int j = k + 1; j < n; j++)
                f->lu[i * n + j] -= l * f->lu[k * n + j];
        }
    }
}

static void solve(const Factor *f, double *b)
{
    int n = f->n;
    for (int k = 0; k < n; k++) {
        double t = b[k];
        b[k] = b[f->piv[k]];
        b[f->piv[k]] = t;
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            b[i] -= f->lu[i * n + j] * b[j];
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= f->lu[i * n + j] * b[j];
        b[i] /= f->lu[i * n + i];
    }
}

static void injections(const Network *g, int hour, double *p)
{
    double day = 0.75 + 0.25 * sin((hour % 24 - 8) * M_PI / 12);
    double season = 0.85 + 0.15 * cos(hour * 2 * M_PI / 8760);
    double need = 0, cap = 0;
    for (int i = 0; i < BUSES; i++) {
        double gust = 0.5 + 0.5 * sin(hour * 0.07 + i);
        p[i] = g->wind[i] * gust - g->peak[i] * day * season * (0.95 + 0.1 * uniform());
        need -= p[i];
        cap += g->cap[i];
    }
    for (int i = 0; i < BUSES; i++)
        p[i] += need * g->cap[i] / cap;
}

int main(void)
{
    static Network g;
    network_build(&g);
    const int n = BUSES - 1;
    Factor f = { n, malloc(sizeof(double) * n * n), malloc(sizeof(int) * n) };
    double p[BUSES], theta[BUSES], worst = 0, energy = 0;
    int overloads = 0, worst_hour = 0;

    for (int hour = 0; hour < HOURS; hour++) {
        DWELL_STEP();
        injections(&g, hour, p);
        theta[SLACK] = 0;
        for (int i = 0; i < n; i++)
            theta[i + 1] = p[i + 1] / 100.0;
        susceptance(&g, f.lu, n);
        factorize(&f);
        solve(&f, theta + 1);
        for (int k = 0; k < g.nbr; k++) {
            const Branch *b = &g.br[k];
            double flow = 100.0 * (theta[b->from] - theta[b->to]) / b->x;
            double use = fabs(flow) / b->rating;
            energy += fabs(flow);
            if (use > 1.0) overloads++;
            if (use > worst) {
                worst = use;
                worst_hour = hour;
            }
        }
    }
    printf("hours %d overloads %d worst %.4f at hour %d, mean flow %.3f MW\n", HOURS, overloads,
           worst, worst_hour, energy / HOURS / g.nbr);
    free(f.lu);
    free(f.piv);
    return 0;
}
