/* Estimate the site percolation threshold of the square lattice with union-find. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "dwell/dwell.h"

#define L 256
#define SITES (L * L)
#define TRIALS 1500

static int parent[SITES + 2], size[SITES + 2], order[SITES];
static unsigned char open_site[SITES];
static unsigned long long state[2] = {0x9E3779B97F4A7C15ull, 0xBF58476D1CE4E5B9ull};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

/* xorshift128+ */
static unsigned next_random(unsigned below)
{
    unsigned long long a = state[0], b = state[1];
    state[0] = b;
    a ^= a << 23;
    state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return (unsigned)(((state[1] + b) >> 32) * below >> 32);
}

static int find(int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static int join(int a, int b)
{
    a = find(a);
    b = find(b);
    if (a == b) return size[a];
    if (size[a] < size[b]) { int t = a; a = b; b = t; }
    parent[b] = a;
    return size[a] += size[b];
}

static void clear(void)
{
    for (int i = 0; i < SITES + 2; i++) {
        parent[i] = i;
        size[i] = i < SITES;
    }
    for (int i = 0; i < SITES; i++) {
        open_site[i] = 0;
        order[i] = i;
    }
}

/* Opens sites in random order till the top row is connected with the bottom row. */
static double trial(int *largest)
{
    const int top = SITES, bottom = SITES + 1;
    clear();
    *largest = 0;
    for (int n = 0; n < SITES; n++) {
        int k = n + (int)next_random((unsigned)(SITES - n));
        int s = order[k], x = s % L, y = s / L, grown = 1;
        order[k] = order[n];
        order[n] = s;
        open_site[s] = 1;
        if (x > 0 && open_site[s - 1]) grown = join(s, s - 1);
        if (x < L - 1 && open_site[s + 1]) grown = join(s, s + 1);
        if (y > 0 && open_site[s - L]) grown = join(s, s - L);
        if (y < L - 1 && open_site[s + L]) grown = join(s, s + L);
        if (y == 0) join(s, top);
        if (y == L - 1) join(s, bottom);
        if (grown > *largest) *largest = grown;
        if (find(top) == find(bottom)) return (n + 1.0) / SITES;
    }
    return 1;
}

/* Mean size of the finite clusters, weighted by sites. */
static double mean_cluster(void)
{
    double sum = 0;
    long open = 0;
    int spanning = find(SITES);
    for (int i = 0; i < SITES; i++) {
        if (!open_site[i]) continue;
        int r = find(i);
        if (r == spanning) continue;
        sum += size[r];
        open++;
    }
    return open ? sum / (double)open : 0;
}

int main(void)
{
    double start = now(), sum = 0, squares = 0, clusters = 0, mass = 0;
    int histogram[20] = {0};
    for (int t = 1; t <= TRIALS; t++) {
        DWELL_STEP();
        int largest;
        double p = trial(&largest);
        sum += p;
        squares += p * p;
        mass += (double)largest / SITES;
        clusters += mean_cluster();
        int b = (int)((p - 0.5) * 100);
        if (b >= 0 && b < 20) histogram[b]++;
        if (t % 300 == 0) {
            double m = sum / t;
            printf("%4d trials: threshold %.5f +- %.5f\n", t, m, sqrt((squares / t - m * m) / t));
        }
    }
    printf("largest cluster %.4f of all sites, other clusters %.2f sites on average\n", mass / TRIALS, clusters / TRIALS);
    for (int b = 0; b < 20; b++)
        if (histogram[b]) printf("%.2f: %d\n", 0.5 + b * 0.01, histogram[b]);
    printf("TRUTH {\"share\": 0, \"seconds\": %.1f}\n", now() - start);
    return 0;
}
