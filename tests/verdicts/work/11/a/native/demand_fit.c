/* Chooses the smoothing of a Holt-Winters forecast for each article of a shop.
 *
 * Two years of daily sales are walked through with every setting of a grid; the setting
 * with the least squared one-day-ahead error is refined once around its best point. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "dwell.h"

#define ARTICLES 660
#define DAYS 730
#define SEASON 7
#define HORIZON 28
#define GRID 14
#define FINE 5

typedef struct {
    double level, trend, season; /* smoothing weights */
} Setting;

typedef struct {
    double level, trend;
    double season[SEASON];
} State;

static uint64_t rng_state = 88172645463325252ull;

static double uniform(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (double)(rng_state >> 11) / 9007199254740992.0;
}

static double gauss(void)
{
    double s = 0;
    for (int i = 0; i < 12; i++)
        s += uniform();
    return s - 6.0;
}

static void make_sales(double *y, int days)
{
    double level = 20 + 80 * uniform(), slope = 0.04 * (uniform() - 0.4), week[SEASON];
    for (int d = 0; d < SEASON; d++)
        week[d] = 12 * uniform() * (d >= 5 ? 1.6 : 1.0);
    for (int t = 0; t < days; t++) {
        if (uniform() < 0.004)
            level *= 0.8 + 0.4 * uniform();
        level += slope;
        double v = level + week[t % SEASON] + 4.0 * gauss();
        y[t] = v > 0 ? v : 0;
    }
}

static void state_init(State *s, const double *y)
{
    double first = 0, second = 0;
    for (int i = 0; i < SEASON; i++) {
        first += y[i];
        second += y[SEASON + i];
    }
    s->level = first / SEASON;
    s->trend = (second - first) / (SEASON * SEASON);
    for (int i = 0; i < SEASON; i++)
        s->season[i] = y[i] - s->level;
}

/* Walks the series, leaves the last state in s, and returns the sum of squared errors. */
static double walk(const double *y, int days, Setting w, State *s)
{
    double sse = 0;
    state_init(s, y);
    for (int t = SEASON, phase = 0; t < days; t++) {
        double error = y[t] - (s->level + s->trend + s->season[phase]);
        sse += error * error;
        double level = s->level + s->trend + w.level * error;
        s->trend += w.level * w.trend * error;
        s->season[phase] += w.season * (1 - w.level) * error;
        s->level = level;
        phase = phase + 1 == SEASON ? 0 : phase + 1;
    }
    return sse;
}

/* Tries n settings per axis between lo and hi. */
static double search(const double *y, int days, Setting lo, Setting hi, int n, Setting *best)
{
    double least = DBL_MAX;
    State s;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            for (int c = 0; c < n; c++) {
                Setting w = {
                    lo.level + (hi.level - lo.level) * a / (n - 1),
                    lo.trend + (hi.trend - lo.trend) * b / (n - 1),
                    lo.season + (hi.season - lo.season) * c / (n - 1),
                };
                double sse = walk(y, days, w, &s);
                if (sse < least) {
                    least = sse;
                    *best = w;
                }
            }
        }
    }
    return least;
}

static double clamp01(double v)
{
    return v < 0.001 ? 0.001 : v > 0.999 ? 0.999 : v;
}

static Setting shifted(Setting w, double by)
{
    return (Setting){clamp01(w.level + by), clamp01(w.trend + by), clamp01(w.season + by)};
}

static double fit(const double *y, int days, Setting *best)
{
    Setting lo = {0.02, 0.01, 0.02}, hi = {0.8, 0.4, 0.8};
    double coarse = search(y, days, lo, hi, GRID, best);
    Setting centre = *best, refined = *best;
    double fine = search(y, days, shifted(centre, -0.03), shifted(centre, 0.03), FINE, &refined);
    if (fine < coarse) {
        *best = refined;
        return fine;
    }
    return coarse;
}

/* Mean absolute error of the forecast for the days that were held back. */
static double holdout(const double *y, int days, Setting w)
{
    State s;
    walk(y, days, w, &s);
    double sum = 0;
    for (int h = 0; h < HORIZON; h++) {
        double forecast = s.level + (h + 1) * s.trend + s.season[(days + h) % SEASON];
        sum += fabs(y[days + h] - forecast);
    }
    return sum / HORIZON;
}

int main(void)
{
    double *y = malloc(sizeof *y * (DAYS + HORIZON));
    if (!y) {
        perror("malloc");
        return 1;
    }
    double rmse = 0, mae = 0;
    Setting mean = {0, 0, 0};
    for (int n = 0; n < ARTICLES; n++) {
        Setting w;
        make_sales(y, DAYS + HORIZON);
        double sse = fit(y, DAYS, &w);
        rmse += sqrt(sse / (DAYS - SEASON));
        mae += holdout(y, DAYS, w);
        mean.level += w.level / ARTICLES;
        mean.trend += w.trend / ARTICLES;
        mean.season += w.season / ARTICLES;
        DWELL_STEP();
    }
    printf("articles %d, one-day rmse %.4f, four-week mae %.4f\n", ARTICLES, rmse / ARTICLES, mae / ARTICLES);
    printf("mean weights: level %.4f, trend %.4f, season %.4f\n", mean.level, mean.trend, mean.season);
    free(y);
    return 0;
}
