/* Lattice Boltzmann (D2Q9) around a cylinder: drag and
 * lift are averaged over blocks of time steps. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dwell.h"

enum { NX = 384, NY = 160, Q = 9, BLOCKS = 150, STEPS_PER_BLOCK = 25 };

static const int ex[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int ey[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const int opposite[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
static const float weight[Q] = {4 / 9.f,  1 / 9.f,  1 / 9.f,  1 / 9.f, 1 / 9.f,
                                1 / 36.f, 1 / 36.f, 1 / 36.f, 1 / 36.f};

struct lattice {
    float *now[Q], *next[Q];
    unsigned char *solid;
    float omega, inflow;
};

struct force {
    double x, y;
};

static size_t at(int x, int y)
{
    return (size_t)y * NX + (size_t)x;
}

static void equilibrium(float rho, float ux, float uy, float *out)
{
    float square = 1.5f * (ux * ux + uy * uy);
    for (int q = 0; q < Q; q++) {
        float eu = 3.0f * ((float)ex[q] * ux + (float)ey[q] * uy);
        out[q] = weight[q] * rho * (1.0f + eu + 0.5f * eu * eu - square);
    }
}

static void build(struct lattice *l)
{
    size_t n = (size_t)NX * NY;
    l->omega = 1.0f / 0.535f;
    l->inflow = 0.08f;
    l->solid = calloc(n, 1);
    for (int q = 0; q < Q; q++) {
        l->now[q] = malloc(n * sizeof(float));
        l->next[q] = malloc(n * sizeof(float));
    }
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            float dx = (float)x - NX / 5.0f, dy = (float)y - NY / 2.0f - 1.5f, f[Q];
            l->solid[at(x, y)] = dx * dx + dy * dy < 14.0f * 14.0f;
            equilibrium(1.0f, l->inflow, 0.001f * sinf((float)x * 0.05f), f);
            for (int q = 0; q < Q; q++)
                l->now[q][at(x, y)] = l->next[q][at(x, y)] = f[q];
        }
}

static void destroy(struct lattice *l)
{
    free(l->solid);
    for (int q = 0; q < Q; q++) {
        free(l->now[q]);
        free(l->next[q]);
    }
}

/* One row: pull the nine populations, relax them, keep them in next. */
static void collide_row(struct lattice *l, int y)
{
    int up = y + 1 == NY ? 0 : y + 1, down = y == 0 ? NY - 1 : y - 1;
    float omega = l->omega;
    for (int x = 1; x < NX - 1; x++) {
        size_t here = at(x, y);
        if (l->solid[here])
            continue;
        float f0 = l->now[0][here];
        float f1 = l->now[1][at(x - 1, y)], f3 = l->now[3][at(x + 1, y)];
        float f2 = l->now[2][at(x, down)], f4 = l->now[4][at(x, up)];
        float f5 = l->now[5][at(x - 1, down)], f7 = l->now[7][at(x + 1, up)];
        float f6 = l->now[6][at(x + 1, down)], f8 = l->now[8][at(x - 1, up)];
        float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
        float inverse = 1.0f / rho;
        float ux = (f1 + f5 + f8 - f3 - f6 - f7) * inverse;
        float uy = (f2 + f5 + f6 - f4 - f7 - f8) * inverse;
        float base = 1.0f - 1.5f * (ux * ux + uy * uy);
        float r0 = omega * rho * (4 / 9.f), r1 = omega * rho * (1 / 9.f), r2 = omega * rho * (1 / 36.f);
        float keep = 1.0f - omega;
        float a = 3 * ux, b = 3 * uy, p = a + b, m = b - a;
        l->next[0][here] = keep * f0 + r0 * base;
        l->next[1][here] = keep * f1 + r1 * (base + a + 0.5f * a * a);
        l->next[3][here] = keep * f3 + r1 * (base - a + 0.5f * a * a);
        l->next[2][here] = keep * f2 + r1 * (base + b + 0.5f * b * b);
        l->next[4][here] = keep * f4 + r1 * (base - b + 0.5f * b * b);
        l->next[5][here] = keep * f5 + r2 * (base + p + 0.5f * p * p);
        l->next[7][here] = keep * f7 + r2 * (base - p + 0.5f * p * p);
        l->next[6][here] = keep * f6 + r2 * (base + m + 0.5f * m * m);
        l->next[8][here] = keep * f8 + r2 * (base - m + 0.5f * m * m);
    }
}

/* Populations that would come out of the cylinder turn round. */
static struct force bounce(struct lattice *l)
{
    struct force total = {0, 0};
    int reach = 20, cx = NX / 5, cy = NY / 2;
    for (int y = cy - reach; y <= cy + reach; y++)
        for (int x = cx - reach; x <= cx + reach; x++) {
            if (!l->solid[at(x, y)])
                continue;
            for (int q = 1; q < Q; q++) {
                size_t fluid = at(x + ex[q], y + ey[q]);
                if (l->solid[fluid])
                    continue;
                float f = l->next[opposite[q]][fluid];
                l->next[q][at(x, y)] = f;
                total.x += 2.0 * f * ex[opposite[q]];
                total.y += 2.0 * f * ey[opposite[q]];
            }
        }
    return total;
}

static void open_ends(struct lattice *l)
{
    float f[Q];
    equilibrium(1.0f, l->inflow, 0, f);
    for (int y = 0; y < NY; y++)
        for (int q = 0; q < Q; q++) {
            l->next[q][at(0, y)] = f[q];
            l->next[q][at(NX - 1, y)] = l->next[q][at(NX - 2, y)];
        }
}

static struct force advance(struct lattice *l)
{
    for (int y = 0; y < NY; y++)
        collide_row(l, y);
    struct force f = bounce(l);
    open_ends(l);
    for (int q = 0; q < Q; q++) {
        float *t = l->now[q];
        l->now[q] = l->next[q];
        l->next[q] = t;
    }
    return f;
}

int main(void)
{
    struct lattice l;
    build(&l);
    double drag = 0, lift = 0, peak = 0;
    for (int block = 0; block < BLOCKS; block++) {
        struct force mean = {0, 0};
        for (int s = 0; s < STEPS_PER_BLOCK; s++) {
            struct force f = advance(&l);
            mean.x += f.x / STEPS_PER_BLOCK;
            mean.y += f.y / STEPS_PER_BLOCK;
        }
        if (block >= BLOCKS / 2) {
            drag += mean.x / (BLOCKS / 2);
            lift += mean.y / (BLOCKS / 2);
        }
        if (fabs(mean.y) > peak)
            peak = fabs(mean.y);
        DWELL_STEP();
    }
    double mass = 0;
    for (int q = 0; q < Q; q++)
        for (size_t i = 0; i < (size_t)NX * NY; i++)
            mass += l.now[q][i];
    printf("steps %d drag %.5f lift %.5f peak %.5f\n", BLOCKS * STEPS_PER_BLOCK, drag, lift, peak);
    printf("mass per cell %.5f\n", mass / ((double)NX * NY));
    destroy(&l);
    return 0;
}
