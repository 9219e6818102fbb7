/*
 * channelflow: lattice-Boltzmann (D2Q9, BGK) flow past a cylinder in a channel.
 * Prints the mean drag and the mean outflow.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwell/probe.h>

#define NX 360
#define NY 110
#define STEPS 6000
#define CELLS (NX * NY)

static const int cx[9] = { 0, 1, 0, -1, 0, 1, -1, -1, 1 };
static const int cy[9] = { 0, 0, 1, 0, -1, 1, 1, -1, -1 };
static const int opp[9] = { 0, 3, 4, 1, 2, 7, 8, 5, 6 };
static const double wt[9] = { 4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9,
                              1. / 36, 1. / 36, 1. / 36, 1. / 36 };

struct field {
    double *f[9];
};

static struct field field_new(void)
{
    struct field s;
    for (int q = 0; q < 9; q++) {
        s.f[q] = malloc(sizeof(double) * CELLS);
        if (!s.f[q]) {
            perror("malloc");
            exit(1);
        }
    }
    return s;
}

static void field_free(struct field *s)
{
    for (int q = 0; q < 9; q++)
        free(s->f[q]);
}

static inline double equilibrium(int q, double rho, double u, double v)
{
    double cu = 3.0 * (cx[q] * u + cy[q] * v);
    return wt[q] * rho * (1.0 + cu + 0.5 * cu * cu - 1.5 * (u * u + v * v));
}

static void init(struct field *s, unsigned char *solid, double u0)
{
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            int i = y * NX + x;
            double dx = x - NX / 5.0, dy = y - NY / 2.0 - 0.5;
            solid[i] = y == 0 || y == NY - 1 || dx * dx + dy * dy < 64.0;
            for (int q = 0; q < 9; q++)
                s->f[q][i] = equilibrium(q, 1.0, solid[i] ? 0.0 : u0, 0.0);
        }
}

static void collide_cell(const struct field *s, struct field *d, int i, double omega)
{
    double g[9], rho = 0.0;
    for (int q = 0; q < 9; q++) {
        g[q] = s->f[q][i - cy[q] * NX - cx[q]];
        rho += g[q];
    }
    double inv = 1.0 / rho;
    double u = (g[1] + g[5] + g[8] - g[3] - g[6] - g[7]) * inv;
    double v = (g[2] + g[5] + g[6] - g[4] - g[7] - g[8]) * inv;
    double base = 1.0 - 1.5 * (u * u + v * v), keep = 1.0 - omega;
    double w0 = omega * rho * (4. / 9), w1 = omega * rho / 9, w2 = omega * rho / 36;
    double a = 3.0 * u, b = 3.0 * v, ab = a + b, am = b - a;
    d->f[0][i] = keep * g[0] + w0 * base;
    d->f[1][i] = keep * g[1] + w1 * (base + a + 0.5 * a * a);
    d->f[3][i] = keep * g[3] + w1 * (base - a + 0.5 * a * a);
    d->f[2][i] = keep * g[2] + w1 * (base + b + 0.5 * b * b);
    d->f[4][i] = keep * g[4] + w1 * (base - b + 0.5 * b * b);
    d->f[5][i] = keep * g[5] + w2 * (base + ab + 0.5 * ab * ab);
    d->f[7][i] = keep * g[7] + w2 * (base - ab + 0.5 * ab * ab);
    d->f[6][i] = keep * g[6] + w2 * (base + am + 0.5 * am * am);
    d->f[8][i] = keep * g[8] + w2 * (base - am + 0.5 * am * am);
}

/* Pull streaming and collision in one pass; solid cells bounce back. */
static double advance(const struct field *s, struct field *d, const unsigned char *solid, double omega)
{
    double drag = 0.0;
    for (int y = 1; y < NY - 1; y++)
        for (int x = 1; x < NX - 1; x++) {
            int i = y * NX + x;
            if (!solid[i]) {
                collide_cell(s, d, i, omega);
                continue;
            }
            for (int q = 0; q < 9; q++) {
                double in = s->f[q][i - cy[q] * NX - cx[q]];
                d->f[opp[q]][i] = in;
                drag += 2.0 * cx[q] * in;
            }
        }
    return drag;
}

static void walls(const struct field *s, struct field *d)
{
    for (int x = 1; x < NX - 1; x++) {
        int lo = x, hi = (NY - 1) * NX + x;
        for (int q = 0; q < 9; q++) {
            if (cy[q] < 0)
                d->f[opp[q]][lo] = s->f[q][lo + NX - cx[q]];
            if (cy[q] > 0)
                d->f[opp[q]][hi] = s->f[q][hi - NX - cx[q]];
        }
    }
}

static double ends(struct field *d, double u0)
{
    double out = 0.0;
    for (int y = 0; y < NY; y++) {
        int in = y * NX, last = in + NX - 1;
        for (int q = 0; q < 9; q++) {
            d->f[q][in] = equilibrium(q, 1.0, u0, 0.0);
            d->f[q][last] = d->f[q][last - 1];
            out += cx[q] * d->f[q][last];
        }
    }
    return out / NY;
}

int main(void)
{
    const double u0 = 0.06, nu = u0 * 16.0 / 90.0, omega = 1.0 / (3.0 * nu + 0.5);
    struct field a = field_new(), b = field_new();
    unsigned char *solid = malloc(CELLS);
    if (!solid)
        return 1;
    init(&a, solid, u0);
    init(&b, solid, u0);
    double drag = 0.0, flow = 0.0;
    for (int t = 0; t < STEPS; t++) {
        DWELL_STEP();
        double fx = advance(&a, &b, solid, omega);
        walls(&a, &b);
        double out = ends(&b, u0);
        if (t >= STEPS / 2) {
            drag += fx;
            flow += out;
        }
        struct field tmp = a;
        a = b;
        b = tmp;
    }
    int n = STEPS - STEPS / 2;
    printf("steps %d omega %.4f drag %.6f outflow %.6f\n", STEPS, omega, drag / n, flow / n);
    int ok = isfinite(drag) && isfinite(flow);
    field_free(&a);
    field_free(&b);
    free(solid);
    return ok ? 0 : 1;
}
