/*
 * The critic of a soft actor-critic over hashed tiles: two million weights of which a batch touches a few thousand.
 *
 * Planted: the update walks through all weights once for the norm, for clipping, for each moment, for the step,
 * and for the slowly following copy.
 * Truth: time of the update, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>

#define TILES  256
#define HIDDEN 256
#define BATCH  176
#define TABLE  (1 << 21)

static float theta[TABLE], grad[TABLE], moment1[TABLE], moment2[TABLE], shadow[TABLE];
static float dense[HIDDEN][TILES], ddense[HIDDEN][TILES];
static float features[BATCH][TILES], hidden[BATCH][HIDDEN], reward[BATCH], q[BATCH];
static uint32_t slot[BATCH][TILES];

static uint32_t mix(uint32_t x)
{
    x ^= x >> 16; x *= 0x7feb352du;
    x ^= x >> 15; x *= 0x846ca68bu;
    return x ^ x >> 16;
}

static void sample_transitions(int step)
{
    for (int b = 0; b < BATCH; b++) {
        uint32_t state = mix((uint32_t)(step * BATCH + b) % 5000u);

        reward[b] = (float)(state % 1000) / 1000;
        for (uint32_t t = 0; t < TILES; t++)
            slot[b][t] = mix((state >> 8) + t * 977u) & (TABLE - 1);
    }
}

static void forward(void)
{
    DWELL_PHASE("forward");
    for (int b = 0; b < BATCH; b++) {
        float total = 0;

        for (int t = 0; t < TILES; t++)
            features[b][t] = theta[slot[b][t]];
        for (int h = 0; h < HIDDEN; h++) {
            float z = 0;

            for (int t = 0; t < TILES; t++)
                z += dense[h][t] * features[b][t];
            hidden[b][h] = z / (1 + fabsf(z));
            total += hidden[b][h];
        }
        q[b] = total / HIDDEN;
    }
}

static void backward(void)
{
    DWELL_PHASE("backward");
    for (int b = 0; b < BATCH; b++) {
        float into[TILES] = { 0 };
        float error = q[b] - reward[b];

        for (int h = 0; h < HIDDEN; h++) {
            float slack = 1 - fabsf(hidden[b][h]), d = error * slack * slack / HIDDEN;

            for (int t = 0; t < TILES; t++) {
                into[t] += d * dense[h][t];
                ddense[h][t] += d * features[b][t];
            }
        }
        for (int t = 0; t < TILES; t++)
            grad[slot[b][t]] += into[t];
    }
}

static void optimizer(void)
{
    DWELL_PHASE("optimizer");
    double norm = 0;
    float scale;

    for (int i = 0; i < TABLE; i++)
        norm += grad[i] * grad[i];
    scale = norm > 1 ? (float)(1 / sqrt(norm)) : 1;
    for (int i = 0; i < TABLE; i++)
        grad[i] *= scale;
    for (int i = 0; i < TABLE; i++)
        moment1[i] = 0.9f * moment1[i] + 0.1f * grad[i];
    for (int i = 0; i < TABLE; i++)
        moment2[i] = 0.999f * moment2[i] + 0.001f * grad[i] * grad[i];
    for (int i = 0; i < TABLE; i++)
        theta[i] -= 3e-4f * moment1[i] / (sqrtf(moment2[i]) + 1e-8f);
    for (int i = 0; i < TABLE; i++)
        shadow[i] = 0.995f * shadow[i] + 0.005f * theta[i];
    for (int i = 0; i < TABLE; i++)
        grad[i] = 0;
    for (int h = 0; h < HIDDEN; h++)
        for (int t = 0; t < TILES; t++) {
            dense[h][t] -= 1e-3f * ddense[h][t];
            ddense[h][t] = 0;
        }
}

int main(void)
{
    struct watch watch;

    for (int i = 0; i < TABLE; i++)
        theta[i] = shadow[i] = (float)(mix((uint32_t)i) % 2001) / 1e5f - 0.01f;
    for (int h = 0; h < HIDDEN; h++)
        for (int t = 0; t < TILES; t++)
            dense[h][t] = (float)(mix((uint32_t)(h * TILES + t) ^ 0x5bd1u) % 2001) / 2e4f - 0.05f;
    watch_begin(&watch);
    for (; watch_seconds(&watch) < 6; watch.steps++) {
        DWELL_STEP();
        sample_transitions(watch.steps);
        forward();
        backward();
        planted_begin(&watch);
        optimizer();
        planted_end(&watch);
    }
    watch_tell(&watch);
    return 0;
}
