/* Onset detector for recordings of percussion.
 *
 * Each hop of the signal is looked at with several window lengths; the spectral flux of
 * all of them together is compared with its own running mean. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwell.h"

#define RATE 44100
#define SECONDS 180
#define HOP 441
#define MAX_N 4096
#define PLAN_SLOTS 4

static const int window_len[] = {256, 512, 1024, 2048, 4096};
#define WINDOWS ((int)(sizeof window_len / sizeof window_len[0]))

typedef struct {
    int n;
    unsigned long last_used;
    float *cosine, *sine; /* n / 2 factors each */
    float *taper;
    int *order;
} Plan;

static Plan plans[PLAN_SLOTS];
static unsigned long plan_clock;

static void *must_alloc(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        perror("malloc");
        exit(1);
    }
    return p;
}

static void plan_free(Plan *p)
{
    free(p->cosine);
    free(p->sine);
    free(p->taper);
    free(p->order);
    memset(p, 0, sizeof *p);
}

static void plan_make(Plan *p, int n)
{
    int bits = 0;
    while ((1 << bits) < n)
        bits++;
    p->n = n;
    p->cosine = must_alloc(sizeof(float) * (n / 2));
    p->sine = must_alloc(sizeof(float) * (n / 2));
    p->taper = must_alloc(sizeof(float) * n);
    p->order = must_alloc(sizeof(int) * n);
    for (int k = 0; k < n / 2; k++) {
        p->cosine[k] = (float)cos(2.0 * M_PI * k / n);
        p->sine[k] = (float)-sin(2.0 * M_PI * k / n);
    }
    for (int i = 0; i < n; i++) {
        int r = 0;
        for (int b = 0; b < bits; b++)
            r |= ((i >> b) & 1) << (bits - 1 - b);
        p->order[i] = r;
        p->taper[i] = (float)(0.5 - 0.5 * cos(2.0 * M_PI * i / (n - 1)));
    }
}

/* The plan for length n, from the least recently used slot if it isn't there yet. */
static const Plan *plan_get(int n)
{
    Plan *oldest = &plans[0];
    for (int s = 0; s < PLAN_SLOTS; s++) {
        if (plans[s].n == n) {
            plans[s].last_used = ++plan_clock;
            return &plans[s];
        }
        if (plans[s].last_used < oldest->last_used)
            oldest = &plans[s];
    }
    plan_free(oldest);
    plan_make(oldest, n);
    oldest->last_used = ++plan_clock;
    return oldest;
}

static void fft(const Plan *p, float *re, float *im)
{
    int n = p->n;
    for (int half = 1; half < n; half *= 2) {
        int stride = n / (2 * half);
        for (int start = 0; start < n; start += 2 * half) {
            float *ar = re + start, *ai = im + start;
            float *br = ar + half, *bi = ai + half;
            for (int k = 0; k < half; k++) {
                float c = p->cosine[k * stride], s = p->sine[k * stride];
                float tr = br[k] * c - bi[k] * s;
                float ti = br[k] * s + bi[k] * c;
                br[k] = ar[k] - tr;
                bi[k] = ai[k] - ti;
                ar[k] += tr;
                ai[k] += ti;
            }
        }
    }
}

/* Writes log magnitudes of the n / 2 lower bins. */
static void spectrum(const float *signal, int n, float *mag)
{
    static float re[MAX_N], im[MAX_N];
    const Plan *p = plan_get(n);
    for (int i = 0; i < n; i++) {
        int from = p->order[i];
        re[i] = signal[from] * p->taper[from];
        im[i] = 0;
    }
    fft(p, re, im);
    for (int k = 0; k < n / 2; k++)
        mag[k] = log1pf(re[k] * re[k] + im[k] * im[k]);
}

static uint32_t rng_state = 0x1234567;

static float noise(void)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 17;
    rng_state ^= rng_state << 5;
    return (float)(rng_state >> 8) / 8388608.0f - 1.0f;
}

static int make_recording(float *x, int len)
{
    int hits = 0, next = RATE / 3;
    float level = 0, tone = 0;
    for (int i = 0; i < len; i++) {
        if (i == next) {
            level = 0.5f + 0.4f * fabsf(noise());
            next += RATE / 6 + (int)((noise() + 1.0f) * RATE / 6);
            hits++;
        }
        level *= 0.9994f;
        tone += 0.031f;
        if (tone > 6.2831853f)
            tone -= 6.2831853f;
        x[i] = level * (0.6f * noise() + 0.4f * sinf(tone)) + 0.01f * noise();
    }
    return hits;
}

int main(void)
{
    int len = RATE * SECONDS;
    float *x = must_alloc(sizeof(float) * len);
    float *mag = must_alloc(sizeof(float) * MAX_N / 2);
    float *before[WINDOWS];
    for (int w = 0; w < WINDOWS; w++)
        before[w] = calloc(window_len[w] / 2, sizeof(float));
    int hits = make_recording(x, len);

    double mean = 0, total = 0;
    int onsets = 0, quiet = 0, frames = 0;
    for (int at = 0; at + MAX_N <= len; at += HOP, frames++) {
        double flux = 0;
        for (int w = 0; w < WINDOWS; w++) {
            int n = window_len[w];
            spectrum(x + at + (MAX_N - n) / 2, n, mag);
            double rise = 0;
            for (int k = 0; k < n / 2; k++) {
                float d = mag[k] - before[w][k];
                rise += d > 0 ? d : 0;
            }
            memcpy(before[w], mag, sizeof(float) * (n / 2));
            flux += rise / (n / 2);
        }
        if (frames > 5 && flux > 1.6 * mean && quiet == 0) {
            onsets++;
            quiet = 6;
        } else if (quiet > 0) {
            quiet--;
        }
        mean = frames ? 0.9 * mean + 0.1 * flux : flux;
        total += flux;
        DWELL_STEP();
    }
    printf("frames %d, hits played %d\n", frames, hits);
    printf("onsets found %d, mean flux %.4f\n", onsets, total / frames);

    for (int s = 0; s < PLAN_SLOTS; s++)
        plan_free(&plans[s]);
    for (int w = 0; w < WINDOWS; w++)
        free(before[w]);
    free(mag);
    free(x);
    return 0;
}
