/*
 * Generates text, token by token, with a small gated recurrent network.
 *
 * Planted: to draw one token, all 32,000 are sorted by their probability with qsort().
 * Truth: time of drawing, of the loop.
 */
#include "clock.h"

#include <dwell/probe.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { VOCAB = 32000, WIDTH = 192, CELLS = 2, GATES = 3 };

struct candidate {
    float p;
    int token;
};

struct cell {
    float w[GATES][WIDTH][WIDTH], u[GATES][WIDTH][WIDTH];
    float state[WIDTH];
};

static struct cell cells[CELLS];
static float embedding[VOCAB][WIDTH], logits[VOCAB];
static struct candidate candidates[VOCAB];
static uint32_t seed = 99;

static float uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 16777216.0f;
}

static float dot(const float *a, const float *b)
{
    float sum = 0;

    for (int i = 0; i < WIDTH; i++)
        sum += a[i] * b[i];
    return sum;
}

static const float *gru(struct cell *cell, const float *x)
{
    DWELL_OP("gru_cell");
    float next[WIDTH];

    for (int i = 0; i < WIDTH; i++) {
        float z = 1 / (1 + expf(-dot(cell->w[0][i], x) - dot(cell->u[0][i], cell->state)));
        float r = 1 / (1 + expf(-dot(cell->w[1][i], x) - dot(cell->u[1][i], cell->state)));
        float n = tanhf(dot(cell->w[2][i], x) + r * dot(cell->u[2][i], cell->state));

        next[i] = (1 - z) * n + z * cell->state[i];
    }
    memcpy(cell->state, next, sizeof(next));
    return cell->state;
}

static void project(const float *x)
{
    DWELL_OP("lm_head");
    for (int token = 0; token < VOCAB; token++)
        logits[token] = dot(embedding[token], x);
}

static void softmax(float temperature)
{
    DWELL_OP("softmax");
    float most = logits[0], all = 0;

    for (int token = 1; token < VOCAB; token++)
        most = logits[token] > most ? logits[token] : most;
    for (int token = 0; token < VOCAB; token++)
        all += logits[token] = expf((logits[token] - most) / temperature);
    for (int token = 0; token < VOCAB; token++)
        logits[token] /= all;
}

static int likelier(const void *a, const void *b)
{
    float first = ((const struct candidate *)a)->p, second = ((const struct candidate *)b)->p;

    return (first < second) - (first > second);
}

static int draw(float top_p)
{
    DWELL_OP("sample_top_p");
    float mass = 0, point;
    int kept = 0;

    for (int token = 0; token < VOCAB; token++)
        candidates[token] = (struct candidate){ logits[token], token };
    qsort(candidates, VOCAB, sizeof(candidates[0]), likelier);
    while (kept < VOCAB && mass < top_p)
        mass += candidates[kept++].p;
    point = uniform() * mass;
    for (int at = 0; at < kept; at++) {
        point -= candidates[at].p;
        if (point <= 0)
            return candidates[at].token;
    }
    return candidates[0].token;
}

int main(void)
{
    struct watch watch;
    int token = 1;

    for (int t = 0; t < VOCAB; t++)
        for (int i = 0; i < WIDTH; i++)
            embedding[t][i] = uniform() - 0.5f;
    for (int c = 0; c < CELLS; c++)
        for (int at = 0; at < GATES * WIDTH * WIDTH; at++) {
            ((float *)cells[c].w)[at] = (uniform() - 0.5f) / 4;
            ((float *)cells[c].u)[at] = (uniform() - 0.5f) / 4;
        }
    watch_begin(&watch);
    for (; watch_seconds(&watch) < 6; watch.steps++) {
        DWELL_STEP();
        const float *x = embedding[token];

        for (int c = 0; c < CELLS; c++)
            x = gru(&cells[c], x);
        project(x);
        softmax(0.8f);
        planted_begin(&watch);
        token = draw(0.9f);
        planted_end(&watch);
    }
    watch_tell(&watch);
    return token < 0;
}
