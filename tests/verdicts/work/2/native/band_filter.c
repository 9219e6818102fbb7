/* Filters both channels of a long recording with overlap-save convolution in the frequency domain. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

#define N 8192
#define TAPS 2049
#define BLOCKS 16000

typedef struct {
    double re[N], im[N];
} Spectrum;

typedef struct {
    double cosine[N], sine[N];
    int mirror[N];
} Plan;

static void plan_init(Plan *p)
{
    int bits = 0;
    while (1 << bits < N) bits++;
    for (int half = 1; half < N; half *= 2)
        for (int k = 0; k < half; k++) {
            p->cosine[half + k] = cos(M_PI * k / half);
            p->sine[half + k] = sin(M_PI * k / half);
        }
    for (int i = 0; i < N; i++) {
        int r = 0;
        for (int b = 0; b < bits; b++) r |= (i >> b & 1) << (bits - 1 - b);
        p->mirror[i] = r;
    }
}

static void transform(const Plan *p, Spectrum *s, double sign)
{
    for (int i = 0; i < N; i++) {
        int j = p->mirror[i];
        if (j > i) {
            double t = s->re[i];
            s->re[i] = s->re[j];
            s->re[j] = t;
            t = s->im[i];
            s->im[i] = s->im[j];
            s->im[j] = t;
        }
    }
    for (int half = 1; half < N; half *= 2) {
        const double *cosine = p->cosine + half, *sine = p->sine + half;
        for (int base = 0; base < N; base += 2 * half)
            for (int k = 0; k < half; k++) {
                double c = cosine[k], d = sign * sine[k];
                int a = base + k, b = a + half;
                double re = s->re[b] * c - s->im[b] * d, im = s->re[b] * d + s->im[b] * c;
                s->re[b] = s->re[a] - re;
                s->im[b] = s->im[a] - im;
                s->re[a] += re;
                s->im[a] += im;
            }
    }
}

static void design(const Plan *p, Spectrum *response)
{
    memset(response, 0, sizeof *response);
    for (int i = 0; i < TAPS; i++) {
        double t = i - (TAPS - 1) / 2.0;
        double lo = 0.01, hi = 0.08;
        double ideal = t == 0 ? 2 * (hi - lo) : (sin(2 * M_PI * hi * t) - sin(2 * M_PI * lo * t)) / (M_PI * t);
        response->re[i] = ideal * (0.54 - 0.46 * cos(2 * M_PI * i / (TAPS - 1)));
    }
    transform(p, response, -1);
}

static void multiply(Spectrum *a, const Spectrum *b)
{
    for (int i = 0; i < N; i++) {
        double re = a->re[i] * b->re[i] - a->im[i] * b->im[i];
        a->im[i] = a->re[i] * b->im[i] + a->im[i] * b->re[i];
        a->re[i] = re;
    }
}

static void synthesize(double *out, int n, long from, double tone)
{
    static unsigned noise = 1;
    double phase = 2 * M_PI * tone * (double)from, dc = cos(2 * M_PI * tone), ds = sin(2 * M_PI * tone);
    double c = cos(phase), s = sin(phase);
    for (int i = 0; i < n; i++) {
        noise = noise * 1664525u + 1013904223u;
        out[i] = s + 0.5 * ((double)(noise >> 9) / 4194304.0 - 1.0);
        double t = c * dc - s * ds;
        s = s * dc + c * ds;
        c = t;
    }
}

static void load(double *history, double *into, int fresh, long from, double tone)
{
    memmove(history, history + fresh, (TAPS - 1) * sizeof *history);
    synthesize(history + TAPS - 1, fresh, from, tone);
    memcpy(into, history, N * sizeof *into);
}

int main(void)
{
    Plan *plan = malloc(sizeof *plan);
    Spectrum *response = malloc(sizeof *response), *work = malloc(sizeof *work);
    const int fresh = N - TAPS + 1;
    double *left = calloc(N, sizeof *left), *right = calloc(N, sizeof *right);
    plan_init(plan);
    design(plan, response);
    double power = 0, peak = 0;
    for (int block = 0; block < BLOCKS; block++) {
        DWELL_STEP();
        load(left, work->re, fresh, (long)block * fresh, 0.03);
        load(right, work->im, fresh, (long)block * fresh, 0.12);
        transform(plan, work, -1);
        multiply(work, response);
        transform(plan, work, 1);
        for (int i = TAPS - 1; i < N; i++) {
            double l = work->re[i] / N, r = work->im[i] / N;
            power += l * l + r * r;
            if (l > peak) peak = l;
            if (r > peak) peak = r;
        }
    }
    printf("power %.6f peak %.6f\n", power / ((double)BLOCKS * fresh), peak);
    free(plan);
    free(response);
    free(work);
    free(left);
    free(right);
    return 0;
}
