/*
 * Foretells which residues of a protein touch each other: convolutions over the map of all pairs, with OpenMP.
 *
 * Planted: nothing.
 * Truth: time of making the protein and its map, as a share of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <string.h>

enum { N = 32, C = 16, K = 3, LAYERS = 4, KINDS = 20 };

typedef float map_t[N][N][C];
typedef float kernel_t[C][K][K][C];

static map_t map[LAYERS + 1], back[2];
static kernel_t kernel[LAYERS], slope[LAYERS];
static float head[C], trait[KINDS][C], contact[N][N];
static unsigned char residue[N];
static struct watch watch;

static void make_protein(unsigned seed)
{
    DWELL_ZONE("protein");
    planted_begin(&watch);
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525u + 1013904223u;
        residue[i] = (unsigned char)(seed >> 24) % KINDS;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            contact[i][j] = (residue[i] + residue[j]) % 7 == 0;
            for (int c = 0; c < C; c++)
                map[0][i][j][c] = trait[residue[i]][c] * trait[residue[j]][C - 1 - c];
        }
    planted_end(&watch);
}

static void convolve(int layer)
{
    DWELL_OP("conv2d");
    const uint64_t team = DWELL_TEAM();

#pragma omp parallel
    {
        DWELL_WORKER(team);
#pragma omp for schedule(static)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int o = 0; o < C; o++) {
                    float sum = 0;

                    for (int a = 0; a < K; a++)
                        for (int b = 0; b < K; b++) {
                            const int y = i + a - 1, x = j + b - 1;

                            if (y < 0 || y >= N || x < 0 || x >= N)
                                continue;
                            for (int c = 0; c < C; c++)
                                sum += kernel[layer][o][a][b][c] * map[layer][y][x][c];
                        }
                    map[layer + 1][i][j][o] = sum > 0 ? sum : 0.1f * sum;
                }
    }
}

static void loss_backward(map_t *error)
{
    DWELL_OP("loss");
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            float z = 0;

            for (int c = 0; c < C; c++)
                z += head[c] * map[LAYERS][i][j][c];
            z = 1 / (1 + expf(-z)) - contact[i][j];
            for (int c = 0; c < C; c++)
                (*error)[i][j][c] = z * head[c];
        }
}

static void convolve_backward(int layer, const map_t *error, map_t *before)
{
    DWELL_OP("conv2d_backward");
    const uint64_t team = DWELL_TEAM();

#pragma omp parallel
    {
        DWELL_WORKER(team);
#pragma omp for schedule(static) nowait
        for (int o = 0; o < C; o++)
            for (int i = 1; i < N - 1; i++)
                for (int j = 1; j < N - 1; j++) {
                    const float d = (*error)[i][j][o] * (map[layer + 1][i][j][o] > 0 ? 1 : 0.1f);

                    for (int a = 0; a < K; a++)
                        for (int b = 0; b < K; b++)
                            for (int c = 0; c < C; c++)
                                slope[layer][o][a][b][c] += d * map[layer][i + a - 1][j + b - 1][c];
                }
#pragma omp for schedule(static)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++) {
                float sum[C] = { 0 };

                for (int a = 0; a < K; a++)
                    for (int b = 0; b < K; b++)
                        for (int o = 0; o < C; o++)
                            for (int c = 0; c < C; c++)
                                sum[c] += (*error)[i - a + 1][j - b + 1][o] * kernel[layer][o][a][b][c];
                memcpy((*before)[i][j], sum, sizeof(sum));
            }
    }
}

static void sgd(void)
{
    DWELL_OP("sgd");
    float *weights = &kernel[0][0][0][0][0], *slopes = &slope[0][0][0][0][0];

    for (int i = 0; i < LAYERS * C * K * K * C; i++) {
        weights[i] -= 1e-5f * slopes[i];
        slopes[i] = 0;
    }
}

int main(void)
{
    for (int i = 0; i < LAYERS * C * K * K * C; i++)
        (&kernel[0][0][0][0][0])[i] = (float)(i * 37 % 101 - 50) / 500;
    for (int c = 0; c < C; c++) {
        head[c] = (float)(c % 5 - 2) / 10;
        for (int k = 0; k < KINDS; k++)
            trait[k][c] = (float)((k * 7 + c * 3) % 13 - 6) / 8;
    }
    watch_begin(&watch);
    for (; watch_seconds(&watch) < 6; watch.steps++) {
        DWELL_STEP();
        make_protein((unsigned)watch.steps);
        for (int layer = 0; layer < LAYERS; layer++)
            convolve(layer);
        loss_backward(&back[0]);
        for (int layer = LAYERS - 1; layer >= 0; layer--)
            convolve_backward(layer, (const map_t *)&back[(LAYERS - 1 - layer) % 2], &back[(LAYERS - layer) % 2]);
        sgd();
    }
    watch_tell(&watch);
    return 0;
}
