/* Direct-summation star cluster with a leapfrog integrator (structure of arrays). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

#define BODIES 2048
#define TICKS 500

typedef struct {
    float x[BODIES], y[BODIES], z[BODIES];
    float vx[BODIES], vy[BODIES], vz[BODIES];
    float ax[BODIES], ay[BODIES], az[BODIES];
    float mass[BODIES];
} Cluster;

static unsigned seed = 77;
static float uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 16777216.0f;
}

static void cluster_init(Cluster *c)
{
    for (int i = 0; i < BODIES; i++) {
        float r = 0.2f + 0.8f * cbrtf(uniform());
        float cosine = 2 * uniform() - 1, phi = 6.2831853f * uniform();
        float sine = sqrtf(1 - cosine * cosine);
        c->x[i] = r * sine * cosf(phi);
        c->y[i] = r * sine * sinf(phi);
        c->z[i] = r * cosine;
        float s = 0.5f * sqrtf(r);
        c->vx[i] = -s * sinf(phi);
        c->vy[i] = s * cosf(phi);
        c->vz[i] = 0.1f * (uniform() - 0.5f);
        c->mass[i] = 1.0f / BODIES;
    }
}

static void accelerate(Cluster *restrict c)
{
    const float soft = 1e-3f;
    memset(c->ax, 0, sizeof c->ax);
    memset(c->ay, 0, sizeof c->ay);
    memset(c->az, 0, sizeof c->az);
    for (int i = 0; i < BODIES; i++) {
        const float xi = c->x[i], yi = c->y[i], zi = c->z[i], mi = c->mass[i];
        float ax = 0, ay = 0, az = 0;
        for (int j = i + 1; j < BODIES; j++) {
            float dx = c->x[j] - xi, dy = c->y[j] - yi, dz = c->z[j] - zi;
            float inv = 1.0f / sqrtf(dx * dx + dy * dy + dz * dz + soft);
            float w = inv * inv * inv;
            float wj = w * c->mass[j], wi = w * mi;
            ax += wj * dx;
            ay += wj * dy;
            az += wj * dz;
            c->ax[j] -= wi * dx;
            c->ay[j] -= wi * dy;
            c->az[j] -= wi * dz;
        }
        c->ax[i] += ax;
        c->ay[i] += ay;
        c->az[i] += az;
    }
}

static void kick(Cluster *restrict c, float dt)
{
    for (int i = 0; i < BODIES; i++) {
        c->vx[i] += c->ax[i] * dt;
        c->vy[i] += c->ay[i] * dt;
        c->vz[i] += c->az[i] * dt;
    }
}

static void drift(Cluster *restrict c, float dt)
{
    for (int i = 0; i < BODIES; i++) {
        c->x[i] += c->vx[i] * dt;
        c->y[i] += c->vy[i] * dt;
        c->z[i] += c->vz[i] * dt;
    }
}

static double kinetic(const Cluster *c)
{
    double e = 0;
    for (int i = 0; i < BODIES; i++)
        e += 0.5 * c->mass[i] * (c->vx[i] * c->vx[i] + c->vy[i] * c->vy[i] + c->vz[i] * c->vz[i]);
    return e;
}

int main(void)
{
    Cluster *c = aligned_alloc(64, (sizeof *c + 63) / 64 * 64);
    if (!c) return 1;
    cluster_init(c);
    accelerate(c);
    const float dt = 0.002f;
    for (int tick = 0; tick < TICKS; tick++) {
        DWELL_STEP();
        kick(c, 0.5f * dt);
        drift(c, dt);
        accelerate(c);
        kick(c, 0.5f * dt);
        if (tick % 125 == 0) printf("tick %d kinetic %.6f\n", tick, kinetic(c));
    }
    printf("kinetic %.6f\n", kinetic(c));
    free(c);
    return 0;
}
