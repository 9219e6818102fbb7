/* Packs sensor tiles of a weather radar mosaic into a compressed archive.
 *
 * Every scan yields a grid of small tiles.  A tile is quantised, delta coded
 * and deflated on its own, so that a reader can fetch single tiles.
 */
#include <dwell/probe.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GRID 384
#define TILE 12
#define TILES_PER_SIDE (GRID / TILE)
#define TILE_BYTES (TILE * TILE)
#define SCANS 110

struct archive {
    unsigned char *data;
    size_t used, room;
    uint32_t *offsets;
    size_t tiles;
};

struct storm {
    float x, y, vx, vy, radius, peak;
};

static void archive_append(struct archive *a, const unsigned char *p, size_t n)
{
    if (a->used + n > a->room) {
        a->room = (a->used + n) * 2;
        a->data = realloc(a->data, a->room);
        if (!a->data)
            exit(1);
    }
    a->offsets[a->tiles++] = (uint32_t)a->used;
    memcpy(a->data + a->used, p, n);
    a->used += n;
}

static uint32_t lcg(uint32_t *s)
{
    *s = *s * 1664525u + 1013904223u;
    return *s >> 8;
}

static void render_scan(float *field, const struct storm *storms, int n, uint32_t *seed)
{
    for (int i = 0; i < GRID * GRID; i++)
        field[i] = (float)(lcg(seed) % 64) * 0.02f;
    for (int s = 0; s < n; s++) {
        const struct storm *st = &storms[s];
        int x0 = (int)(st->x - 3 * st->radius), x1 = (int)(st->x + 3 * st->radius);
        int y0 = (int)(st->y - 3 * st->radius), y1 = (int)(st->y + 3 * st->radius);
        float k = -0.5f / (st->radius * st->radius);
        for (int y = y0 < 0 ? 0 : y0; y <= y1 && y < GRID; y++)
            for (int x = x0 < 0 ? 0 : x0; x <= x1 && x < GRID; x++) {
                float dx = (float)x - st->x, dy = (float)y - st->y;
                field[y * GRID + x] += st->peak * expf(k * (dx * dx + dy * dy));
            }
    }
}

static void move_storms(struct storm *storms, int n)
{
    for (int s = 0; s < n; s++) {
        storms[s].x += storms[s].vx;
        storms[s].y += storms[s].vy;
        if (storms[s].x < 0 || storms[s].x >= GRID)
            storms[s].vx = -storms[s].vx;
        if (storms[s].y < 0 || storms[s].y >= GRID)
            storms[s].vy = -storms[s].vy;
    }
}

/* Median of 3x3 neighbours removes speckle before coding. */
static void despeckle(const float *in, float *out)
{
    memcpy(out, in, sizeof(float) * GRID * GRID);
    for (int y = 1; y < GRID - 1; y++)
        for (int x = 1; x < GRID - 1; x++) {
            float v[9];
            int n = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++) {
                    float f = in[(y + j) * GRID + x + i];
                    int k = n++;
                    while (k > 0 && v[k - 1] > f) {
                        v[k] = v[k - 1];
                        k--;
                    }
                    v[k] = f;
                }
            out[y * GRID + x] = v[4];
        }
}

static void quantise_tile(const float *field, int tx, int ty, unsigned char *out)
{
    unsigned char prev = 0;
    for (int y = 0; y < TILE; y++)
        for (int x = 0; x < TILE; x++) {
            float v = field[(ty * TILE + y) * GRID + tx * TILE + x] * 2.0f;
            unsigned char q = v > 255 ? 255 : (unsigned char)v;
            out[y * TILE + x] = (unsigned char)(q - prev);
            prev = q;
        }
}

static size_t pack_tile(z_stream *z, const unsigned char *tile, unsigned char *out, size_t room)
{
    memset(z, 0, sizeof *z);
    if (deflateInit(z, 6) != Z_OK)
        exit(1);
    z->next_in = (unsigned char *)tile;
    z->avail_in = TILE_BYTES;
    z->next_out = out;
    z->avail_out = (uInt)room;
    if (deflate(z, Z_FINISH) != Z_STREAM_END)
        exit(1);
    size_t n = z->total_out;
    deflateEnd(z);
    return n;
}

int main(void)
{
    static float field[GRID * GRID], clean[GRID * GRID];
    struct storm storms[14];
    uint32_t seed = 20231105;
    struct archive a = {0};
    unsigned char tile[TILE_BYTES], packed[TILE_BYTES * 2 + 64];
    z_stream z;

    a.offsets = calloc((size_t)SCANS * TILES_PER_SIDE * TILES_PER_SIDE, sizeof *a.offsets);
    for (int s = 0; s < 14; s++)
        storms[s] = (struct storm){(float)(lcg(&seed) % GRID), (float)(lcg(&seed) % GRID),
                                   (float)(lcg(&seed) % 50) * 0.1f - 2.5f,
                                   (float)(lcg(&seed) % 50) * 0.1f - 2.5f,
                                   8.0f + (float)(lcg(&seed) % 20), 30.0f + (float)(lcg(&seed) % 40)};

    for (int scan = 0; scan < SCANS; scan++) {
        DWELL_STEP();
        move_storms(storms, 14);
        render_scan(field, storms, 14, &seed);
        despeckle(field, clean);
        for (int ty = 0; ty < TILES_PER_SIDE; ty++)
            for (int tx = 0; tx < TILES_PER_SIDE; tx++) {
                quantise_tile(clean, tx, ty, tile);
                size_t n = pack_tile(&z, tile, packed, sizeof packed);
                archive_append(&a, packed, n);
            }
    }

    unsigned char back[TILE_BYTES];
    uLongf len = sizeof back;
    size_t last = a.tiles - 1;
    if (uncompress(back, &len, a.data + a.offsets[last], a.used - a.offsets[last]) != Z_OK ||
        len != TILE_BYTES || memcmp(back, tile, TILE_BYTES) != 0)
        return 1;
    printf("%zu tiles, %zu bytes, crc %08lx\n", a.tiles, a.used,
           crc32(0, a.data, (uInt)a.used));
    free(a.data);
    free(a.offsets);
    return 0;
}
