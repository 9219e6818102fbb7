/*
 * room_reverb: offline render of a small-room reverb over the dialogue stems
 * of a game. A stem is a series of short lines with pauses between them; the
 * decay time follows an automation curve, one value for each block.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include <dwell/probe.h>

#define RATE 48000
#define BLOCK 7168
#define BLOCKS 6000
#define NCOMB 8
#define NALLPASS 4
#define NCHAN 2

struct delay {
    float *buf;
    int len;
    int pos;
};

struct comb {
    struct delay d;
    float store;
    float damp;
};

struct channel {
    struct comb comb[NCOMB];
    struct delay allpass[NALLPASS];
    float lowcut_x, lowcut_y;
};

static const int comb_len[NCOMB] = {223, 237, 255, 271, 284, 298, 311, 323};
static const int allpass_len[NALLPASS] = {112, 88, 68, 45};

static void delay_init(struct delay *d, int len)
{
    d->buf = calloc((size_t)len, sizeof *d->buf);
    if (!d->buf)
        abort();
    d->len = len;
    d->pos = 0;
}

static void channel_init(struct channel *c, int spread)
{
    memset(c, 0, sizeof *c);
    for (int i = 0; i < NCOMB; i++) {
        delay_init(&c->comb[i].d, comb_len[i] + spread);
        c->comb[i].damp = 0.25f;
    }
    for (int i = 0; i < NALLPASS; i++)
        delay_init(&c->allpass[i], allpass_len[i] + spread);
}

static void channel_free(struct channel *c)
{
    for (int i = 0; i < NCOMB; i++)
        free(c->comb[i].d.buf);
    for (int i = 0; i < NALLPASS; i++)
        free(c->allpass[i].buf);
}

/* The loop gain that lets a comb fall by 60 dB within rt60 seconds. */
static float comb_gain(const struct comb *c, float rt60)
{
    return powf(10.0f, -3.0f * (float)c->d.len / (rt60 * RATE));
}

static void comb_run(struct comb *c, float rt60, const float *in, float *out, int n)
{
    float *buf = c->d.buf;
    int pos = c->d.pos, len = c->d.len;
    const float gain = comb_gain(c, rt60);
    float store = c->store, damp = c->damp;
    for (int i = 0; i < n; i++) {
        float y = buf[pos];
        store = y * (1.0f - damp) + store * damp;
        buf[pos] = in[i] + store * gain;
        if (++pos == len)
            pos = 0;
        out[i] += y;
    }
    c->store = store;
    c->d.pos = pos;
}

static void allpass_run(struct delay *d, float *io, int n)
{
    int pos = d->pos;
    for (int i = 0; i < n; i++) {
        float z = d->buf[pos];
        float y = z - io[i];
        d->buf[pos] = io[i] + z * 0.5f;
        if (++pos == d->len)
            pos = 0;
        io[i] = y;
    }
    d->pos = pos;
}

static void channel_process(struct channel *c, float rt60, const float *in, float *out, int n)
{
    float pre[BLOCK];
    for (int i = 0; i < n; i++) {
        float y = in[i] - c->lowcut_x + 0.995f * c->lowcut_y;
        c->lowcut_x = in[i];
        c->lowcut_y = y;
        pre[i] = y * 0.02f;
    }
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < NCOMB; k++)
        comb_run(&c->comb[k], rt60, pre, out, n);
    for (int k = 0; k < NALLPASS; k++)
        allpass_run(&c->allpass[k], out, n);
}

/* A line: a few voiced partials under a slow envelope, 24 partials in all. */
static void voice_block(float *dst, int block, int line_no)
{
    float base = 95.0f + (float)(line_no * 29 % 120);
    for (int i = 0; i < BLOCK; i++)
        dst[i] = 0.0f;
    for (int p = 1; p <= 24; p++) {
        float w = 2.0f * (float)M_PI * base * (float)p / RATE;
        float s0 = sinf(w * (float)((block % 64) * BLOCK - 1)), s1 = sinf(w * (float)((block % 64) * BLOCK));
        float k = 2.0f * cosf(w), amp = 0.4f / (float)p;
        for (int i = 0; i < BLOCK; i++) {
            dst[i] += amp * s1;
            float s2 = k * s1 - s0;
            s0 = s1;
            s1 = s2;
        }
    }
}

int main(void)
{
    _mm_setcsr(_mm_getcsr() | 0x8040);
    struct channel ch[NCHAN];
    for (int c = 0; c < NCHAN; c++)
        channel_init(&ch[c], c * 23);

    float dry[BLOCK], wet[NCHAN][BLOCK];
    double energy[NCHAN] = {0}, peak = 0;
    int lines = 0, voiced = 0;
    for (int b = 0; b < BLOCKS; b++) {
        DWELL_STEP();
        float rt60 = 0.45f + 0.15f * sinf((float)b * 0.01f);
        int in_cycle = b % 420;
        if (in_cycle < 260) {
            if (in_cycle == 0)
                lines++;
            voice_block(dry, b, lines);
            voiced++;
        } else {
            memset(dry, 0, sizeof dry);
        }
        for (int c = 0; c < NCHAN; c++) {
            channel_process(&ch[c], rt60, dry, wet[c], BLOCK);
            for (int i = 0; i < BLOCK; i++) {
                double s = 0.7 * dry[i] + 0.3 * wet[c][i];
                energy[c] += s * s;
                if (fabs(s) > peak)
                    peak = fabs(s);
            }
        }
    }
    printf("%d lines, %d voiced blocks of %d\n", lines, voiced, BLOCKS);
    printf("rms L %.5f R %.5f peak %.4f\n", sqrt(energy[0] / ((double)BLOCKS * BLOCK)),
           sqrt(energy[1] / ((double)BLOCKS * BLOCK)), peak);
    for (int c = 0; c < NCHAN; c++)
        channel_free(&ch[c]);
    return 0;
}
