/*
 * reservoir_mg - pressure in an aquifer over the seasons.
 *
 * Backward-Euler steps of the diffusion equation S dp/dt = div(k grad p) + wells
 * on a square; the linear system of every step is solved by conjugate gradients,
 * preconditioned with one V-cycle of geometric multigrid (red-black smoothing).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwell/probe.h>

#define TOP 9                   /* finest level: (2^TOP)^2 cells */
#define COARSEST 2
#define STEPS 140
#define WELLS 14
#define TOLERANCE 1e-8

/* Fields have a frame of one cell; the frame stays zero in search directions. */
typedef struct {
    int n;
    double *kx, *ky, *diag, *inverse, *x, *b, *r;
} level_t;

static level_t level[TOP + 1];
static unsigned long long seed = 42;

static double uniform(void)
{
    seed = seed * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(seed >> 11) / 9007199254740992.0;
}

static double *field(int n)
{
    double *f = calloc((size_t)(n + 2) * (size_t)(n + 2), sizeof *f);
    if (!f)
        exit(1);
    return f;
}

#define AT(f, i, j) ((f)[(size_t)(i) * (size_t)(n + 2) + (size_t)(j)])

/* kx: conductivity of the face between (i, j) and (i, j+1), ky: of that to (i+1, j). */
static void build_levels(double storage)
{
    for (int l = TOP; l >= COARSEST; l--) {
        level_t *L = &level[l];
        int n = L->n = 1 << l;
        L->kx = field(n), L->ky = field(n), L->diag = field(n), L->inverse = field(n);
        L->x = field(n), L->b = field(n), L->r = field(n);
        for (int i = 0; i <= n; i++)
            for (int j = 0; j <= n; j++) {
                if (l == TOP) {
                    double s = sin(6.0 * i / n) * cos(9.0 * j / n);
                    AT(L->kx, i, j) = exp(1.3 * s + 0.3 * (uniform() - 0.5));
                    AT(L->ky, i, j) = exp(1.3 * s + 0.3 * (uniform() - 0.5));
                } else {
                    const level_t *F = &level[l + 1];
                    size_t w = (size_t)F->n + 2, a = i ? (size_t)(2 * i - 1) : 0, b = j ? (size_t)(2 * j - 1) : 0;
                    AT(L->kx, i, j) = 0.5 * (F->kx[a * w + (size_t)(2 * j)] + F->kx[(size_t)(2 * i) * w + (size_t)(2 * j)]);
                    AT(L->ky, i, j) = 0.5 * (F->ky[(size_t)(2 * i) * w + b] + F->ky[(size_t)(2 * i) * w + (size_t)(2 * j)]);
                }
            }
        double s = storage * pow(4.0, TOP - l);
        for (int i = 1; i <= n; i++)
            for (int j = 1; j <= n; j++) {
                AT(L->diag, i, j) = s + AT(L->kx, i, j) + AT(L->kx, i, j - 1) + AT(L->ky, i, j) + AT(L->ky, i - 1, j);
                AT(L->inverse, i, j) = 1.0 / AT(L->diag, i, j);
            }
    }
}

static inline double neighbours(const level_t *L, const double *x, size_t c)
{
    size_t w = (size_t)L->n + 2;
    return L->kx[c] * x[c + 1] + L->kx[c - 1] * x[c - 1] + L->ky[c] * x[c + w] + L->ky[c - w] * x[c - w];
}

static void smooth(const level_t *L, double *x, const double *b, int first)
{
    size_t w = (size_t)L->n + 2;
    for (int colour = 0; colour < 2; colour++)
        for (int i = 1; i <= L->n; i++)
            for (int j = 1 + ((i + first + colour) & 1); j <= L->n; j += 2) {
                size_t c = (size_t)i * w + (size_t)j;
                x[c] = (b[c] + neighbours(L, x, c)) * L->inverse[c];
            }
}

static void apply(const level_t *L, const double *x, double *y)
{
    size_t w = (size_t)L->n + 2;
    for (int i = 1; i <= L->n; i++)
        for (size_t c = (size_t)i * w + 1, e = c + (size_t)L->n; c < e; c++)
            y[c] = L->diag[c] * x[c] - neighbours(L, x, c);
}

