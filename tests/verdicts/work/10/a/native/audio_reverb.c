/* Offline renderer for percussion stems: triggers one-shot hits at cue
 * points, sends them through a stereo comb/all-pass reverb and a three-band
 * equaliser with automated gains, limits the mix and reports the loudness. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dwell/probe.h>

#define RATE 48000
#define BLOCK 32768
#define NCOMB 8
#define NPASS 4
#define NSTEMS 4
#define NBANDS 3
#define STEM_SECONDS 260

typedef struct {
    float *buf;
    int len, pos;
    float store, feedback, damp;
} comb_t;

typedef struct {
    float *buf;
    int len, pos;
} pass_t;

typedef struct {
    float freq, q;
    float gain, target;              /* dB, smoothed towards the target */
    float b0, b1, b2, a1, a2;
    float x1, x2, y1, y2;
} band_t;

typedef struct {
    comb_t comb[2][NCOMB];
    pass_t pass[2][NPASS];
    band_t band[2][NBANDS];
} reverb_t;

static const int comb_len[NCOMB] = {1214, 1293, 1389, 1475, 1547, 1622, 1694, 1760};
static const int pass_len[NPASS] = {605, 480, 371, 245};

static const float band_freq[NBANDS] = {140.0f, 1100.0f, 6200.0f};

static uint32_t rng_state = 20240611u;

static float noise(void)
{
    rng_state = rng_state * 1664525u + 1013904223u;
    return (float)(int32_t)rng_state / 2147483648.0f;
}

static void reverb_init(reverb_t *r, float room, float damp)
{
    for (int ch = 0; ch < 2; ch++) {
        for (int i = 0; i < NCOMB; i++) {
            comb_t *c = &r->comb[ch][i];
            c->len = comb_len[i] + 23 * ch;
            c->buf = calloc(c->len, sizeof(float));
            c->pos = 0;
            c->store = 0.0f;
            c->feedback = room;
            c->damp = damp;
        }
        for (int i = 0; i < NPASS; i++) {
            pass_t *p = &r->pass[ch][i];
            p->len = pass_len[i] + 23 * ch;
            p->buf = calloc(p->len, sizeof(float));
            p->pos = 0;
        }
        for (int i = 0; i < NBANDS; i++) {
            memset(&r->band[ch][i], 0, sizeof(band_t));
            r->band[ch][i].freq = band_freq[i];
            r->band[ch][i].q = 0.8f;
        }
    }
}

static void reverb_free(reverb_t *r)
{
    for (int ch = 0; ch < 2; ch++) {
        for (int i = 0; i < NCOMB; i++)
            free(r->comb[ch][i].buf);
        for (int i = 0; i < NPASS; i++)
            free(r->pass[ch][i].buf);
    }
}

static void comb_run(comb_t *c, const float *in, float *out, int n)
{
    for (int i = 0; i < n; i++) {
        float y = c->buf[c->pos];
        c->store = y * (1.0f - c->damp) + c->store * c->damp;
        c->buf[c->pos] = in[i] + c->store * c->feedback;
        if (++c->pos == c->len)
            c->pos = 0;
        out[i] += y;
    }
}

static void pass_run(pass_t *p, float *io, int n)
{
    for (int i = 0; i < n; i++) {
        float b = p->buf[p->pos];
        float x = io[i];
        p->buf[p->pos] = x + b * 0.5f;
        if (++p->pos == p->len)
            p->pos = 0;
        io[i] = b - x;
    }
}

static void band_update(band_t *b)
{
    float a = powf(10.0f, b->gain / 40.0f);
    float w = 2.0f * (float)M_PI * b->freq / RATE;
    float alpha = sinf(w) / (2.0f * b->q), c = cosf(w);
    float norm = 1.0f / (1.0f + alpha / a);
    b->b0 = (1.0f + alpha * a) * norm;
    b->b1 = -2.0f * c * norm;
    b->b2 = (1.0f - alpha * a) * norm;
    b->a1 = -2.0f * c * norm;
    b->a2 = (1.0f - alpha / a) * norm;
}

static void band_run(band_t *b, float *io, int n)
{
    for (int i = 0; i < n; i++) {
        float d = b->target - b->gain;
        b->gain = fabsf(d) < 1e-3f ? b->target : b->gain + 0.0005f * d;
        band_update(b);
        float x = io[i];
        float y = b->b0 * x + b->b1 * b->x1 + b->b2 * b->x2 - b->a1 * b->y1 - b->a2 * b->y2;
        b->x2 = b->x1;
        b->x1 = x;
        b->y2 = b->y1;
        b->y1 = y;
        io[i] = y;
    }
}

static void reverb_run(reverb_t *r, int ch, const float *in, float *out, int n)
{
    memset(out, 0, n * sizeof(float));
    for (int i = 0; i < NCOMB; i++)
        comb_run(&r->comb[ch][i], in, out, n);
    for (int i = 0; i < NPASS; i++)
        pass_run(&r->pass[ch][i], out, n);
    for (int i = 0; i < NBANDS; i++)
        band_run(&r->band[ch][i], out, n);
}

static double master(const float *dry, const float *wet, int n, float *peak)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
        float v = 0.8f * dry[i] + 0.05f * wet[i];
        v = v / (1.0f + fabsf(v));
        if (fabsf(v) > *peak)
            *peak = fabsf(v);
        sum += (double)v * v;
    }
    return sum;
}

static void render_stem(int stem)
{
    static float dry[BLOCK], wet[2][BLOCK];
    reverb_t rev;
    long total = (long)STEM_SECONDS * RATE, hits = 0;
    long next_cue = RATE / 2;
    float env = 0.0f, peak = 0.0f;
    double energy = 0.0;

    reverb_init(&rev, 0.80f + 0.01f * stem, 0.15f);
    for (long t = 0; t < total; t += BLOCK) {
        DWELL_STEP();
        int n = total - t < BLOCK ? (int)(total - t) : BLOCK;
        for (int i = 0; i < n; i++) {
            if (t + i == next_cue) {
                env = 0.9f;
                hits++;
                for (int b = 0; b < NBANDS; b++)
                    rev.band[0][b].target = rev.band[1][b].target = (float)((hits + 2 * b + stem) % 7) - 3.0f;
                next_cue += (hits % 3 ? RATE / 4 : 6L * RATE) + stem * 100;
            }
            dry[i] = env > 1e-4f ? env * noise() : 0.0f;
            env = env > 1e-4f ? env * 0.9993f : 0.0f;
        }
        for (int ch = 0; ch < 2; ch++) {
            reverb_run(&rev, ch, dry, wet[ch], n);
            energy += master(dry, wet[ch], n, &peak);
        }
    }
    reverb_free(&rev);
    printf("stem %2d: hits %ld, rms %.2f dB, peak %.4f\n", stem, hits,
           10.0 * log10(energy / (2.0 * total)), peak);
}

int main(void)
{
    for (int stem = 0; stem < NSTEMS; stem++)
        render_stem(stem);
    return 0;
}
