/* link_sim - bit error rate of a rate-1/2, K=7 convolutionally coded OFDM link:
 * encode, interleave, QPSK map, 256-point IFFT, AWGN + two-tap channel, FFT,
 * one-tap equaliser, soft demap, Viterbi decode.  One step is one frame. */
#include <dwell/probe.h>
#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NFFT 256
#define CP 16
#define SYMS 24
#define CODED (NFFT * SYMS * 2)
#define INFO (CODED / 2 - 6)
#define STATES 64
#define FRAMES 8400
#define G0 0133
#define G1 0171

typedef float complex cf;

static uint64_t s0 = 1, s1 = 2;
static cf twiddle[NFFT / 2];
static uint16_t bitrev[NFFT];
static uint16_t perm[CODED];
static uint8_t branch_out[STATES][2];

static inline uint64_t rnd(void)
{
    uint64_t a = s0, b = s1;
    s0 = b;
    a ^= a << 23;
    s1 = a ^ b ^ (a >> 17) ^ (b >> 26);
    return s1 + b;
}

static float gauss_pair(float *second)
{
    float u = ((rnd() >> 40) + 1) * 0x1.0p-24f, v = (rnd() >> 40) * 0x1.0p-24f;
    float r = sqrtf(-2.0f * logf(u)), a = 6.2831853f * v;
    *second = r * sinf(a);
    return r * cosf(a);
}

static int parity(unsigned x) { return __builtin_parity(x); }

static void init_tables(void)
{
    for (int i = 0; i < NFFT / 2; i++)
        twiddle[i] = cexpf(-2.0f * (float)M_PI * I * i / NFFT);
    for (int i = 0; i < NFFT; i++) {
        int r = 0;
        for (int b = 0; b < 8; b++) r |= ((i >> b) & 1) << (7 - b);
        bitrev[i] = (uint16_t)r;
    }
    for (int i = 0; i < CODED; i++) perm[i] = (uint16_t)i;
    for (int i = CODED - 1; i > 0; i--) {
        int j = (int)(rnd() % (uint64_t)(i + 1));
        uint16_t t = perm[i]; perm[i] = perm[j]; perm[j] = t;
    }
    for (int st = 0; st < STATES; st++)
        for (int b = 0; b < 2; b++) {
            unsigned reg = (unsigned)(b << 6 | st);
            branch_out[st][b] = (uint8_t)(parity(reg & G0) << 1 | parity(reg & G1));
        }
}

static void fft(cf *x, int inverse)
{
    for (int i = 0; i < NFFT; i++)
        if (bitrev[i] > i) { cf t = x[i]; x[i] = x[bitrev[i]]; x[bitrev[i]] = t; }
    for (int len = 2; len <= NFFT; len <<= 1) {
        int half = len / 2, stride = NFFT / len;
        for (int i = 0; i < NFFT; i += len)
            for (int k = 0; k < half; k++) {
                float wr = crealf(twiddle[k * stride]);
                float wi = inverse ? -cimagf(twiddle[k * stride]) : cimagf(twiddle[k * stride]);
                cf b = x[i + k + half];
                float tr = crealf(b) * wr - cimagf(b) * wi, ti = crealf(b) * wi + cimagf(b) * wr;
                cf t = tr + I * ti, a = x[i + k];
                x[i + k] = a + t;
                x[i + k + half] = a - t;
            }
    }
}

static void encode(const uint8_t *info, uint8_t *coded)
{
    unsigned st = 0;
    for (int i = 0; i < INFO + 6; i++) {
        unsigned b = i < INFO ? info[i] : 0;
        uint8_t o = branch_out[st][b];
        coded[2 * i] = o >> 1;
        coded[2 * i + 1] = o & 1;
        st = (b << 5) | (st >> 1);
    }
}

static void viterbi(const float *llr, uint8_t *info)
{
    static uint64_t decision[INFO + 6];
    float metric[STATES], next[STATES];
    for (int s = 0; s < STATES; s++) metric[s] = s ? -1e9f : 0.0f;
    for (int i = 0; i < INFO + 6; i++) {
        float a = llr[2 * i], b = llr[2 * i + 1];
        const float gain[4] = {a + b, a - b, b - a, -a - b};
        uint64_t d = 0;
        for (int s = 0; s < STATES; s++) {
            int in = s >> 5, p0 = (s << 1) & 63, p1 = p0 | 1;
            float m0 = metric[p0] + gain[branch_out[p0][in]];
            float m1 = metric[p1] + gain[branch_out[p1][in]];
            int take = m1 > m0;
            next[s] = take ? m1 : m0;
            d |= (uint64_t)take << s;
        }
        decision[i] = d;
        memcpy(metric, next, sizeof metric);
    }
    int s = 0;
    for (int i = INFO + 5; i >= 0; i--) {
        if (i < INFO) info[i] = (uint8_t)(s >> 5);
        s = ((s << 1) & 63) | (int)((decision[i] >> s) & 1);
    }
}

static void channel(const uint8_t *coded, float *llr, float sigma)
{
    const cf tap = 0.35f + 0.2f * I;
    const float q = 0.70710678f;
    cf x[NFFT], h[NFFT] = {0}, tail = 0;
    h[0] = 1; h[3] = tap;
    fft(h, 0);
    for (int sym = 0; sym < SYMS; sym++) {
        for (int k = 0; k < NFFT; k++) {
            const uint16_t *p = perm + 2 * (sym * NFFT + k);
            x[k] = (coded[p[0]] ? -q : q) + I * (coded[p[1]] ? -q : q);
        }
        fft(x, 1);
        cf y[NFFT];
        for (int k = 0; k < NFFT; k++) {           /* the prefix makes the channel circular */
            float im, re = gauss_pair(&im);
            y[k] = x[k] / 16.0f + tap * x[(k + NFFT - 3) % NFFT] / 16.0f + sigma * (re + I * im);
        }
        tail += y[NFFT - CP];
        fft(y, 0);
        for (int k = 0; k < NFFT; k++) {
            const uint16_t *p = perm + 2 * (sym * NFFT + k);
            cf z = y[k] * conjf(h[k]);
            llr[p[0]] = crealf(z);
            llr[p[1]] = cimagf(z);
        }
    }
}

int main(void)
{
    static uint8_t info[INFO], coded[CODED], out[INFO];
    static float llr[CODED];
    const float snr_db[3] = {-1.0f, 1.0f, 3.0f};
    uint64_t err[3] = {0}, bits[3] = {0};
    init_tables();
    for (int f = 0; f < FRAMES; f++) {
        DWELL_STEP();
        int point = f % 3;
        for (int i = 0; i < INFO; i++) info[i] = (uint8_t)(rnd() >> 63);
        encode(info, coded);
        channel(coded, llr, sqrtf(0.5f * powf(10.0f, -snr_db[point] / 10.0f)));
        viterbi(llr, out);
        for (int i = 0; i < INFO; i++) err[point] += info[i] != out[i];
        bits[point] += INFO;
    }
    for (int p = 0; p < 3; p++)
        printf("%.0f dB: %llu errors in %llu bits, BER %.2e\n", snr_db[p],
               (unsigned long long)err[p], (unsigned long long)bits[p], (double)err[p] / bits[p]);
    return 0;
}
