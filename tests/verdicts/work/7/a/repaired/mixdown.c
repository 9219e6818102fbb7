/* Renders the mix of a session: every stem is a plucked-string part that passes
 * through a two-band equaliser and a plate (damped combs and two allpasses), is
 * panned and summed; a soft limiter closes the chain.  Output statistics are used
 * by the regression check of the mix engine. */
#include <dwell/probe.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 48000
#define BLOCK 512
#define SECONDS 60
#define N_STEMS 24
#define N_COMBS 8
#define N_ALLPASS 2

typedef struct { float b0, b1, b2, a1, a2; } Coefs;
typedef struct { float freq, gain_db, q, z1, z2; } Band;
typedef struct { float *buf; int len, pos; float feedback, damp, state; } Comb;
typedef struct { float *buf; int len, pos; float gain; } Allpass;
typedef struct { int start, length; float freq, level; } Note;

typedef struct {
    Band eq[2];
    Comb comb[N_COMBS];
    Allpass allpass[N_ALLPASS];
    Note notes[24];
    int n_notes;
    float pan, wet;
} Stem;

static uint32_t seed = 20240611;

static float uniform(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(seed >> 8) / 16777216.0f;
}

static Coefs peaking(float freq, float gain_db, float q)
{
    float a = powf(10.0f, gain_db / 40.0f), w = 2.0f * (float)M_PI * freq / RATE, al = sinf(w) / (2.0f * q);
    float a0 = 1.0f + al / a;
    return (Coefs){ .b0 = (1 + al * a) / a0, .b1 = -2 * cosf(w) / a0, .b2 = (1 - al * a) / a0,
                     .a1 = -2 * cosf(w) / a0, .a2 = (1 - al / a) / a0 };
}

static void stem_init(Stem *s, int index)
{
    static const int comb_len[N_COMBS] = { 311, 353, 397, 443, 487, 541, 577, 613 };
    static const int allpass_len[N_ALLPASS] = { 113, 73 };

    memset(s, 0, sizeof *s);
    s->eq[0] = (Band){ .freq = 180.0f + 40.0f * index, .gain_db = -3.0f, .q = 0.8f };
    s->eq[1] = (Band){ .freq = 2600.0f + 150.0f * index, .gain_db = 4.0f, .q = 1.1f };
    for (int i = 0; i < N_COMBS; i++) {
        s->comb[i] = (Comb){ .len = comb_len[i] + 7 * index, .feedback = 0.72f, .damp = 0.35f };
        s->comb[i].buf = calloc((size_t)s->comb[i].len, sizeof(float));
    }
    for (int i = 0; i < N_ALLPASS; i++) {
        s->allpass[i] = (Allpass){ .len = allpass_len[i] + 3 * index, .gain = 0.5f };
        s->allpass[i].buf = calloc((size_t)s->allpass[i].len, sizeof(float));
    }
    s->pan = uniform();
    s->wet = 0.2f + 0.2f * uniform();
    /* parts enter one after the other, most of them only play a phrase */
    s->n_notes = 12;
    for (int i = 0; i < s->n_notes; i++)
        s->notes[i] = (Note){ .start = (int)(RATE * (0.2f * index + 0.25f * i)), .length = RATE / 3,
                              .freq = 110.0f * powf(2.0f, (float)(int)(uniform() * 24) / 12.0f),
                              .level = 0.15f + 0.2f * uniform() };
}

static void stem_source(const Stem *s, int frame, float *out)
{
    memset(out, 0, BLOCK * sizeof *out);
    for (int n = 0; n < s->n_notes; n++) {
        const Note *note = &s->notes[n];
        for (int i = 0; i < BLOCK; i++) {
            int t = frame + i - note->start;
            if (t < 0 || t >= note->length)
                continue;
            float ph = 2.0f * (float)M_PI * note->freq * (float)t / RATE;
            out[i] += note->level * expf(-6.0f * (float)t / RATE) * (sinf(ph) + 0.4f * sinf(2 * ph) + 0.2f * sinf(3 * ph));
        }
    }
}

static void band_run(Band *f, float *x)
{
    Coefs c = peaking(f->freq, f->gain_db, f->q);

    for (int i = 0; i < BLOCK; i++) {
        float in = x[i], y = c.b0 * in + f->z1;
        f->z1 = c.b1 * in - c.a1 * y + f->z2;
        f->z2 = c.b2 * in - c.a2 * y;
        x[i] = y;
    }
}

static void comb_run(Comb *c, const float *x, float *out)
{
    for (int i = 0; i < BLOCK; i++) {
        float y = c->buf[c->pos];
        c->state = y * (1.0f - c->damp) + c->state * c->damp;
        c->buf[c->pos] = x[i] + c->state * c->feedback;
        out[i] += y;
        if (++c->pos == c->len)
            c->pos = 0;
    }
}

static void allpass_run(Allpass *a, float *x)
{
    for (int i = 0; i < BLOCK; i++) {
        float d = a->buf[a->pos], y = d - a->gain * x[i];
        a->buf[a->pos] = x[i] + a->gain * y;
        x[i] = y;
        if (++a->pos == a->len)
            a->pos = 0;
    }
}

static void stem_render(Stem *s, int frame, float *left, float *right)
{
    float dry[BLOCK], wet[BLOCK] = { 0 };

    stem_source(s, frame, dry);
    for (int i = 0; i < 2; i++)
        band_run(&s->eq[i], dry);
    for (int i = 0; i < N_COMBS; i++)
        comb_run(&s->comb[i], dry, wet);
    for (int i = 0; i < N_ALLPASS; i++)
        allpass_run(&s->allpass[i], wet);
    for (int i = 0; i < BLOCK; i++) {
        float y = dry[i] + s->wet * wet[i] / N_COMBS;
        left[i] += y * (1.0f - s->pan);
        right[i] += y * s->pan;
    }
}

int main(void)
{
    Stem *stems = malloc(N_STEMS * sizeof *stems);
    float left[BLOCK], right[BLOCK], peak = 0;
    double energy = 0;
    int n_blocks = RATE * SECONDS / BLOCK;

    for (int i = 0; i < N_STEMS; i++)
        stem_init(&stems[i], i);
    for (int b = 0; b < n_blocks; b++) {
        DWELL_STEP();
        memset(left, 0, sizeof left);
        memset(right, 0, sizeof right);
        for (int i = 0; i < N_STEMS; i++) {
            /* the presence band follows the fader automation, one value per block */
            stems[i].eq[1].gain_db = 4.0f + 2.0f * sinf(0.002f * (float)b + (float)i);
            stem_render(&stems[i], b * BLOCK, left, right);
        }
        for (int i = 0; i < BLOCK; i++) {
            float l = tanhf(left[i]), r = tanhf(right[i]);
            energy += (double)l * l + (double)r * r;
            peak = fmaxf(peak, fmaxf(fabsf(l), fabsf(r)));
        }
    }
    printf("blocks %d  peak %.4f  rms %.5f\n", n_blocks, peak, sqrt(energy / (2.0 * n_blocks * BLOCK)));
    return 0;
}
