/* Implicit heat conduction on an irregular mesh: conjugate gradients on a CSR matrix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDE 320
#define CELLS (SIDE * SIDE)
#define TIMESTEPS 90

typedef struct {
    int rows;
    int *start, *column;
    double *value, *inv_diag;
} Matrix;

typedef struct {
    double *r, *z, *p, *q;
} Workspace;

static unsigned seed = 5;
static double uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (double)(seed >> 8) / 16777216.0;
}

static void *get(size_t n, size_t size)
{
    void *p = calloc(n, size);
    if (!p) exit(1);
    return p;
}

static Matrix assemble(double dt)
{
    Matrix m = {CELLS, get(CELLS + 1, sizeof(int)), get((size_t)CELLS * 5, sizeof(int)),
                get((size_t)CELLS * 5, sizeof(double)), get(CELLS, sizeof(double))};
    double *k = get(CELLS, sizeof(double));
    for (int i = 0; i < CELLS; i++) k[i] = uniform() < 0.2 ? 8.0 : 0.5 + uniform();
    int n = 0;
    for (int r = 0; r < SIDE; r++)
        for (int c = 0; c < SIDE; c++) {
            int i = r * SIDE + c;
            const int near[4] = {r > 0 ? i - SIDE : -1, c > 0 ? i - 1 : -1, c < SIDE - 1 ? i + 1 : -1,
                                 r < SIDE - 1 ? i + SIDE : -1};
            double diagonal = 1;
            for (int d = 0; d < 4; d++)
                if (near[d] >= 0) {
                    double w = dt * 2 * k[i] * k[near[d]] / (k[i] + k[near[d]]);
                    diagonal += w;
                    m.column[n] = near[d];
                    m.value[n++] = -w;
                }
            m.column[n] = i;
            m.value[n++] = diagonal;
            m.inv_diag[i] = 1 / diagonal;
            m.start[i + 1] = n;
        }
    free(k);
    return m;
}

static double apply(const Matrix *m, const double *restrict x, double *restrict y)
{
    double along = 0;
    for (int i = 0; i < m->rows; i++) {
        double s = 0;
        for (int k = m->start[i]; k < m->start[i + 1]; k++) s += m->value[k] * x[m->column[k]];
        y[i] = s;
        along += s * x[i];
    }
    return along;
}

static int solve(const Matrix *m, const double *b, double *x, Workspace *w)
{
    double rz = 0, bb = 0;
    apply(m, x, w->q);
    for (int i = 0; i < m->rows; i++) {
        w->r[i] = b[i] - w->q[i];
        w->z[i] = w->r[i] * m->inv_diag[i];
        w->p[i] = w->z[i];
        rz += w->r[i] * w->z[i];
        bb += b[i] * b[i];
    }
    for (int it = 1; it <= 1000; it++) {
        double alpha = rz / apply(m, w->p, w->q), next = 0, rr = 0;
        for (int i = 0; i < m->rows; i++) {
            x[i] += alpha * w->p[i];
            w->r[i] -= alpha * w->q[i];
            w->z[i] = w->r[i] * m->inv_diag[i];
            next += w->r[i] * w->z[i];
            rr += w->r[i] * w->r[i];
        }
        if (rr < 1e-18 * bb) return it;
        double beta = next / rz;
        rz = next;
        for (int i = 0; i < m->rows; i++) w->p[i] = w->z[i] + beta * w->p[i];
    }
    return 1000;
}

int main(void)
{
    Matrix m = assemble(6.0);
    Workspace w = {get(CELLS, sizeof(double)), get(CELLS, sizeof(double)), get(CELLS, sizeof(double)),
                   get(CELLS, sizeof(double))};
    double *heat = get(CELLS, sizeof(double)), *source = get(CELLS, sizeof(double));
    long iterations = 0;
    for (int t = 0; t < TIMESTEPS; t++) {
        for (int i = 0; i < CELLS; i++) source[i] = heat[i];
        int spot = (int)(uniform() * CELLS);
        source[spot] += 1000;
        iterations += solve(&m, source, heat, &w);
    }
    double total = 0, top = 0;
    for (int i = 0; i < CELLS; i++) {
        total += heat[i];
        if (heat[i] > top) top = heat[i];
    }
    printf("iterations %ld total %.6f top %.6f\n", iterations, total, top);
    free(heat); free(source); free(w.r); free(w.z); free(w.p); free(w.q);
    free(m.start); free(m.column); free(m.value); free(m.inv_diag);
    return 0;
}
