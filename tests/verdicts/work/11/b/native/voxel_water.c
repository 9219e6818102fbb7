/* Water in a voxel world: only chunks near water exist; they are found by
 * their packed coordinates in a hash table. One call of flow() is one tick. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwell.h"

enum {
    SIDE = 8,
    CELLS = SIDE * SIDE * SIDE,
    BUCKETS = 1 << 14,
    MAX_CHUNKS = 9000,
    WORLD = 36,
    HEIGHT = 4,
    TICKS = 110
};

struct chunk {
    uint64_t key;
    int x, y, z;
    int next;
    float water[CELLS];
    float flow[CELLS];
    uint8_t rock[CELLS];
};

struct world {
    struct chunk *chunks;
    int count;
    int bucket[BUCKETS];
};

static uint64_t pack(int x, int y, int z)
{
    return (uint64_t)(x + 0x100000) << 42 | (uint64_t)(y + 0x100000) << 21 | (uint64_t)(z + 0x100000);
}

static unsigned bucket_of(uint64_t key)
{
    return (unsigned)(key * 0x9e3779b97f4a7c15ull) & (BUCKETS - 1);
}

static struct chunk *find(const struct world *w, int x, int y, int z)
{
    uint64_t key = pack(x, y, z);
    for (int i = w->bucket[bucket_of(key)]; i >= 0; i = w->chunks[i].next)
        if (w->chunks[i].key == key)
            return &w->chunks[i];
    return NULL;
}

static uint32_t noise(int x, int y, int z)
{
    uint32_t h = (uint32_t)x * 374761393u + (uint32_t)y * 668265263u + (uint32_t)z * 2246822519u;
    h = (h ^ h >> 13) * 1274126177u;
    return h ^ h >> 16;
}

static int cell(int x, int y, int z)
{
    return (y * SIDE + z) * SIDE + x;
}

static struct chunk *create(struct world *w, int x, int y, int z)
{
    if (w->count == MAX_CHUNKS)
        return NULL;
    struct chunk *c = &w->chunks[w->count];
    unsigned b = bucket_of(pack(x, y, z));
    memset(c, 0, sizeof *c);
    c->key = pack(x, y, z);
    c->x = x;
    c->y = y;
    c->z = z;
    c->next = w->bucket[b];
    w->bucket[b] = w->count++;
    for (int cy = 0; cy < SIDE; cy++)
        for (int cz = 0; cz < SIDE; cz++)
            for (int cx = 0; cx < SIDE; cx++) {
                uint32_t n = noise(x * SIDE + cx, y * SIDE + cy, z * SIDE + cz);
                c->rock[cell(cx, cy, cz)] = n % 9 == 0;
            }
    return c;
}

static void pour(struct chunk *c, float amount)
{
    for (int i = 0; i < CELLS; i++)
        if (!c->rock[i])
            c->water[i] += amount * (float)(noise(i, c->x, c->z) % 100) / 100.0f;
}

/* Exchange across one face: down carries most, sideways evens out. */
static void exchange(struct chunk *from, int a, struct chunk *to, int b, float rate)
{
    if (from->rock[a] || to->rock[b])
        return;
    float d = (from->water[a] - to->water[b]) * rate;
    from->flow[a] -= d;
    to->flow[b] += d;
}

static void flow_inside(struct chunk *c)
{
    for (int y = 0; y < SIDE; y++)
        for (int z = 0; z < SIDE; z++)
            for (int x = 0; x < SIDE; x++) {
                int i = cell(x, y, z);
                if (x + 1 < SIDE)
                    exchange(c, i, c, i + 1, 0.12f);
                if (z + 1 < SIDE)
                    exchange(c, i, c, i + SIDE, 0.12f);
                if (y + 1 < SIDE)
                    exchange(c, i, c, i + SIDE * SIDE, 0.2f);
            }
}

static void flow_across(struct chunk *c, struct chunk *px, struct chunk *py, struct chunk *pz)
{
    for (int a = 0; a < SIDE; a++)
        for (int b = 0; b < SIDE; b++) {
            if (px)
                exchange(c, cell(SIDE - 1, a, b), px, cell(0, a, b), 0.12f);
            if (py)
                exchange(c, cell(a, SIDE - 1, b), py, cell(a, 0, b), 0.2f);
            if (pz)
                exchange(c, cell(a, b, SIDE - 1), pz, cell(a, b, 0), 0.12f);
        }
}

/* A chunk lies still while it and all that touch it hold no water. */
static int quiet(const struct world *w, const struct chunk *c)
{
    static const int side[6][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    if (c->water[CELLS / 2] > 1e-4f)
        return 0;
    for (int i = 0; i < 6; i++) {
        const struct chunk *n = find(w, c->x + side[i][0], c->y + side[i][1], c->z + side[i][2]);
        if (n && n->water[CELLS / 2] > 1e-4f)
            return 0;
    }
    return 1;
}

static int flow(struct world *w)
{
    int moved = 0;
    for (int i = 0; i < w->count; i++) {
        struct chunk *c = &w->chunks[i];
        if (quiet(w, c))
            continue;
        flow_inside(c);
        flow_across(c, find(w, c->x + 1, c->y, c->z), find(w, c->x, c->y + 1, c->z), find(w, c->x, c->y, c->z + 1));
        moved++;
    }
    for (int i = 0; i < w->count; i++) {
        struct chunk *c = &w->chunks[i];
        for (int k = 0; k < CELLS; k++) {
            c->water[k] += c->flow[k];
            c->flow[k] = 0;
        }
    }
    return moved;
}

int main(void)
{
    struct world w = {calloc(MAX_CHUNKS, sizeof(struct chunk)), 0, {0}};
    for (int i = 0; i < BUCKETS; i++)
        w.bucket[i] = -1;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WORLD; x++)
            for (int z = 0; z < WORLD; z++)
                if (noise(x, y + 100, z) % 8 != 0)
                    create(&w, x - WORLD / 2, y, z - WORLD / 2);

    long moved = 0;
    for (int tick = 0; tick < TICKS; tick++) {
        if (tick % 10 == 0)
            for (int i = 0; i < 24; i++) {
                struct chunk *c = find(&w, (i * 7 + tick) % WORLD - WORLD / 2, i % HEIGHT, (i * 13) % WORLD - WORLD / 2);
                if (c)
                    pour(c, 1.0f);
            }
        moved += flow(&w);
        DWELL_STEP();
    }
    double total = 0;
    int wet = 0;
    for (int i = 0; i < w.count; i++)
        for (int k = 0; k < CELLS; k++) {
            total += w.chunks[i].water[k];
            wet += w.chunks[i].water[k] > 1e-3f;
        }
    printf("chunks %d moved %ld\n", w.count, moved);
    printf("water %.3f in %d cells\n", total, wet);
    free(w.chunks);
    return 0;
}
