/* Transient heat conduction in a plate of mixed materials.  Implicit Euler
 * in time; each step solves the symmetric system with a conjugate gradient
 * preconditioned by the diagonal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwell/probe.h>

#define NX 512
#define NY 512
#define STEPS 100
#define DT 4.0
#define TOL 1e-7

typedef struct {
    double *kx, *ky;      /* face conductances: right and lower face of a cell */
    double *diag, *inv;   /* main diagonal and its inverse */
} operator_t;

static double *field(void)
{
    double *f = calloc((size_t)NX * NY, sizeof *f);
    if (!f) {
        perror("calloc");
        exit(1);
    }
    return f;
}

static double conductivity(int x, int y)
{
    int in_fin = (x / 48) % 2 == 1 && y > NY / 3;
    int in_core = (x - NX / 2) * (x - NX / 2) + (y - NY / 4) * (y - NY / 4) < 40 * 40;
    return in_core ? 3.2 : in_fin ? 1.9 : 0.35;
}

static void build(operator_t *op)
{
    op->kx = field();
    op->ky = field();
    op->diag = field();
    op->inv = field();
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            double c = conductivity(x, y);
            size_t i = (size_t)y * NX + x;
            if (x + 1 < NX) {
                double r = conductivity(x + 1, y);
                op->kx[i] = DT * 2.0 * c * r / (c + r);
            }
            if (y + 1 < NY) {
                double d = conductivity(x, y + 1);
                op->ky[i] = DT * 2.0 * c * d / (c + d);
            }
        }
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            size_t i = (size_t)y * NX + x;
            double d = 1.0 + op->kx[i] + op->ky[i];
            if (x > 0)
                d += op->kx[i - 1];
            if (y > 0)
                d += op->ky[i - NX];
            if (y == NY - 1)
                d += DT * 0.5;      /* cooled lower edge, ambient at zero */
            op->diag[i] = d;
            op->inv[i] = 1.0 / d;
        }
}

/* out = A p, returns p . out */
static double apply(const operator_t *op, const double *restrict p, double *restrict out)
{
    double dot = 0.0;
    for (int y = 0; y < NY; y++) {
        const double *row = p + (size_t)y * NX;
        const double *up = y > 0 ? row - NX : row;
        const double *down = y + 1 < NY ? row + NX : row;
        const double *kx = op->kx + (size_t)y * NX;
        const double *ky = op->ky + (size_t)y * NX;
        const double *kup = y > 0 ? ky - NX : ky;
        const double *dg = op->diag + (size_t)y * NX;
        double *o = out + (size_t)y * NX;
        for (int x = 0; x < NX; x++) {
            double v = dg[x] * row[x] - ky[x] * down[x];
            if (y > 0)
                v -= kup[x] * up[x];
            if (x > 0)
                v -= kx[x - 1] * row[x - 1];
            if (x + 1 < NX)
                v -= kx[x] * row[x + 1];
            o[x] = v;
            dot += v * row[x];
        }
    }
    return dot;
}

static int solve(const operator_t *op, double *restrict u, const double *restrict rhs,
                 double *restrict r, double *restrict p, double *restrict q)
{
    const size_t n = (size_t)NX * NY;
    double rz = 0.0, norm = 0.0;
    int it = 0;
    apply(op, u, q);
    for (size_t i = 0; i < n; i++) {
        r[i] = rhs[i] - q[i];
        p[i] = op->inv[i] * r[i];
        rz += r[i] * p[i];
        norm += rhs[i] * rhs[i];
    }
    const double stop = TOL * TOL * norm;
    double rr = stop + 1.0;
    while (rr > stop && it < 500) {
        double alpha = rz / apply(op, p, q), next = 0.0;
        rr = 0.0;
        for (size_t i = 0; i < n; i++) {
            u[i] += alpha * p[i];
            r[i] -= alpha * q[i];
            rr += r[i] * r[i];
            next += r[i] * r[i] * op->inv[i];
        }
        double beta = next / rz;
        rz = next;
        for (size_t i = 0; i < n; i++)
            p[i] = op->inv[i] * r[i] + beta * p[i];
        it++;
    }
    return it;
}

int main(void)
{
    operator_t op;
    double *u = field(), *rhs = field(), *r = field(), *p = field(), *q = field();
    long iterations = 0;

    build(&op);
    for (int s = 0; s < STEPS; s++) {
        DWELL_STEP();
        memcpy(rhs, u, sizeof(double) * NX * NY);
        double power = s < STEPS / 2 ? 1.0 : 0.4;
        for (int y = NY / 4 - 20; y < NY / 4 + 20; y++)
            for (int x = NX / 2 - 20; x < NX / 2 + 20; x++)
                rhs[(size_t)y * NX + x] += DT * power;
        iterations += solve(&op, u, rhs, r, p, q);
    }
    double top = 0.0, sum = 0.0;
    for (size_t i = 0; i < (size_t)NX * NY; i++) {
        top = u[i] > top ? u[i] : top;
        sum += u[i];
    }
    printf("steps %d, cg iterations %ld, hottest cell %.5f, stored heat %.3f\n",
           STEPS, iterations, top, sum);
    return 0;
}
