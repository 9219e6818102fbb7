/* Molecular dynamics of argon atoms in a periodic box (Lennard-Jones potential). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SIDE 10
#define N (SIDE * SIDE * SIDE)
#define STEPS 190

static double pos[N][3], vel[N][3], force[N][3];
static double box, potential, attraction_time;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double uniform(void)
{
    static unsigned long long s = 88172645463325252ull;
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    return (double)(s >> 11) / 9007199254740992.0;
}

static void place(double density)
{
    double cell = cbrt(1.0 / density), sum[3] = {0};
    box = cell * SIDE;
    for (int i = 0; i < N; i++) {
        pos[i][0] = (i % SIDE + 0.5) * cell;
        pos[i][1] = (i / SIDE % SIDE + 0.5) * cell;
        pos[i][2] = (i / SIDE / SIDE + 0.5) * cell;
        for (int k = 0; k < 3; k++) {
            vel[i][k] = uniform() + uniform() + uniform() - 1.5;
            sum[k] += vel[i][k] / N;
        }
    }
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) vel[i][k] -= sum[k];
}

/* Energy and slope of the potential for a list of squared distances. */
static void lennard_jones(const double *r2, int n, double *energy, double *slope)
{
    for (int i = 0; i < n; i++) {
#ifdef REPAIRED
        double q = 1.0 / r2[i], r6 = q * q * q, r12 = r6 * r6;
#else
        double r = sqrt(r2[i]);
        double r6 = pow(1.0 / r, 6), r12 = pow(1.0 / r, 12);
#endif
        energy[i] = 4 * (r12 - r6);
        slope[i] = 24 * (2 * r12 - r6) / r2[i];
    }
}

static void forces(double reach)
{
    static double d[N][3], r2[N], energy[N], slope[N];
    static int who[N];
    potential = 0;
    for (int i = 0; i < N; i++) force[i][0] = force[i][1] = force[i][2] = 0;
    for (int i = 0; i < N; i++) {
        int n = 0;
        for (int j = i + 1; j < N; j++) {
            double e[3], s = 0;
            for (int k = 0; k < 3; k++) {
                e[k] = pos[i][k] - pos[j][k];
                if (e[k] > box / 2) e[k] -= box;
                else if (e[k] < -box / 2) e[k] += box;
                s += e[k] * e[k];
            }
            if (s > reach * reach) continue;
            for (int k = 0; k < 3; k++) d[n][k] = e[k];
            r2[n] = s;
            who[n++] = j;
        }
        double t = now();
        lennard_jones(r2, n, energy, slope);
        attraction_time += now() - t;
        for (int m = 0; m < n; m++) {
            potential += energy[m];
            for (int k = 0; k < 3; k++) {
                force[i][k] += slope[m] * d[m][k];
                force[who[m]][k] -= slope[m] * d[m][k];
            }
        }
    }
}

static double kinetic(void)
{
    double sum = 0;
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) sum += 0.5 * vel[i][k] * vel[i][k];
    return sum;
}

static void half_kick(double dt)
{
    for (int i = 0; i < N; i++)
        for (int k = 0; k < 3; k++) vel[i][k] += 0.5 * dt * force[i][k];
}

int main(void)
{
    double start = now(), dt = 0.002, reach;
    long shells[10] = {0};
    place(0.8);
    reach = box / 2;
    forces(reach);
    for (int step = 1; step <= STEPS; step++) {
        half_kick(dt);
        for (int i = 0; i < N; i++)
            for (int k = 0; k < 3; k++) {
                pos[i][k] += dt * vel[i][k];
                if (pos[i][k] >= box) pos[i][k] -= box;
                else if (pos[i][k] < 0) pos[i][k] += box;
            }
        forces(reach);
        half_kick(dt);
        if (step % 38 == 0)
            printf("step %d: potential %.4f, kinetic %.4f\n", step, potential / N, kinetic() / N);
    }
    for (int i = 1; i < N; i++) {
        double s = 0;
        for (int k = 0; k < 3; k++) s += (pos[i][k] - pos[0][k]) * (pos[i][k] - pos[0][k]);
        int b = (int)sqrt(s);
        if (b < 10) shells[b]++;
    }
    for (int b = 0; b < 10; b++) printf("%ld ", shells[b]);
    printf("atoms by distance from the first\n");
    double total = now() - start;
#ifdef REPAIRED
    attraction_time = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", attraction_time / total, total);
    return 0;
}
