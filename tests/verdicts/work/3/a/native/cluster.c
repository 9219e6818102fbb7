#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

/* Gravitational cluster, direct summation with a leapfrog integrator. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BODIES 1600
#define STEPS 560

typedef struct {
    float *x, *y, *z;
    float *vx, *vy, *vz;
    float *ax, *ay, *az;
    float *mass;
    int n;
} Cluster;

static uint64_t rng = 20240601;

static float frand(void)
{
    rng = rng * 6364136223846793005ull + 1442695040888963407ull;
    return (float)(rng >> 40) / 16777216.0f;
}

static float *column(int n)
{
    float *p = calloc((size_t)n, sizeof *p);
    if (!p)
        exit(1);
    return p;
}

static void cluster_init(Cluster *c, int n)
{
    c->n = n;
    c->x = column(n); c->y = column(n); c->z = column(n);
    c->vx = column(n); c->vy = column(n); c->vz = column(n);
    c->ax = column(n); c->ay = column(n); c->az = column(n);
    c->mass = column(n);
    for (int i = 0; i < n; i++) {
        float r = 0.2f + frand(), theta = acosf(2.0f * frand() - 1.0f), phi = 6.2831853f * frand();
        c->x[i] = r * sinf(theta) * cosf(phi);
        c->y[i] = r * sinf(theta) * sinf(phi);
        c->z[i] = r * cosf(theta);
        c->vx[i] = -0.5f * c->y[i];
        c->vy[i] = 0.5f * c->x[i];
        c->mass[i] = (0.5f + frand()) / (float)n;
    }
}

static void cluster_free(Cluster *c)
{
    float *all[] = {c->x, c->y, c->z, c->vx, c->vy, c->vz, c->ax, c->ay, c->az, c->mass};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

static void accelerations(Cluster *c)
{
    const float soft = 0.0025f;
    for (int i = 0; i < c->n; i++) {
        float xi = c->x[i], yi = c->y[i], zi = c->z[i];
        float ax = 0.0f, ay = 0.0f, az = 0.0f;
        for (int j = 0; j < c->n; j++) {
            float dx = c->x[j] - xi, dy = c->y[j] - yi, dz = c->z[j] - zi;
            float d2 = dx * dx + dy * dy + dz * dz + soft;
            float inv = 1.0f / sqrtf(d2);
            float w = c->mass[j] * inv * inv * inv;
            ax += w * dx;
            ay += w * dy;
            az += w * dz;
        }
        c->ax[i] = ax;
        c->ay[i] = ay;
        c->az[i] = az;
    }
}

static void kick(Cluster *c, float dt)
{
    for (int i = 0; i < c->n; i++) {
        c->vx[i] += dt * c->ax[i];
        c->vy[i] += dt * c->ay[i];
        c->vz[i] += dt * c->az[i];
    }
}

static void drift(Cluster *c, float dt)
{
    for (int i = 0; i < c->n; i++) {
        c->x[i] += dt * c->vx[i];
        c->y[i] += dt * c->vy[i];
        c->z[i] += dt * c->vz[i];
    }
}

static double kinetic(const Cluster *c)
{
    double e = 0.0;
    for (int i = 0; i < c->n; i++)
        e += 0.5 * c->mass[i] * (c->vx[i] * c->vx[i] + c->vy[i] * c->vy[i] + c->vz[i] * c->vz[i]);
    return e;
}

static double half_mass_radius(const Cluster *c)
{
    double sum = 0.0;
    for (int i = 0; i < c->n; i++)
        sum += sqrt(c->x[i] * c->x[i] + c->y[i] * c->y[i] + c->z[i] * c->z[i]);
    return sum / c->n;
}

int main(void)
{
    Cluster c;
    const float dt = 0.001f;
    cluster_init(&c, BODIES);
    accelerations(&c);
    for (int step = 0; step < STEPS; step++) {
        kick(&c, 0.5f * dt);
        drift(&c, dt);
        accelerations(&c);
        kick(&c, 0.5f * dt);
        if (step % 100 == 99)
            printf("step %d kinetic %.5f radius %.5f\n", step + 1, kinetic(&c), half_mass_radius(&c));
        DWELL_STEP();
    }
    printf("final kinetic %.5f radius %.5f\n", kinetic(&c), half_mass_radius(&c));
    cluster_free(&c);
    return 0;
}
