#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

/* Explicit heat diffusion in a plate with fixed edges and two moving sources. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 2000
#define STEPS 75

typedef struct {
    int n;
    double alpha;
    double *now;
    double *next;
    double *conductivity;
} Plate;

typedef struct {
    double x, y, vx, vy, power;
} Burner;

static double *grid_alloc(int n)
{
    double *g = calloc((size_t)n * n, sizeof *g);
    if (!g) {
        perror("calloc");
        exit(1);
    }
    return g;
}

static void plate_init(Plate *p, int n)
{
    p->n = n;
    p->alpha = 0.2;
    p->now = grid_alloc(n);
    p->next = grid_alloc(n);
    p->conductivity = grid_alloc(n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double r = hypot(i - n / 2.0, j - n / 2.0) / n;
            p->conductivity[(size_t)i * n + j] = 0.6 + 0.4 * cos(12.0 * r);
            p->now[(size_t)i * n + j] = 20.0;
            p->next[(size_t)i * n + j] = 20.0;
        }
    }
}

static void plate_free(Plate *p)
{
    free(p->now);
    free(p->next);
    free(p->conductivity);
}

static void move_burner(Burner *b, double dt)
{
    b->x += b->vx * dt;
    b->y += b->vy * dt;
    if (b->x < 0.1 || b->x > 0.9)
        b->vx = -b->vx;
    if (b->y < 0.1 || b->y > 0.9)
        b->vy = -b->vy;
}

static void apply_burner(Plate *p, const Burner *b)
{
    int ci = (int)(b->y * p->n), cj = (int)(b->x * p->n), radius = 14;
    for (int i = ci - radius; i <= ci + radius; i++)
        for (int j = cj - radius; j <= cj + radius; j++) {
            double d = hypot(i - ci, j - cj);
            if (d <= radius)
                p->now[(size_t)i * p->n + j] += b->power * (1.0 - d / radius);
        }
}

static void diffuse(Plate *p)
{
    int n = p->n;
    for (int i = 1; i < n - 1; i++) {
        const double *up = p->now + (size_t)(i - 1) * n;
        const double *mid = up + n;
        const double *down = mid + n;
        const double *k = p->conductivity + (size_t)i * n;
        double *out = p->next + (size_t)i * n;
        for (int j = 1; j < n - 1; j++) {
            double lap = up[j] + down[j] + mid[j - 1] + mid[j + 1] - 4.0 * mid[j];
            out[j] = mid[j] + p->alpha * k[j] * lap;
        }
    }
}

static double largest_change(const Plate *p)
{
    int n = p->n;
    double worst = 0.0;
    for (int x = 1; x < n - 1; x++) {
        for (int y = 1; y < n - 1; y++) {
            size_t at = (size_t)y * n + x;
            double d = fabs(p->next[at] - p->now[at]);
            if (d > worst)
                worst = d;
        }
    }
    return worst;
}

static void swap_grids(Plate *p)
{
    double *t = p->now;
    p->now = p->next;
    p->next = t;
}

static double total_heat(const Plate *p)
{
    double sum = 0.0;
    for (size_t i = 0; i < (size_t)p->n * p->n; i++)
        sum += p->now[i] - 20.0;
    return sum;
}

int main(void)
{
    Plate plate;
    Burner burners[2] = {{0.3, 0.4, 0.21, 0.13, 3.0}, {0.7, 0.6, -0.17, 0.19, 2.0}};
    double history = 0.0, change = 0.0;
    plate_init(&plate, N);
    for (int step = 0; step < STEPS; step++) {
        for (int b = 0; b < 2; b++) {
            move_burner(&burners[b], 0.01);
            apply_burner(&plate, &burners[b]);
        }
        diffuse(&plate);
        change = largest_change(&plate);
        history += change;
        swap_grids(&plate);
        DWELL_STEP();
    }
    printf("steps %d heat %.6f last change %.9f history %.9f\n", STEPS, total_heat(&plate), change, history);
    plate_free(&plate);
    return 0;
}