/* x = approximate solution of A x = b; symmetric, so it may precondition CG. */
static void vcycle(int l, double *x, const double *b)
{
    level_t *L = &level[l];
    int n = L->n;
    memset(x, 0, sizeof *x * (size_t)(n + 2) * (size_t)(n + 2));
    if (l == COARSEST) {
        for (int k = 0; k < 12; k++)
            smooth(L, x, b, 0);
        for (int k = 0; k < 12; k++)
            smooth(L, x, b, 1);
        return;
    }
    smooth(L, x, b, 0);
    apply(L, x, L->r);
    level_t *C = &level[l - 1];
    size_t cw = (size_t)C->n + 2;
    for (int i = 1; i <= C->n; i++)
        for (int j = 1; j <= C->n; j++) {
            double sum = 0;
            for (int a = 2 * i - 1; a <= 2 * i; a++)
                for (int d = 2 * j - 1; d <= 2 * j; d++)
                    sum += AT(b, a, d) - AT(L->r, a, d);
            C->b[(size_t)i * cw + (size_t)j] = sum;
        }
    vcycle(l - 1, C->x, C->b);
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            AT(x, i, j) += C->x[(size_t)((i + 1) / 2) * cw + (size_t)((j + 1) / 2)];
    smooth(L, x, b, 1);
}

static double dot(int n, const double *a, const double *b)
{
    double s = 0;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= n; j++)
            s += AT(a, i, j) * AT(b, i, j);
    return s;
}

static int solve(double *p, const double *rhs, double *r, double *z, double *d, double *q)
{
    const level_t *L = &level[TOP];
    int n = L->n, it = 0;
    size_t cells = (size_t)(n + 2) * (size_t)(n + 2);
    apply(L, p, q);
    for (size_t c = 0; c < cells; c++)
        r[c] = rhs[c] - q[c];
    double target = TOLERANCE * sqrt(dot(n, rhs, rhs)), rz = 0;
    while (sqrt(dot(n, r, r)) > target && it < 60) {
        vcycle(TOP, z, r);
        double next = dot(n, r, z), beta = it ? next / rz : 0;
        rz = next;
        for (size_t c = 0; c < cells; c++)
            d[c] = z[c] + beta * d[c];
        apply(L, d, q);
        double alpha = rz / dot(n, d, q);
        for (size_t c = 0; c < cells; c++) {
            p[c] += alpha * d[c];
            r[c] -= alpha * q[c];
        }
        it++;
    }
    return it;
}

int main(void)
{
    const double storage = 0.02;
    build_levels(storage);
    int n = level[TOP].n, well_i[WELLS], well_j[WELLS], iterations = 0;
    double *p = field(n), *rhs = field(n), *r = field(n), *z = field(n), *d = field(n), *q = field(n);
    double lowest = 0;
    for (int k = 0; k < WELLS; k++) {
        well_i[k] = 1 + (int)(uniform() * n);
        well_j[k] = 1 + (int)(uniform() * n);
    }
    for (int s = 0; s < STEPS; s++) {
        DWELL_STEP();
        double recharge = 2e-4 * (1 + cos(2 * M_PI * s / 52.0));
        for (int i = 1; i <= n; i++)
            for (int j = 1; j <= n; j++)
                AT(rhs, i, j) = storage * AT(p, i, j) + recharge;
        for (int k = 0; k < WELLS; k++)
            AT(rhs, well_i[k], well_j[k]) -= 0.4 + 0.3 * sin(2 * M_PI * (s + 4.0 * k) / 52.0);
        iterations += solve(p, rhs, r, z, d, q);
        for (int k = 0; k < WELLS; k++)
            lowest = fmin(lowest, AT(p, well_i[k], well_j[k]));
    }
    printf("steps %d  iterations %d  mean pressure %.6f  lowest at a well %.6f\n", STEPS, iterations,
           sqrt(dot(n, p, p)) / n, lowest);
    return iterations < STEPS * 60 ? 0 : 1;
}
