/*
 * A regression of house prices by a small network. At the start of each epoch the samples are shuffled.
 *
 * Planted: nothing. Each 60th step is visibly longer, by the shuffle, which is little of the loop.
 * Truth: time of the shuffle, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define HOUSES    300000
#define PER_EPOCH 60
#define BATCH     640
#define INPUTS    24
#define HIDDEN    160

static float house[HOUSES][4];
static int order[HOUSES];
static float w1[HIDDEN][INPUTS], w2[HIDDEN], d1[HIDDEN][INPUTS], d2[HIDDEN];
static float x[BATCH][INPUTS], y[BATCH], h[BATCH][HIDDEN], error[BATCH];
static uint64_t state = 1234567;

static uint32_t draw(void)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33);
}

static void shuffle(void)
{
    DWELL_ZONE("shuffle");
    for (int at = HOUSES - 1; at > 0; at--) {
        int other = (int)(draw() % (uint32_t)(at + 1)), kept = order[at];

        order[at] = order[other];
        order[other] = kept;
    }
}

static void collate(int batch)
{
    DWELL_SCOPE(DWELL_CATEGORY_DATA, "collate");
    for (int b = 0; b < BATCH; b++) {
        const float *row = house[order[batch * BATCH + b]];

        for (int i = 0; i < INPUTS; i++)
            x[b][i] = row[i % 3] * (float)(1 + i / 3) * 0.125f;
        y[b] = row[3];
    }
}

static void forward(void)
{
    DWELL_PHASE("forward");
    for (int b = 0; b < BATCH; b++) {
        float price = 0;

        for (int u = 0; u < HIDDEN; u++) {
            float sum = 0;

            for (int i = 0; i < INPUTS; i++)
                sum += w1[u][i] * x[b][i];
            h[b][u] = tanhf(sum);
            price += w2[u] * h[b][u];
        }
        error[b] = price - y[b];
    }
}

static void backward(void)
{
    DWELL_PHASE("backward");
    for (int b = 0; b < BATCH; b++)
        for (int u = 0; u < HIDDEN; u++) {
            float d = error[b] * w2[u] * (1 - h[b][u] * h[b][u]);

            d2[u] += error[b] * h[b][u];
            for (int i = 0; i < INPUTS; i++)
                d1[u][i] += d * x[b][i];
        }
}

static void optimizer(void)
{
    DWELL_PHASE("optimizer");
    for (int u = 0; u < HIDDEN; u++) {
        w2[u] -= 1e-5f * d2[u];
        d2[u] = 0;
        for (int i = 0; i < INPUTS; i++) {
            w1[u][i] -= 1e-5f * d1[u][i];
            d1[u][i] = 0;
        }
    }
}

int main(void)
{
    struct watch watch;

    for (int at = 0; at < HOUSES; at++) {
        order[at] = at;
        for (int i = 0; i < 4; i++)
            house[at][i] = (float)(draw() % 1000) / 1000;
    }
    for (int u = 0; u < HIDDEN; u++) {
        w2[u] = (float)(draw() % 100) / 1000 - 0.05f;
        for (int i = 0; i < INPUTS; i++)
            w1[u][i] = (float)(draw() % 100) / 200 - 0.25f;
    }
    watch_begin(&watch);
    while (watch_seconds(&watch) < 6) {
        DWELL_STEP();
        if (watch.steps % PER_EPOCH == 0) {
            planted_begin(&watch);
            shuffle();
            planted_end(&watch);
        }
        collate(watch.steps % PER_EPOCH);
        forward();
        backward();
        optimizer();
        watch.steps++;
    }
    watch_tell(&watch);
    return 0;
}
