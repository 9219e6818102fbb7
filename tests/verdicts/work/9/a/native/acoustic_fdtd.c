/* Room acoustics: 2-D finite-difference time-domain solver.
 *
 * Pressure and particle velocity live on a staggered grid; walls absorb with a
 * frequency-independent impedance.  The impulse response is recorded at a few
 * receivers and reduced to decay times.
 */
#include <dwell/probe.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NX 560
#define NY 420
#define STEPS 14400
#define RECEIVERS 4

static const float c0 = 343.0f, rho = 1.204f, dx = 0.02f;

struct grid {
    float *p, *vx, *vy;
    unsigned char *solid;
    float dt, kp, kv, wall;
};

static int at(int x, int y) { return y * NX + x; }

static void *must(size_t n, size_t s)
{
    void *p = calloc(n, s);
    if (!p)
        exit(1);
    return p;
}

static void grid_init(struct grid *g)
{
    g->p = must((size_t)NX * NY, sizeof(float));
    g->vx = must((size_t)NX * NY, sizeof(float));
    g->vy = must((size_t)NX * NY, sizeof(float));
    g->solid = must((size_t)NX * NY, 1);
    g->dt = 0.95f * dx / (c0 * sqrtf(2.0f));
    g->kp = rho * c0 * c0 * g->dt / dx;
    g->kv = g->dt / (rho * dx);
    g->wall = 1.0f - 0.004f;
}

static void box(struct grid *g, int x0, int y0, int x1, int y1)
{
    for (int y = y0; y < y1; y++)
        memset(g->solid + at(x0, y), 1, (size_t)(x1 - x0));
}

static void add_furniture(struct grid *g)
{
    box(g, 120, 90, 200, 110);
    box(g, 330, 240, 350, 360);
    for (int i = 0; i < 6; i++)
        box(g, 60 + i * 70, 300, 80 + i * 70, 312);
}

/* The coefficients are zero at faces that touch a solid cell, which keeps the
 * inner loops free of branches. */
static void face_coefficients(const struct grid *g, float *cx, float *cy)
{
    for (int y = 0; y < NY; y++)
        for (int x = 0; x < NX; x++) {
            int i = at(x, y);
            cx[i] = x + 1 < NX && !g->solid[i] && !g->solid[i + 1] ? g->kv : 0.0f;
            cy[i] = y + 1 < NY && !g->solid[i] && !g->solid[i + NX] ? g->kv : 0.0f;
        }
}

static void update_velocity(struct grid *restrict g, const float *restrict cx,
                            const float *restrict cy)
{
    float *restrict vx = g->vx, *restrict vy = g->vy;
    const float *restrict p = g->p;
    for (int y = 0; y < NY - 1; y++) {
        int r = at(0, y);
        for (int i = r; i < r + NX - 1; i++) {
            vx[i] -= cx[i] * (p[i + 1] - p[i]);
            vy[i] -= cy[i] * (p[i + NX] - p[i]);
        }
    }
}

static void update_pressure(struct grid *restrict g)
{
    const float *restrict vx = g->vx, *restrict vy = g->vy;
    float *restrict p = g->p;
    const float kp = g->kp;
    for (int y = 1; y < NY; y++) {
        int r = at(0, y);
        for (int i = r + 1; i < r + NX; i++)
            p[i] -= kp * (vx[i] - vx[i - 1] + vy[i] - vy[i - NX]);
    }
}

static void damp_walls(struct grid *g)
{
    for (int x = 0; x < NX; x++) {
        g->p[at(x, 1)] *= g->wall;
        g->p[at(x, NY - 2)] *= g->wall;
    }
    for (int y = 0; y < NY; y++) {
        g->p[at(1, y)] *= g->wall;
        g->p[at(NX - 2, y)] *= g->wall;
    }
}

static float ricker(float t, float f)
{
    float a = 3.14159265f * f * (t - 1.5f / f);
    return (1.0f - 2.0f * a * a) * expf(-a * a);
}

static double decay_time(const float *ir, int n, float dt)
{
    double total = 0, tail = 0;
    for (int i = 0; i < n; i++)
        total += (double)ir[i] * ir[i];
    int t5 = 0, t15 = 0;
    tail = total;
    for (int i = 0; i < n; i++) {
        double db = 10.0 * log10(tail / total + 1e-30);
        if (!t5 && db < -1.0)
            t5 = i;
        if (!t15 && db < -4.0)
            t15 = i;
        tail -= (double)ir[i] * ir[i];
    }
    return (t15 - t5) * dt * 20.0;
}

int main(void)
{
    struct grid g;
    static const int rx[RECEIVERS] = {400, 90, 500, 260}, ry[RECEIVERS] = {100, 370, 380, 210};
    grid_init(&g);
    add_furniture(&g);
    float *cx = must((size_t)NX * NY, sizeof(float)), *cy = must((size_t)NX * NY, sizeof(float));
    float *ir = must((size_t)RECEIVERS * STEPS, sizeof(float));
    face_coefficients(&g, cx, cy);

    for (int n = 0; n < STEPS; n++) {
        DWELL_STEP();
        update_velocity(&g, cx, cy);
        update_pressure(&g);
        damp_walls(&g);
        g.p[at(150, 200)] += ricker((float)n * g.dt, 700.0f);
        for (int r = 0; r < RECEIVERS; r++)
            ir[r * STEPS + n] = g.p[at(rx[r], ry[r])];
    }

    for (int r = 0; r < RECEIVERS; r++)
        printf("receiver %d: decay %.3f s, last %.5f\n", r,
               decay_time(ir + r * STEPS, STEPS, g.dt), ir[r * STEPS + STEPS - 1]);
    free(g.p); free(g.vx); free(g.vy); free(g.solid);
    free(cx); free(cy); free(ir);
    return 0;
}
