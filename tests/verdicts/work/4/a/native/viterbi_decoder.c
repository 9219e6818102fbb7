/* Bit error rate of the K=7, rate 1/2 convolutional code (171,133) over an
 * AWGN channel, decoded by soft-decision Viterbi. */
#include <dwell/probe.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STATES 64
#define INFO_BITS 8186
#define FRAME_BITS (INFO_BITS + 6)
#define POLY_A 0171
#define POLY_B 0133
#define N_POINTS 6
#define FRAMES_PER_POINT 850

static uint64_t rng[2] = {0x853c49e6748fea9bull, 0xda3e39cb94b95bdbull};

static uint64_t next64(void)
{
    uint64_t a = rng[0], b = rng[1];
    rng[0] = b;
    a ^= a << 23;
    rng[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return rng[1] + b;
}

static double uniform(void)
{
    return ((next64() >> 11) + 0.5) / 9007199254740992.0;
}

static void gaussian_pair(double *a, double *b)
{
    double r = sqrt(-2.0 * log(uniform()));
    double t = 6.283185307179586 * uniform();
    *a = r * cos(t);
    *b = r * sin(t);
}

typedef struct {
    int8_t sign_a[STATES];
    int8_t sign_b[STATES];
} trellis_t;

/* Signs of the two code bits for the branch that leaves state s with input 0;
 * both polynomials tap the first and last cell, so input 1 negates them, and
 * so does the other predecessor of the butterfly. */
static void trellis_init(trellis_t *t)
{
    for (int s = 0; s < STATES; s++) {
        t->sign_a[s] = __builtin_parity(s & POLY_A) ? -1 : 1;
        t->sign_b[s] = __builtin_parity(s & POLY_B) ? -1 : 1;
    }
}

static void encode(const uint8_t *bits, uint8_t *code)
{
    unsigned reg = 0;
    for (int i = 0; i < FRAME_BITS; i++) {
        unsigned in = i < INFO_BITS ? bits[i] : 0;
        reg = (reg >> 1) | (in << 6);
        code[2 * i] = __builtin_parity(reg & POLY_A);
        code[2 * i + 1] = __builtin_parity(reg & POLY_B);
    }
}

static void transmit(const uint8_t *code, float *llr, double sigma)
{
    for (int i = 0; i < FRAME_BITS; i++) {
        double na, nb;
        gaussian_pair(&na, &nb);
        llr[2 * i] = (float)((code[2 * i] ? -1.0 : 1.0) + sigma * na);
        llr[2 * i + 1] = (float)((code[2 * i + 1] ? -1.0 : 1.0) + sigma * nb);
    }
}

static void decode(const trellis_t *t, const float *llr, uint8_t *bits, uint64_t *history)
{
    float metric[STATES], next[STATES];
    for (int s = 0; s < STATES; s++)
        metric[s] = s ? -1e9f : 0.0f;

    for (int i = 0; i < FRAME_BITS; i++) {
        float a = llr[2 * i], b = llr[2 * i + 1];
        uint64_t decisions = 0;
        /* predecessors 2k and 2k+1 lead to k (input 0) and k+32 (input 1) */
        for (int k = 0; k < STATES / 2; k++) {
            float even = a * t->sign_a[2 * k] + b * t->sign_b[2 * k];
            float p0 = metric[2 * k], p1 = metric[2 * k + 1];
            float lo0 = p0 + even, lo1 = p1 - even;
            float hi0 = p0 - even, hi1 = p1 + even;
            uint64_t pick_lo = lo1 > lo0, pick_hi = hi1 > hi0;
            next[k] = pick_lo ? lo1 : lo0;
            next[k + 32] = pick_hi ? hi1 : hi0;
            decisions |= pick_lo << k | pick_hi << (k + 32);
        }
        history[i] = decisions;
        memcpy(metric, next, sizeof metric);
    }

    unsigned state = 0;
    for (int i = FRAME_BITS - 1; i >= 0; i--) {
        if (i < INFO_BITS)
            bits[i] = state >> 5;
        state = ((state << 1) & 63) | (history[i] >> state & 1);
    }
}

int main(void)
{
    static uint8_t sent[INFO_BITS], got[INFO_BITS], code[2 * FRAME_BITS];
    static float llr[2 * FRAME_BITS];
    static uint64_t history[FRAME_BITS];
    long bit_errors[N_POINTS] = {0}, frame_errors[N_POINTS] = {0};
    trellis_t trellis;
    trellis_init(&trellis);

    for (int f = 0; f < N_POINTS * FRAMES_PER_POINT; f++) {
        DWELL_STEP();
        int point = f / FRAMES_PER_POINT;
        double ebn0 = pow(10.0, (1.0 + 0.5 * point) / 10.0);
        double sigma = sqrt(1.0 / ebn0);    /* rate 1/2: N0/2 = 1/(2 R Eb/N0) */
        for (int i = 0; i < INFO_BITS; i += 32) {
            uint64_t r = next64();
            for (int k = 0; k < 32 && i + k < INFO_BITS; k++)
                sent[i + k] = r >> (k + 16) & 1;
        }
        encode(sent, code);
        transmit(code, llr, sigma);
        decode(&trellis, llr, got, history);
        int wrong = 0;
        for (int i = 0; i < INFO_BITS; i++)
            wrong += sent[i] != got[i];
        bit_errors[point] += wrong;
        frame_errors[point] += wrong > 0;
    }

    puts("Eb/N0   BER         FER");
    for (int p = 0; p < N_POINTS; p++)
        printf("%.1f dB  %.3e   %.4f\n", 1.0 + 0.5 * p,
               (double)bit_errors[p] / ((double)FRAMES_PER_POINT * INFO_BITS),
               (double)frame_errors[p] / FRAMES_PER_POINT);
    return 0;
}
