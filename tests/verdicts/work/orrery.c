/* A young planetary system: planets and planetesimals around a star, leapfrog steps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "dwell/dwell.h"

#define BIG 6
#define SMALL 3000
#define N (BIG + SMALL)
#define STEPS 32000

static double x[N], y[N], vx[N], vy[N], ax[N], ay[N], mass[BIG];

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double uniform(void)
{
    static unsigned long long s = 0x123456789ABCDEFull;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return (double)(s >> 11) / 9007199254740992.0;
}

static void orbit(int i, double radius, double angle, double stretch)
{
    double v = sqrt(1.0 / radius) * stretch;
    x[i] = radius * cos(angle);
    y[i] = radius * sin(angle);
    vx[i] = -v * sin(angle);
    vy[i] = v * cos(angle);
}

static void set_up(void)
{
    const double radius[BIG] = {0, 0.7, 1.0, 1.6, 2.8, 5.2};
    const double m[BIG] = {1.0, 2e-6, 3e-6, 3e-7, 1e-4, 1e-3};
    for (int i = 0; i < BIG; i++) {
        mass[i] = m[i];
        if (i) orbit(i, radius[i], i * 1.1, 1.0);
    }
    for (int i = BIG; i < N; i++) orbit(i, 2.0 + 2.0 * uniform(), 6.283185307 * uniform(), 0.97 + 0.06 * uniform());
}

/* The small bodies feel the big ones but do not pull themselves. */
static void accelerations(void)
{
    for (int i = 0; i < N; i++) ax[i] = ay[i] = 0;
    for (int b = 0; b < BIG; b++) {
        double bx = x[b], by = y[b], m = mass[b];
        for (int i = 0; i < N; i++) {
            double dx = bx - x[i], dy = by - y[i], r2 = dx * dx + dy * dy + 1e-8;
            double w = m / (r2 * sqrt(r2));
            ax[i] += w * dx;
            ay[i] += w * dy;
        }
    }
}

static void kick(double dt)
{
    for (int i = 0; i < N; i++) {
        vx[i] += dt * ax[i];
        vy[i] += dt * ay[i];
    }
}

static void drift(double dt)
{
    for (int i = 0; i < N; i++) {
        x[i] += dt * vx[i];
        y[i] += dt * vy[i];
    }
}

static double energy(void)
{
    double e = 0;
    for (int i = 0; i < BIG; i++) {
        e += 0.5 * mass[i] * (vx[i] * vx[i] + vy[i] * vy[i]);
        for (int j = 0; j < i; j++) e -= mass[i] * mass[j] / hypot(x[i] - x[j], y[i] - y[j]);
    }
    return e;
}

/* Semi-major axis of the orbit of a small body around the star. */
static double axis(int i)
{
    double rx = x[i] - x[0], ry = y[i] - y[0], ux = vx[i] - vx[0], uy = vy[i] - vy[0];
    return 1 / (2 / hypot(rx, ry) - (ux * ux + uy * uy) / mass[0]);
}

int main(void)
{
    double start = now(), dt = 0.03;
    int belt[24] = {0}, lost = 0;
    set_up();
    accelerations();
    double before = energy();
    for (int step = 1; step <= STEPS; step++) {
        DWELL_STEP();
        kick(dt / 2);
        drift(dt);
        accelerations();
        kick(dt / 2);
        if (step % 6400 == 0)
            printf("year %.1f: giant at %.4f, %.4f, energy off by %.2e\n", step * dt / 6.283185307, x[5], y[5], energy() / before - 1);
    }
    for (int i = BIG; i < N; i++) {
        double a = axis(i);
        if (a > 1.8 && a < 4.2) belt[(int)((a - 1.8) * 10)]++;
        else lost++;
    }
    for (int b = 0; b < 24; b++) printf("%.1f: %d\n", 1.8 + b * 0.1, belt[b]);
    printf("%d left the belt\n", lost);
    printf("TRUTH {\"share\": 0, \"seconds\": %.1f}\n", now() - start);
    return 0;
}
