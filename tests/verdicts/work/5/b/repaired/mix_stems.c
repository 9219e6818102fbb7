/* Offline mixdown: synthesises drum, bass and pad stems, runs each through an
 * automated four-band equaliser, a compressor and a pan law, and sums them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwell/probe.h>

#define RATE 48000
#define BLOCK 1024
#define SECONDS 100
#define BLOCKS (RATE * SECONDS / BLOCK)
#define STEMS 8
#define BANDS 4
#define TWO_PI 6.283185307179586

struct biquad {
    double b0, b1, b2, a1, a2;
    double z1, z2;
};

struct band {
    double freq, q, gain_db; /* current automation values */
    double swing;            /* depth of the gain automation, dB */
    struct biquad bq;
};

struct stem {
    int kind;
    double phase, pitch, env, pan;
    struct band band[BANDS];
    double level; /* compressor detector */
    uint32_t noise;
};

static struct stem stems[STEMS];

static void peaking(struct biquad *f, double freq, double q, double gain_db)
{
    double a = pow(10.0, gain_db / 40.0);
    double w = TWO_PI * freq / RATE;
    double alpha = sin(w) / (2.0 * q), c = cos(w);
    double inv = 1.0 / (1.0 + alpha / a);
    f->b0 = (1.0 + alpha * a) * inv;
    f->b1 = -2.0 * c * inv;
    f->b2 = (1.0 - alpha * a) * inv;
    f->a1 = f->b1;
    f->a2 = (1.0 - alpha / a) * inv;
}

static double run_biquad(struct biquad *f, double in)
{
    double out = f->b0 * in + f->z1;
    f->z1 = f->b1 * in - f->a1 * out + f->z2;
    f->z2 = f->b2 * in - f->a2 * out;
    return out;
}

static void init_stems(void)
{
    static const double freqs[BANDS] = {90, 420, 2400, 9000};
    for (int s = 0; s < STEMS; s++) {
        struct stem *st = &stems[s];
        st->kind = s % 3;
        st->pitch = 55.0 * pow(2.0, s * 5 / 12.0);
        st->pan = (s + 0.5) / STEMS;
        st->noise = 77 + s;
        for (int b = 0; b < BANDS; b++) {
            st->band[b].freq = freqs[b] * (1.0 + 0.07 * s);
            st->band[b].q = 0.7 + 0.2 * b;
            st->band[b].swing = 2.0 + b;
        }
    }
}

static double white(struct stem *st)
{
    st->noise = st->noise * 1664525u + 1013904223u;
    return (int32_t)st->noise * (1.0 / 2147483648.0);
}

static void render(struct stem *st, long at, double *buf)
{
    for (int i = 0; i < BLOCK; i++) {
        long n = at + i;
        st->phase += st->pitch / RATE;
        st->phase -= floor(st->phase);
        switch (st->kind) {
        case 0: /* drum: noise burst every half second */
            st->env = n % (RATE / 2) == 0 ? 1.0 : st->env * 0.9994;
            buf[i] = st->env * white(st);
            break;
        case 1: /* bass: band-limited saw */
            st->env = n % RATE == 0 ? 1.0 : st->env * 0.99995;
            buf[i] = 0;
            for (int h = 1; h <= 6; h++)
                buf[i] += st->env * sin(TWO_PI * h * st->phase) / h;
            break;
        default: /* pad: slow two-operator FM */
            buf[i] = 0.6 * sin(TWO_PI * st->phase + 1.7 * sin(TWO_PI * 2.01 * st->phase));
        }
    }
}

/* Gain automation follows a breakpoint curve that is sampled once per block. */
static void automate(struct stem *st, int block)
{
    double t = (double)block * BLOCK / RATE;
    for (int b = 0; b < BANDS; b++) {
        struct band *bd = &st->band[b];
        bd->gain_db = bd->swing * sin(0.5 * t + b + st->pan * 3.0);
        peaking(&bd->bq, bd->freq, bd->q, bd->gain_db);
    }
}

static double equalise(struct stem *st, double in)
{
    for (int b = 0; b < BANDS; b++) {
        struct band *bd = &st->band[b];
        in = run_biquad(&bd->bq, in);
    }
    return in;
}

static void process(struct stem *st, int block, double *buf)
{
    automate(st, block);
    for (int i = 0; i < BLOCK; i++)
        buf[i] = equalise(st, buf[i]);
    for (int i = 0; i < BLOCK; i++) { /* feed-forward compressor, 3:1 above -12 dB */
        double mag = fabs(buf[i]);
        double coef = mag > st->level ? 0.01 : 0.0004;
        st->level += coef * (mag - st->level);
        if (st->level > 0.251)
            buf[i] *= pow(0.251 / st->level, 2.0 / 3.0);
    }
}

int main(void)
{
    static float left[BLOCKS * BLOCK], right[BLOCKS * BLOCK];
    double buf[BLOCK];
    init_stems();
    for (int blk = 0; blk < BLOCKS; blk++) {
        DWELL_STEP();
        float *l = left + (long)blk * BLOCK, *r = right + (long)blk * BLOCK;
        for (int s = 0; s < STEMS; s++) {
            render(&stems[s], (long)blk * BLOCK, buf);
            process(&stems[s], blk, buf);
            double gl = cos(0.25 * TWO_PI * stems[s].pan), gr = sin(0.25 * TWO_PI * stems[s].pan);
            for (int i = 0; i < BLOCK; i++) {
                l[i] += (float)(0.3 * gl * buf[i]);
                r[i] += (float)(0.3 * gr * buf[i]);
            }
        }
    }
    double peak = 0, el = 0, er = 0;
    for (long i = 0; i < (long)BLOCKS * BLOCK; i++) {
        double m = fmax(fabs(left[i]), fabs(right[i]));
        peak = m > peak ? m : peak;
        el += (double)left[i] * left[i];
        er += (double)right[i] * right[i];
    }
    double n = (double)BLOCKS * BLOCK;
    printf("%d s, %d stems: peak %.4f, rms L %.2f dB, R %.2f dB\n", SECONDS, STEMS, peak,
           10 * log10(el / n), 10 * log10(er / n));
    return 0;
}
