/* Molecular dynamics of a Lennard-Jones fluid (reduced units, NVE,
 * velocity Verlet, Verlet lists from linked cells). */
#include <dwell/probe.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE 15
#define N (SIDE * SIDE * SIDE)
#define RCUT 2.5
#define SKIN 0.5
#define DT 0.004
#define STEPS 900
#define MAX_PAIRS (N * 80)

typedef struct { double x, y, z; } vec3;

static vec3 pos[N], vel[N], force[N], ref[N];
static int *pair_i, *pair_j, n_pairs;
static int *cell_head, cell_next[N], n_cells;
static double box, potential, virial;

static uint64_t rng = 88172645463325252ull;

static double uniform(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (double)(rng >> 11) / 9007199254740992.0;
}

static inline double wrap(double d)
{
    if (d > 0.5 * box) return d - box;
    if (d < -0.5 * box) return d + box;
    return d;
}

static void init_lattice(double density, double temperature)
{
    box = cbrt(N / density);
    double a = box / SIDE;
    vec3 mean = {0, 0, 0};
    for (int i = 0; i < N; i++) {
        pos[i].x = (i % SIDE + 0.5) * a;
        pos[i].y = (i / SIDE % SIDE + 0.5) * a;
        pos[i].z = (i / SIDE / SIDE + 0.5) * a;
        double s = sqrt(12.0 * temperature);
        vel[i].x = s * (uniform() - 0.5);
        vel[i].y = s * (uniform() - 0.5);
        vel[i].z = s * (uniform() - 0.5);
        mean.x += vel[i].x / N;
        mean.y += vel[i].y / N;
        mean.z += vel[i].z / N;
    }
    for (int i = 0; i < N; i++) {
        vel[i].x -= mean.x;
        vel[i].y -= mean.y;
        vel[i].z -= mean.z;
    }
}

static int cell_index(const vec3 *p)
{
    int c[3];
    double v[3] = {p->x, p->y, p->z};
    for (int k = 0; k < 3; k++) {
        double w = v[k] - box * floor(v[k] / box);
        c[k] = (int)(w / box * n_cells);
        if (c[k] >= n_cells) c[k] = n_cells - 1;
    }
    return (c[2] * n_cells + c[1]) * n_cells + c[0];
}

static void build_list(void)
{
    const double r2max = (RCUT + SKIN) * (RCUT + SKIN);
    n_pairs = 0;
    memset(cell_head, -1, sizeof(int) * n_cells * n_cells * n_cells);
    for (int i = 0; i < N; i++) {
        int c = cell_index(&pos[i]);
        cell_next[i] = cell_head[c];
        cell_head[c] = i;
    }
    for (int i = 0; i < N; i++) {
        int c = cell_index(&pos[i]);
        int cx = c % n_cells, cy = c / n_cells % n_cells, cz = c / n_cells / n_cells;
        for (int d = 0; d < 27; d++) {
            int x = (cx + d % 3 - 1 + n_cells) % n_cells;
            int y = (cy + d / 3 % 3 - 1 + n_cells) % n_cells;
            int z = (cz + d / 9 - 1 + n_cells) % n_cells;
            for (int j = cell_head[(z * n_cells + y) * n_cells + x]; j >= 0; j = cell_next[j]) {
                if (j <= i) continue;
                double dx = wrap(pos[i].x - pos[j].x);
                double dy = wrap(pos[i].y - pos[j].y);
                double dz = wrap(pos[i].z - pos[j].z);
                if (dx * dx + dy * dy + dz * dz < r2max && n_pairs < MAX_PAIRS) {
                    pair_i[n_pairs] = i;
                    pair_j[n_pairs++] = j;
                }
            }
        }
    }
}

static int list_is_stale(void)
{
    const double limit = 0.25 * SKIN * SKIN;
    for (int i = 0; i < N; i++) {
        double dx = wrap(pos[i].x - ref[i].x);
        double dy = wrap(pos[i].y - ref[i].y);
        double dz = wrap(pos[i].z - ref[i].z);
        if (dx * dx + dy * dy + dz * dz > limit)
            return 1;
    }
    return 0;
}

static void compute_forces(void)
{
    memset(force, 0, sizeof force);
    potential = virial = 0;
    for (int k = 0; k < n_pairs; k++) {
        int i = pair_i[k], j = pair_j[k];
        double dx = wrap(pos[i].x - pos[j].x);
        double dy = wrap(pos[i].y - pos[j].y);
        double dz = wrap(pos[i].z - pos[j].z);
        double r2 = dx * dx + dy * dy + dz * dz;
        if (r2 > RCUT * RCUT) continue;
        double s2 = 1.0 / r2, s6 = s2 * s2 * s2;
        double f = 48.0 * s6 * (s6 - 0.5) * s2;
        potential += 4.0 * s6 * (s6 - 1.0);
        virial += f * r2;
        force[i].x += f * dx; force[i].y += f * dy; force[i].z += f * dz;
        force[j].x -= f * dx; force[j].y -= f * dy; force[j].z -= f * dz;
    }
}

static void half_kick(void)
{
    for (int i = 0; i < N; i++) {
        vel[i].x += 0.5 * DT * force[i].x;
        vel[i].y += 0.5 * DT * force[i].y;
        vel[i].z += 0.5 * DT * force[i].z;
    }
}

static void drift(void)
{
    for (int i = 0; i < N; i++) {
        double *p = &pos[i].x, *v = &vel[i].x;
        for (int k = 0; k < 3; k++) {
            p[k] += DT * v[k];
            if (p[k] >= box) p[k] -= box;
            else if (p[k] < 0) p[k] += box;
        }
    }
}

int main(void)
{
    init_lattice(0.8, 1.2);
    n_cells = (int)(box / (RCUT + SKIN));
    cell_head = malloc(sizeof(int) * n_cells * n_cells * n_cells);
    pair_i = malloc(sizeof(int) * MAX_PAIRS);
    pair_j = malloc(sizeof(int) * MAX_PAIRS);
    build_list();
    memcpy(ref, pos, sizeof pos);
    compute_forces();

    double p_sum = 0, e_sum = 0;
    for (int step = 0; step < STEPS; step++) {
        DWELL_STEP();
        half_kick();
        drift();
        if (list_is_stale())
            build_list();
        compute_forces();
        half_kick();
        double kinetic = 0;
        for (int i = 0; i < N; i++)
            kinetic += 0.5 * (vel[i].x * vel[i].x + vel[i].y * vel[i].y + vel[i].z * vel[i].z);
        e_sum += (kinetic + potential) / N;
        p_sum += (2.0 * kinetic + virial) / (3.0 * box * box * box);
    }
    printf("atoms=%d energy per atom=%.3f mean pressure=%.2f\n", N, e_sum / STEPS, p_sum / STEPS);
    return 0;
}
