/*
 * gridflow: steady and transient groundwater head on a rectangular aquifer.
 *
 * The aquifer has a spatially varying transmissivity, two rivers as fixed
 * heads along the west and east edge and a set of pumping wells.  Each time
 * step solves the implicit system with red-black SOR and reports the balance.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <dwell/probe.h>

#define NX 384
#define NY 320
#define STRIDE (NX + 2)
#define CELLS ((size_t)STRIDE * (NY + 2))
#define NWELLS 24
#define NSTEPS 330
#define SWEEPS 80

struct well { int x, y; double rate; };

struct aquifer {
    double *head;      /* current head [m] */
    double *prev;      /* head at the start of the step */
    double *tx;        /* conductance between (x,y) and (x+1,y) */
    double *ty;        /* conductance between (x,y) and (x,y+1) */
    double *inv_diag;  /* 1 / (sum of conductances + storage) */
    double *source;    /* recharge minus pumping [m3/step] */
    double storage;
};

static uint64_t rng_state = 0x9e3779b97f4a7c15ull;

static double uniform(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (double)(rng_state >> 11) / 9007199254740992.0;
}

static double *grid_alloc(void)
{
    double *g = calloc(CELLS, sizeof *g);
    if (!g) {
        perror("calloc");
        exit(1);
    }
    return g;
}

static inline size_t at(int x, int y) { return (size_t)y * STRIDE + x; }

static double harmonic(double a, double b) { return 2.0 * a * b / (a + b); }

static void build(struct aquifer *aq, const struct well *wells, int nwells)
{
    double *trans = grid_alloc();
    double phase[6];

    for (int i = 0; i < 6; i++)
        phase[i] = 6.28318 * uniform();
    for (int y = 0; y < NY + 2; y++)
        for (int x = 0; x < STRIDE; x++) {
            double u = (double)x / NX, v = (double)y / NY;
            double f = sin(5 * u + phase[0]) * cos(4 * v + phase[1]) +
                       0.5 * sin(13 * u + 9 * v + phase[2]) +
                       0.25 * cos(31 * v - 17 * u + phase[3]);
            trans[at(x, y)] = exp(1.2 * f);
        }

    aq->head = grid_alloc();
    aq->prev = grid_alloc();
    aq->tx = grid_alloc();
    aq->ty = grid_alloc();
    aq->inv_diag = grid_alloc();
    aq->source = grid_alloc();
    aq->storage = 0.05;

    for (int y = 1; y <= NY; y++)
        for (int x = 0; x <= NX; x++)
            aq->tx[at(x, y)] = harmonic(trans[at(x, y)], trans[at(x + 1, y)]);
    for (int y = 1; y < NY; y++)        /* north and south edge: no flow */
        for (int x = 1; x <= NX; x++)
            aq->ty[at(x, y)] = harmonic(trans[at(x, y)], trans[at(x, y + 1)]);

    for (int y = 1; y <= NY; y++)
        for (int x = 1; x <= NX; x++) {
            size_t c = at(x, y);
            double d = aq->tx[c] + aq->tx[c - 1] + aq->ty[c] + aq->ty[c - STRIDE];
            aq->inv_diag[c] = 1.0 / (d + aq->storage);
            aq->source[c] = 2e-4;
        }
    for (int i = 0; i < nwells; i++)
        aq->source[at(wells[i].x, wells[i].y)] -= wells[i].rate;

    for (int y = 0; y < NY + 2; y++)
        for (int x = 0; x < STRIDE; x++)
            aq->head[at(x, y)] = 52.0 - 7.0 * x / (NX + 1);
    free(trans);
}

/* One half sweep over the cells with (x + y) % 2 == colour. */
static double relax(struct aquifer *aq, int colour, double omega)
{
    double *restrict h = aq->head;
    const double *restrict tx = aq->tx, *restrict ty = aq->ty;
    const double *restrict inv = aq->inv_diag, *restrict src = aq->source;
    const double *restrict prev = aq->prev;
    const double storage = aq->storage;
    double worst = 0.0;

    for (int y = 1; y <= NY; y++) {
        size_t row = (size_t)y * STRIDE;
        for (int x = 1 + ((y + colour + 1) & 1); x <= NX; x += 2) {
            size_t c = row + x;
            double rhs = tx[c] * h[c + 1] + tx[c - 1] * h[c - 1] +
                         ty[c] * h[c + STRIDE] + ty[c - STRIDE] * h[c - STRIDE] +
                         storage * prev[c] + src[c];
            double change = rhs * inv[c] - h[c];
            h[c] += omega * change;
            change = fabs(change);
            if (change > worst)
                worst = change;
        }
    }
    return worst;
}

static double river_inflow(const struct aquifer *aq)
{
    double q = 0.0;
    for (int y = 1; y <= NY; y++) {
        q += aq->tx[at(0, y)] * (aq->head[at(0, y)] - aq->head[at(1, y)]);
        q += aq->tx[at(NX, y)] * (aq->head[at(NX + 1, y)] - aq->head[at(NX, y)]);
    }
    return q;
}

int main(void)
{
    struct well wells[NWELLS];
    struct aquifer aq;
    long sweeps = 0;
    double residual = 0.0;

    for (int i = 0; i < NWELLS; i++) {
        wells[i].x = 20 + (int)(uniform() * (NX - 40));
        wells[i].y = 20 + (int)(uniform() * (NY - 40));
        wells[i].rate = 0.4 + 0.8 * uniform();
    }
    build(&aq, wells, NWELLS);

    for (int step = 0; step < NSTEPS; step++) {
        DWELL_STEP();
        for (size_t i = 0; i < CELLS; i++)
            aq.prev[i] = aq.head[i];
        for (int s = 0; s < SWEEPS; s++) {
            double a = relax(&aq, 0, 1.6);
            double b = relax(&aq, 1, 1.6);
            residual = a > b ? a : b;
            sweeps++;
            if (residual < 1e-7)
                break;
        }
        if (step % 110 == 0)
            printf("step %3d  river inflow %9.4f  residual %.2e\n",
                   step, river_inflow(&aq), residual);
    }

    double lowest = 1e9, mean = 0.0;
    for (int y = 1; y <= NY; y++)
        for (int x = 1; x <= NX; x++) {
            double h = aq.head[at(x, y)];
            mean += h;
            if (h < lowest)
                lowest = h;
        }
    printf("sweeps %ld  mean head %.6f m  lowest %.6f m\n",
           sweeps, mean / ((double)NX * NY), lowest);
    return 0;
}
