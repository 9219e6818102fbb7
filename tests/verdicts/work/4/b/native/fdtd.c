/* Two-dimensional TM FDTD with a lossy border, used to check the coupling
 * between two slots in a metal screen. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <dwell/probe.h>

#define NX 900
#define NY 700
#define STEPS 2700
#define BORDER 40

typedef struct {
    float *ez, *hx, *hy;     /* fields */
    float *ca, *cb;          /* electric update coefficients */
    float *da, *db;          /* magnetic update coefficients */
} Grid;

static float *plane(float v)
{
    float *p = malloc(sizeof(float) * NX * NY);
    if (!p) {
        perror("malloc");
        exit(1);
    }
    for (int i = 0; i < NX * NY; i++)
        p[i] = v;
    return p;
}

static float border_loss(int i, int n)
{
    int d = i < BORDER ? BORDER - i : i >= n - BORDER ? i - (n - BORDER - 1) : 0;
    float r = (float)d / BORDER;
    return 0.08f * r * r * r;
}

static void grid_init(Grid *g)
{
    g->ez = plane(0);
    g->hx = plane(0);
    g->hy = plane(0);
    g->ca = plane(1);
    g->cb = plane(0.5f);
    g->da = plane(1);
    g->db = plane(0.5f);
    for (int y = 0; y < NY; y++) {
        float ly = border_loss(y, NY);
        for (int x = 0; x < NX; x++) {
            int k = y * NX + x;
            float s = border_loss(x, NX) + ly;
            g->ca[k] = (1 - s) / (1 + s);
            g->cb[k] = 0.5f / (1 + s);
            g->da[k] = g->ca[k];
            g->db[k] = g->cb[k];
        }
    }
    /* the screen with its two slots */
    for (int y = 0; y < NY; y++) {
        int slot = abs(y - NY / 2 - 60) < 12 || abs(y - NY / 2 + 60) < 12;
        if (slot) continue;
        for (int x = NX / 2; x < NX / 2 + 6; x++) {
            g->ca[y * NX + x] = 0;
            g->cb[y * NX + x] = 0;
        }
    }
}

static void update_h(Grid *g)
{
    for (int y = 0; y < NY - 1; y++) {
        const float *restrict ez = g->ez + y * NX;
        const float *restrict up = ez + NX;
        const float *restrict da = g->da + y * NX;
        const float *restrict db = g->db + y * NX;
        float *restrict hx = g->hx + y * NX;
        float *restrict hy = g->hy + y * NX;
        for (int x = 0; x < NX - 1; x++) {
            hx[x] = da[x] * hx[x] - db[x] * (up[x] - ez[x]);
            hy[x] = da[x] * hy[x] + db[x] * (ez[x + 1] - ez[x]);
        }
    }
}

static void update_e(Grid *g)
{
    for (int y = 1; y < NY - 1; y++) {
        float *restrict ez = g->ez + y * NX;
        const float *restrict hx = g->hx + y * NX;
        const float *restrict below = hx - NX;
        const float *restrict hy = g->hy + y * NX;
        const float *restrict ca = g->ca + y * NX;
        const float *restrict cb = g->cb + y * NX;
        for (int x = 1; x < NX - 1; x++)
            ez[x] = ca[x] * ez[x] + cb[x] * ((hy[x] - hy[x - 1]) - (hx[x] - below[x]));
    }
}

static float source(int t)
{
    float env = (t - 90.0f) / 30.0f;
    return expf(-env * env) * sinf(0.28f * t) + 0.2f * sinf(0.2f * t);
}

int main(void)
{
    Grid g;
    double power[3] = { 0, 0, 0 };
    grid_init(&g);
    for (int t = 0; t < STEPS; t++) {
        DWELL_STEP();
        update_h(&g);
        update_e(&g);
        g.ez[NY / 2 * NX + BORDER + 80] += source(t);
        for (int p = 0; p < 3; p++) {
            float v = g.ez[(NY / 2 + (p - 1) * 120) * NX + NX - BORDER - 60];
            power[p] += (double)v * v;
        }
        if ((t + 1) % 300 == 0) {
            double e = 0;
            for (int k = 0; k < NX * NY; k++)
                e += (double)g.ez[k] * g.ez[k];
            printf("step %4d field energy %.4f\n", t + 1, e);
        }
    }
    printf("probe power %.5f %.5f %.5f\n", power[0], power[1], power[2]);
    free(g.ez);
    free(g.hx);
    free(g.hy);
    free(g.ca);
    free(g.cb);
    free(g.da);
    free(g.db);
    return 0;
}
