/* Drainage analysis of an elevation model: depressions are filled by
 * priority flood, then D8 directions and upstream areas are derived. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE 1400
#define CELLS (SIZE * SIZE)
#define N_TERRAINS 17
#define OCTAVES 7

typedef struct {
    float z;
    uint32_t cell;
} entry_t;

typedef struct {
    entry_t *a;
    size_t n;
} heap_t;

static const int DX[8] = {1, 1, 0, -1, -1, -1, 0, 1};
static const int DY[8] = {0, 1, 1, 1, 0, -1, -1, -1};

static void heap_push(heap_t *h, float z, uint32_t cell)
{
    size_t i = h->n++;
    while (i) {
        size_t up = (i - 1) / 2;
        if (h->a[up].z <= z)
            break;
        h->a[i] = h->a[up];
        i = up;
    }
    h->a[i] = (entry_t){z, cell};
}

static entry_t heap_pop(heap_t *h)
{
    entry_t top = h->a[0], last = h->a[--h->n];
    size_t i = 0;
    for (;;) {
        size_t c = 2 * i + 1;
        if (c >= h->n)
            break;
        if (c + 1 < h->n && h->a[c + 1].z < h->a[c].z)
            c++;
        if (h->a[c].z >= last.z)
            break;
        h->a[i] = h->a[c];
        i = c;
    }
    h->a[i] = last;
    return top;
}

static float lattice(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t h = x * 0x8da6b343u ^ y * 0xd8163841u ^ seed * 0xcb1ab31fu;
    h = (h ^ (h >> 15)) * 0x2c1b3c6du;
    h = (h ^ (h >> 12)) * 0x297a2d39u;
    return (float)((h ^ (h >> 15)) & 0xffffff) / 16777216.0f;
}

static void make_terrain(float *z, uint32_t seed)
{
    memset(z, 0, sizeof(float) * CELLS);
    for (int o = 0; o < OCTAVES; o++) {
        float step = 256.0f / (1 << o), amp = 400.0f / (1 << o);
        for (int y = 0; y < SIZE; y++) {
            float fy = y / step, ty = fy - floorf(fy);
            uint32_t iy = (uint32_t)fy;
            float sy = ty * ty * (3 - 2 * ty), a = 0, b = 0;
            uint32_t at = UINT32_MAX;
            for (int x = 0; x < SIZE; x++) {
                float fx = x / step, tx = fx - floorf(fx);
                uint32_t ix = (uint32_t)fx;
                if (ix != at) {
                    float l0 = lattice(ix, iy, seed + o), l1 = lattice(ix, iy + 1, seed + o);
                    float r0 = lattice(ix + 1, iy, seed + o);
                    float r1 = lattice(ix + 1, iy + 1, seed + o);
                    a = l0 + (l1 - l0) * sy;
                    b = r0 + (r1 - r0) * sy;
                    at = ix;
                }
                z[y * SIZE + x] += amp * (a + (b - a) * tx * tx * (3 - 2 * tx));
            }
        }
    }
}

/* Barnes et al.: floods inwards from the border; each cell drains to the cell
 * that it was reached from. order[] lists cells from outlet to ridge. */
static size_t priority_flood(float *z, uint8_t *dir, uint32_t *order, heap_t *heap)
{
    const uint8_t unseen = 255, outlet = 8;
    size_t filled = 0, n = 0;
    memset(dir, unseen, CELLS);
    heap->n = 0;
    for (int i = 0; i < SIZE; i++) {
        uint32_t edge[4] = {(uint32_t)i, (uint32_t)(CELLS - SIZE + i), (uint32_t)(i * SIZE),
                            (uint32_t)(i * SIZE + SIZE - 1)};
        for (int k = 0; k < 4; k++)
            if (dir[edge[k]] == unseen) {
                dir[edge[k]] = outlet;
                heap_push(heap, z[edge[k]], edge[k]);
            }
    }
    while (heap->n) {
        entry_t e = heap_pop(heap);
        order[n++] = e.cell;
        int x = e.cell % SIZE, y = e.cell / SIZE;
        for (int d = 0; d < 8; d++) {
            int nx = x + DX[d], ny = y + DY[d];
            if (nx < 0 || ny < 0 || nx >= SIZE || ny >= SIZE)
                continue;
            uint32_t c = ny * SIZE + nx;
            if (dir[c] != unseen)
                continue;
            dir[c] = (d + 4) & 7;
            if (z[c] < e.z) {
                z[c] = e.z;
                filled++;
            }
            heap_push(heap, z[c], c);
        }
    }
    return filled;
}

static void accumulate(const uint8_t *dir, const uint32_t *order, uint32_t *area)
{
    for (size_t i = 0; i < CELLS; i++)
        area[i] = 1;
    for (size_t i = CELLS; i-- > 0;) {
        uint32_t c = order[i];
        if (dir[c] < 8)
            area[c + DY[dir[c]] * SIZE + DX[dir[c]]] += area[c];
    }
}

int main(void)
{
    float *z = malloc(sizeof(float) * CELLS);
    uint8_t *dir = malloc(CELLS);
    uint32_t *order = malloc(sizeof(uint32_t) * CELLS);
    uint32_t *area = malloc(sizeof(uint32_t) * CELLS);
    heap_t heap = {malloc(sizeof(entry_t) * CELLS), 0};

    for (uint32_t t = 0; t < N_TERRAINS; t++) {
        make_terrain(z, 1000 * (t + 1));
        size_t filled = priority_flood(z, dir, order, &heap);
        accumulate(dir, order, area);
        uint64_t drained = 0;
        uint32_t largest = 0, streams = 0;
        for (size_t i = 0; i < CELLS; i++) {
            if (dir[i] == 8)
                drained += area[i];
            if (area[i] > largest)
                largest = area[i];
            streams += area[i] > 2000;
        }
        printf("terrain %u: filled=%zu largest basin=%u stream cells=%u check=%s\n", t, filled,
               largest, streams, drained == CELLS ? "ok" : "FAILED");
    }
    free(z);
    free(dir);
    free(order);
    free(area);
    free(heap.a);
    return 0;
}
