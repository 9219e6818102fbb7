/* Terrain statistics: builds an elevation raster, derives slope classes and
 * downslope water accumulation, prints a digest. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 6144
#define COLS 8192
#define SCENES 5

typedef struct {
    uint16_t *z;
    int rows, cols;
} raster_t;

static inline uint16_t at(const raster_t *r, int y, int x)
{
    return r->z[(size_t)y * (size_t)r->cols + (size_t)x];
}

static raster_t raster_new(int rows, int cols)
{
    raster_t r = {calloc((size_t)rows * (size_t)cols, sizeof(uint16_t)), rows, cols};
    if (!r.z)
        exit(1);
    return r;
}

static void synthesize(raster_t *r, int scene)
{
    static uint16_t wave[COLS];
    uint32_t s = 17u + (uint32_t)scene;
    for (int x = 0; x < r->cols; x++)
        wave[x] = (uint16_t)(300.0f + 250.0f * sinf((float)x * 0.003f * (float)(scene + 1)));
    for (int y = 0; y < r->rows; y++) {
        uint16_t ridge = (uint16_t)(900.0f + 700.0f * sinf((float)y * 0.002f));
        uint16_t *row = r->z + (size_t)y * (size_t)r->cols;
        for (int x = 0; x < r->cols; x++) {
            s = s * 1664525u + 1013904223u;
            row[x] = (uint16_t)(ridge + wave[x] + (s >> 28));
        }
    }
}

static void slope_classes(const raster_t *r, long hist[8])
{
    for (int y = 1; y < r->rows - 1; y++)
        for (int x = 1; x < r->cols - 1; x++) {
            int dx = at(r, y, x + 1) - at(r, y, x - 1);
            int dy = at(r, y + 1, x) - at(r, y - 1, x);
            int c = (dx * dx + dy * dy) >> 5;
            hist[c > 7 ? 7 : c]++;
        }
}

/* Water entering each cell from its northern neighbour: three quarters moves
 * on when the ground falls, a quarter when it rises. */
static void accumulate_south(const raster_t *dem, raster_t *water)
{
    const size_t stride = (size_t)dem->cols;
    for (int x = 0; x < dem->cols; x++) {
        for (int y = 1; y < dem->rows; y++) {
            size_t i = (size_t)y * stride + (size_t)x;
            uint16_t up = water->z[i - stride];
            uint16_t part = dem->z[i] < dem->z[i - stride] ? (uint16_t)(up - up / 4) : (uint16_t)(up / 4);
            water->z[i] = (uint16_t)(part + 100);
        }
    }
}

static void accumulate_east(const raster_t *dem, raster_t *water)
{
    for (int y = 0; y < dem->rows; y++) {
        const uint16_t *z = dem->z + (size_t)y * (size_t)dem->cols;
        uint16_t *w = water->z + (size_t)y * (size_t)dem->cols;
        for (int x = 1; x < dem->cols; x++)
            w[x] = (uint16_t)(w[x] + (z[x] < z[x - 1] ? w[x - 1] / 8 : 0));
    }
}

static uint64_t wet_cells(const raster_t *water, uint16_t level, uint64_t *sum)
{
    uint64_t n = 0, total = 0;
    size_t cells = (size_t)water->rows * (size_t)water->cols;
    for (size_t i = 0; i < cells; i++) {
        total += water->z[i];
        n += water->z[i] > level;
    }
    *sum += total;
    return n;
}

int main(void)
{
    raster_t dem = raster_new(ROWS, COLS);
    raster_t water = raster_new(ROWS, COLS);
    long hist[8] = {0};
    uint64_t wet = 0, sum = 0;

    for (int scene = 0; scene < SCENES; scene++) {
        synthesize(&dem, scene);
        slope_classes(&dem, hist);
        memset(water.z, 0, COLS * sizeof *water.z);
        accumulate_south(&dem, &water);
        accumulate_east(&dem, &water);
        wet += wet_cells(&water, 350, &sum);
    }
    printf("wet %llu sum %llu slopes", (unsigned long long)wet, (unsigned long long)sum);
    for (int i = 0; i < 8; i++)
        printf(" %ld", hist[i]);
    printf("\n");
    free(dem.z);
    free(water.z);
    return 0;
}
