/* Implicit heat flow in a chip package: each time step solves a Helmholtz
 * problem on a square grid with a geometric multigrid cycle. */
#include <dwell/probe.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 513
#define MAX_LEVELS 9
#define STEPS 420

typedef struct {
    int n;
    double h2, shift;
    double *u, *f, *r;
} Grid;

static Grid level[MAX_LEVELS];
static int n_levels;

#define AT(g, a, i, j) (g)->a[(size_t)(i) * (g)->n + (j)]

static void grids_create(double dt)
{
    int n = N;
    while (n >= 3 && n_levels < MAX_LEVELS) {
        Grid *g = &level[n_levels++];
        double h = 1.0 / (n - 1);
        g->n = n;
        g->h2 = h * h;
        g->shift = g->h2 / dt;
        g->u = calloc((size_t)n * n, sizeof(double));
        g->f = calloc((size_t)n * n, sizeof(double));
        g->r = calloc((size_t)n * n, sizeof(double));
        n = (n - 1) / 2 + 1;
    }
}

static void smooth(Grid *g, int sweeps)
{
    const double inv = 1.0 / (4.0 + g->shift);
    for (int s = 0; s < sweeps; s++)
        for (int colour = 0; colour < 2; colour++)
            for (int i = 1; i < g->n - 1; i++)
                for (int j = 1 + ((i + colour) & 1); j < g->n - 1; j += 2)
                    AT(g, u, i, j) = inv * (g->h2 * AT(g, f, i, j) + AT(g, u, i - 1, j) + AT(g, u, i + 1, j)
                                            + AT(g, u, i, j - 1) + AT(g, u, i, j + 1));
}

static double residual(Grid *g)
{
    const double d = 4.0 + g->shift, inv = 1.0 / g->h2;
    double sum = 0;
    for (int i = 1; i < g->n - 1; i++)
        for (int j = 1; j < g->n - 1; j++) {
            double v = AT(g, f, i, j) - inv * (d * AT(g, u, i, j) - AT(g, u, i - 1, j) - AT(g, u, i + 1, j)
                                               - AT(g, u, i, j - 1) - AT(g, u, i, j + 1));
            AT(g, r, i, j) = v;
            sum += v * v;
        }
    return sqrt(sum) / g->n;
}

static void restrict_to(const Grid *fine, Grid *coarse)
{
    for (int i = 1; i < coarse->n - 1; i++)
        for (int j = 1; j < coarse->n - 1; j++) {
            int a = 2 * i, b = 2 * j;
            AT(coarse, f, i, j) = 0.25 * AT(fine, r, a, b)
                + 0.125 * (AT(fine, r, a - 1, b) + AT(fine, r, a + 1, b) + AT(fine, r, a, b - 1) + AT(fine, r, a, b + 1))
                + 0.0625 * (AT(fine, r, a - 1, b - 1) + AT(fine, r, a - 1, b + 1)
                            + AT(fine, r, a + 1, b - 1) + AT(fine, r, a + 1, b + 1));
        }
    memset(coarse->u, 0, sizeof(double) * (size_t)coarse->n * coarse->n);
}

static void prolong_add(const Grid *coarse, Grid *fine)
{
    for (int i = 0; i < coarse->n - 1; i++)
        for (int j = 0; j < coarse->n - 1; j++) {
            double a = AT(coarse, u, i, j), b = AT(coarse, u, i, j + 1);
            double c = AT(coarse, u, i + 1, j), d = AT(coarse, u, i + 1, j + 1);
            AT(fine, u, 2 * i, 2 * j) += a;
            AT(fine, u, 2 * i, 2 * j + 1) += 0.5 * (a + b);
            AT(fine, u, 2 * i + 1, 2 * j) += 0.5 * (a + c);
            AT(fine, u, 2 * i + 1, 2 * j + 1) += 0.25 * (a + b + c + d);
        }
}

static void vcycle(int l)
{
    Grid *g = &level[l];
    if (l == n_levels - 1) {
        smooth(g, 20);
        return;
    }
    smooth(g, 2);
    residual(g);
    restrict_to(g, &level[l + 1]);
    vcycle(l + 1);
    prolong_add(&level[l + 1], g);
    smooth(g, 2);
}

static double source(int i, int j, int step)
{
    double x = (double)i / (N - 1), y = (double)j / (N - 1);
    double load = 0.5 + 0.5 * sin(step * 0.21);
    double core0 = exp(-200 * ((x - 0.3) * (x - 0.3) + (y - 0.3) * (y - 0.3)));
    double core1 = exp(-150 * ((x - 0.7) * (x - 0.7) + (y - 0.6) * (y - 0.6)));
    return 800 * load * core0 + 600 * (1 - load) * core1;
}

int main(void)
{
    const double dt = 0.002, tol = 1e-6;
    int cycles = 0;
    double peak = 0;
    grids_create(dt);
    Grid *g = &level[0];
    double *old = calloc((size_t)N * N, sizeof(double));

    for (int step = 0; step < STEPS; step++) {
        DWELL_STEP();
        memcpy(old, g->u, sizeof(double) * N * N);
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                AT(g, f, i, j) = old[(size_t)i * N + j] / dt + source(i, j, step);
        for (int k = 0; k < 30 && residual(g) > tol; k++) {
            vcycle(0);
            cycles++;
        }
        for (size_t i = 0; i < (size_t)N * N; i++)
            if (g->u[i] > peak)
                peak = g->u[i];
    }

    double total = 0;
    for (size_t i = 0; i < (size_t)N * N; i++)
        total += g->u[i];
    printf("levels %d cycles %d peak %.6f mean %.6f\n", n_levels, cycles, peak, total / N / N);
    for (int l = 0; l < n_levels; l++) {
        free(level[l].u);
        free(level[l].f);
        free(level[l].r);
    }
    free(old);
    return 0;
}
