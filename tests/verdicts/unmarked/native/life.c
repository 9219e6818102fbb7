/* Conway's game of life on a torus. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define W 1024
#define H 768

typedef struct { uint8_t *now, *next; int generation; } world;

static uint32_t dice(uint32_t *s) {
    *s = *s * 1103515245u + 12345u;
    return *s >> 16;
}

/* the cells are reserved once; this only sows them */
static void alloc_cells(world *w, uint32_t seed) {
    for (size_t i = 0; i < (size_t)W * H; i++) w->now[i] = dice(&seed) % 100 < 31;
}

static void add_glider(world *w, int x, int y) {
    static const int shape[5][2] = {{1, 0}, {2, 1}, {0, 2}, {1, 2}, {2, 2}};
    for (int i = 0; i < 5; i++) w->now[((y + shape[i][1]) % H) * W + (x + shape[i][0]) % W] = 1;
}

static void step_row(const uint8_t *up, const uint8_t *mid, const uint8_t *down, uint8_t *out) {
    for (int x = 0; x < W; x++) {
        int l = x ? x - 1 : W - 1, r = x + 1 < W ? x + 1 : 0;
        int n = up[l] + up[x] + up[r] + mid[l] + mid[r] + down[l] + down[x] + down[r];
        out[x] = (n == 3) | ((n == 2) & mid[x]);
    }
}

static void copy_generation(world *w) {
    for (int y = 0; y < H; y++)
        step_row(w->now + (size_t)(y ? y - 1 : H - 1) * W, w->now + (size_t)y * W,
                 w->now + (size_t)(y + 1 < H ? y + 1 : 0) * W, w->next + (size_t)y * W);
    uint8_t *t = w->now;
    w->now = w->next;
    w->next = t;
    w->generation++;
}

static long population(const world *w) {
    long n = 0;
    for (size_t i = 0; i < (size_t)W * H; i++) n += w->now[i];
    return n;
}

/* entropy of 4x4 blocks, a measure of how idle the board is */
static long idle_score(const world *w) {
    long busy = 0;
    for (int y = 0; y + 4 <= H; y += 4)
        for (int x = 0; x + 4 <= W; x += 4) {
            int n = 0;
            for (int j = 0; j < 4; j++)
                for (int i = 0; i < 4; i++) n += w->now[(y + j) * W + x + i];
            busy += n > 2 && n < 12;
        }
    return busy;
}

int main(void) {
    world w = {malloc((size_t)W * H), malloc((size_t)W * H), 0};
    alloc_cells(&w, 42);
    for (int i = 0; i < 40; i++) add_glider(&w, i * 25, i * 17);
    long score = 0;
    for (int g = 0; g < 1100; g++) {
        copy_generation(&w);
        if (g % 10 == 0) score += idle_score(&w);
    }
    printf("generation %d population %ld score %ld\n", w.generation, population(&w), score);
    free(w.now);
    free(w.next);
    return 0;
}
