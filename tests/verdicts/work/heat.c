/* Heat spreading through a plate with a few hot and cold spots. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "dwell/dwell.h"

#define N 2048
#define STEPS 18

static double (*plate)[N], (*next)[N];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void place_sources(int step)
{
    for (int k = 0; k < 16; k++) {
        int cx = 100 + (k * 613) % (N - 200), cy = 100 + (k * 977) % (N - 200);
        double level = k % 3 ? 100.0 + 10 * sin(step * 0.2 + k) : -40.0;
        for (int dy = -12; dy <= 12; dy++)
            for (int dx = -12; dx <= 12; dx++)
                if (dx * dx + dy * dy <= 144) plate[cy + dy][cx + dx] = level;
    }
}

static void spread(double k)
{
#ifdef REPAIRED
    for (int y = 1; y < N - 1; y++)
        for (int x = 1; x < N - 1; x++)
#else
    for (int x = 1; x < N - 1; x++)
        for (int y = 1; y < N - 1; y++)
#endif
            next[y][x] = plate[y][x] + k * (plate[y - 1][x] + plate[y + 1][x] + plate[y][x - 1] + plate[y][x + 1] - 4 * plate[y][x]);
}

static void edges(void)
{
    for (int i = 0; i < N; i++) {
        next[0][i] = next[1][i];
        next[N - 1][i] = next[N - 2][i];
        next[i][0] = next[i][1];
        next[i][N - 1] = next[i][N - 2];
    }
}

static double change(double *hottest)
{
    double sum = 0, hot = -1e9;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            double d = next[y][x] - plate[y][x];
            sum += d * d;
            if (next[y][x] > hot) hot = next[y][x];
        }
    *hottest = hot;
    return sqrt(sum / ((double)N * N));
}

static double disorder(void)
{
    double sum = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            double p = (plate[y][x] + 60) / 200;
            sum -= p > 0 ? p * log(p) : 0;
        }
    return sum / ((double)N * N);
}

static void isotherms(long counts[8])
{
    for (int i = 0; i < 8; i++) counts[i] = 0;
    for (int y = 0; y < N; y++)
        for (int x = 0; x < N; x++) {
            int band = (int)((plate[y][x] + 40) / 20);
            counts[band < 0 ? 0 : band > 7 ? 7 : band]++;
        }
}

int main(void)
{
    double start = now(), spreading = 0, hottest = 0;
    long bands[8];
    plate = calloc(N, sizeof *plate);
    next = calloc(N, sizeof *next);
    if (!plate || !next) return 1;
    for (int step = 0; step < STEPS; step++) {
        DWELL_STEP();
        place_sources(step);
        double t = now();
        spread(0.2);
        spreading += now() - t;
        edges();
        double c = change(&hottest);
        double (*swap)[N] = plate;
        plate = next;
        next = swap;
        isotherms(bands);
        double d = disorder();
        if (step % 6 == 5) printf("step %d: change %.6f, hottest %.3f, disorder %.6f\n", step + 1, c, hottest, d);
    }
    for (int i = 0; i < 8; i++) printf("band %d: %ld cells\n", i, bands[i]);
    double total = now() - start;
#ifdef REPAIRED
    spreading = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", spreading / total, total);
    return 0;
}
