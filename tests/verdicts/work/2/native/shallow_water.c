/* Linearised shallow-water basin with a damping layer along the coast. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

#define NX 1500
#define NY 1500
#define STEPS 156

typedef struct {
    float *h, *u, *v, *depth, *drag;
    float dt, dx, gravity;
} Basin;

static inline size_t at(int row, int col) { return (size_t)row * NX + (size_t)col; }

static float *field(float value)
{
    float *f = malloc(sizeof(float) * NX * NY);
    if (!f) exit(1);
    for (size_t i = 0; i < (size_t)NX * NY; i++) f[i] = value;
    return f;
}

static void basin_init(Basin *b)
{
    b->dx = 100.0f;
    b->gravity = 9.81f;
    b->h = field(0.0f);
    b->u = field(0.0f);
    b->v = field(0.0f);
    b->depth = field(40.0f);
    b->drag = field(0.0f);
    for (int r = 0; r < NY; r++)
        for (int c = 0; c < NX; c++) {
            float y = (float)r / NY - 0.5f, x = (float)c / NX - 0.5f;
            b->depth[at(r, c)] = 20.0f + 60.0f * expf(-6.0f * (x * x + y * y));
            b->h[at(r, c)] = expf(-400.0f * ((x - 0.1f) * (x - 0.1f) + y * y));
            float edge = fminf(0.5f - fabsf(x), 0.5f - fabsf(y));
            b->drag[at(r, c)] = edge < 0.08f ? (0.08f - edge) * 0.6f : 0.0005f;
        }
    b->dt = 0.5f * b->dx / sqrtf(2.0f * b->gravity * 80.0f);
}

static void update_velocity(Basin *b)
{
    const float k = b->gravity * b->dt / b->dx;
    for (int r = 1; r < NY - 1; r++)
        for (int c = 1; c < NX - 1; c++) {
            size_t i = at(r, c);
            b->u[i] -= k * (b->h[i + 1] - b->h[i]);
            b->v[i] -= k * (b->h[i + NX] - b->h[i]);
        }
}

static void update_height(Basin *b)
{
    const float k = b->dt / b->dx;
    for (int r = 1; r < NY - 1; r++)
        for (int c = 1; c < NX - 1; c++) {
            size_t i = at(r, c);
            float fe = b->u[i] * 0.5f * (b->depth[i] + b->depth[i + 1]);
            float fw = b->u[i - 1] * 0.5f * (b->depth[i] + b->depth[i - 1]);
            float fn = b->v[i] * 0.5f * (b->depth[i] + b->depth[i + NX]);
            float fs = b->v[i - NX] * 0.5f * (b->depth[i] + b->depth[i - NX]);
            b->h[i] -= k * (fe - fw + fn - fs);
        }
}

static void apply_drag(Basin *b)
{
    for (int c = 1; c < NX - 1; c++)
        for (int r = 1; r < NY - 1; r++) {
            size_t i = at(r, c);
            float speed = sqrtf(b->u[i] * b->u[i] + b->v[i] * b->v[i]);
            float f = 1.0f / (1.0f + b->drag[i] * (1.0f + speed));
            b->u[i] *= f;
            b->v[i] *= f;
        }
}

static void wind_forcing(Basin *b, int step)
{
    const float s = 1e-5f * sinf(0.05f * (float)step) * b->dt;
    for (int r = 1; r < NY - 1; r++) {
        float w = s * cosf(6.2831853f * (float)r / NY);
        float *u = b->u + at(r, 0), *v = b->v + at(r, 0);
        const float *d = b->depth + at(r, 0);
        for (int c = 1; c < NX - 1; c++) {
            u[c] += w * 40.0f / d[c];
            v[c] -= 0.3f * w * 40.0f / d[c];
        }
    }
}

static double energy(const Basin *b)
{
    double e = 0;
    for (size_t i = 0; i < (size_t)NX * NY; i++)
        e += 0.5 * b->gravity * b->h[i] * b->h[i]
           + 0.5 * b->depth[i] * (b->u[i] * b->u[i] + b->v[i] * b->v[i]);
    return e;
}

int main(void)
{
    Basin b;
    basin_init(&b);
    for (int step = 0; step < STEPS; step++) {
        DWELL_STEP();
        wind_forcing(&b, step);
        update_velocity(&b);
        apply_drag(&b);
        update_height(&b);
        if (step % 26 == 0) printf("step %d energy %.4f\n", step, energy(&b));
    }
    printf("final %.4f\n", energy(&b));
    free(b.h); free(b.u); free(b.v); free(b.depth); free(b.drag);
    return 0;
}
