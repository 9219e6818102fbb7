/* Scans a long synthetic recording for narrow-band lines: windowed FFTs with
 * precomputed tables, averaged power, peak picking. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 4096
#define HOP 1024

typedef struct {
    float re, im;
} cpx;

typedef struct {
    cpx tw[N / 2];
    uint16_t rev[N];
    float window[N];
} plan_t;

static void plan_init(plan_t *p)
{
    int bits = 0;
    while ((1 << bits) < N)
        bits++;
    for (int i = 0; i < N / 2; i++) {
        p->tw[i].re = (float)cos(2.0 * M_PI * i / N);
        p->tw[i].im = (float)-sin(2.0 * M_PI * i / N);
    }
    for (int i = 0; i < N; i++) {
        int r = 0;
        for (int b = 0; b < bits; b++)
            r |= ((i >> b) & 1) << (bits - 1 - b);
        p->rev[i] = (uint16_t)r;
        p->window[i] = (float)(0.5 - 0.5 * cos(2.0 * M_PI * i / N));
    }
}

static void fft(const plan_t *p, const cpx *in, cpx *x)
{
    for (int i = 0; i < N; i++)
        x[p->rev[i]] = in[i];
    for (int half = 1; half < N; half *= 2) {
        int stride = N / (2 * half);
        for (int base = 0; base < N; base += 2 * half)
            for (int k = 0; k < half; k++) {
                cpx w = p->tw[k * stride];
                cpx a = x[base + k], b = x[base + k + half];
                cpx t = {b.re * w.re - b.im * w.im, b.re * w.im + b.im * w.re};
                x[base + k] = (cpx){a.re + t.re, a.im + t.im};
                x[base + k + half] = (cpx){a.re - t.re, a.im - t.im};
            }
    }
}

static void synth(float *s, size_t n)
{
    uint32_t r = 7;
    double p1 = 0, p2 = 0;
    for (size_t i = 0; i < n; i++) {
        r ^= r << 13;
        r ^= r >> 17;
        r ^= r << 5;
        p1 += 0.3217;
        p2 += 1.1093;
        if (p1 > 2 * M_PI)
            p1 -= 2 * M_PI;
        if (p2 > 2 * M_PI)
            p2 -= 2 * M_PI;
        s[i] = (float)(0.2 * sin(p1) + 0.1 * sin(p2)) + (float)(int32_t)r / 2147483648.0f;
    }
}

static void accumulate(const plan_t *p, const float *s, double *power)
{
    static cpx in[N], out[N];
    for (int i = 0; i < N; i++)
        in[i] = (cpx){s[i] * p->window[i], 0.0f};
    fft(p, in, out);
    for (int i = 0; i < N / 2; i++)
        power[i] += (double)(out[i].re * out[i].re + out[i].im * out[i].im);
}

static int find_peaks(const double *power, int *bins, int max)
{
    double mean = 0;
    int n = 0;
    for (int i = 0; i < N / 2; i++)
        mean += power[i];
    mean /= N / 2;
    for (int i = 1; i < N / 2 - 1 && n < max; i++)
        if (power[i] > 8 * mean && power[i] >= power[i - 1] && power[i] > power[i + 1])
            bins[n++] = i;
    return n;
}

int main(void)
{
    static plan_t plan;
    static double power[N / 2];
    const size_t total = (size_t)48000 * 60 * 30;
    float *s = malloc(total * sizeof *s);
    int bins[16];
    long frames = 0;

    if (!s)
        return 1;
    plan_init(&plan);
    synth(s, total);
    for (size_t at = 0; at + N <= total; at += HOP, frames++)
        accumulate(&plan, s + at, power);
    int n = find_peaks(power, bins, 16);
    printf("frames %ld peaks %d:", frames, n);
    for (int i = 0; i < n; i++)
        printf(" %d", bins[i]);
    printf(" p0 %.3e\n", power[bins[0]]);
    free(s);
    return 0;
}
