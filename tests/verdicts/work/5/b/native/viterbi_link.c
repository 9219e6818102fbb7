/* Link-level simulation of the rate 1/2, K=7 convolutional code (171,133).
 * Prints the bit and frame error rates for a sweep of Eb/N0 points. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dwell/probe.h>

#define K 7
#define STATES (1 << (K - 1))
#define INFO_BITS 2042
#define FRAME_BITS (INFO_BITS + K - 1)
#define PATH_WORDS ((FRAME_BITS + 31) / 32)
#define G0 0171
#define G1 0133
#define FRAMES 3000

static uint64_t rng_state[2] = {0x9E3779B97F4A7C15ull, 0xD1B54A32D192ED03ull};

static uint64_t rng_next(void)
{
    uint64_t a = rng_state[0], b = rng_state[1];
    rng_state[0] = b;
    a ^= a << 23;
    rng_state[1] = a ^ b ^ (a >> 18) ^ (b >> 5);
    return rng_state[1] + b;
}

static double rng_uniform(void)
{
    return ((rng_next() >> 11) + 0.5) * (1.0 / 9007199254740992.0);
}

static void rng_gauss_pair(float *a, float *b)
{
    double r = sqrt(-2.0 * log(rng_uniform()));
    double t = 6.283185307179586 * rng_uniform();
    *a = (float)(r * cos(t));
    *b = (float)(r * sin(t));
}

static int parity(unsigned x) { return __builtin_parity(x); }

/* sign of the two coded symbols for the branch that enters register value r */
static float branch_sym[2 * STATES][2];

static void build_trellis(void)
{
    for (unsigned r = 0; r < 2 * STATES; r++) {
        branch_sym[r][0] = parity(r & G0) ? -1.0f : 1.0f;
        branch_sym[r][1] = parity(r & G1) ? -1.0f : 1.0f;
    }
}

static void encode(const uint8_t *bits, float (*sym)[2])
{
    unsigned reg = 0;
    for (int t = 0; t < FRAME_BITS; t++) {
        reg = (reg >> 1) | ((unsigned)bits[t] << (K - 1));
        sym[t][0] = branch_sym[reg][0];
        sym[t][1] = branch_sym[reg][1];
    }
}

static void channel(float (*sym)[2], double ebn0_db)
{
    double ebn0 = pow(10.0, ebn0_db / 10.0);
    float sigma = (float)sqrt(1.0 / ebn0); /* Es = Eb / 2 */
    for (int t = 0; t < FRAME_BITS; t++) {
        float n0, n1;
        rng_gauss_pair(&n0, &n1);
        sym[t][0] += sigma * n0;
        sym[t][1] += sigma * n1;
    }
}

struct survivor {
    float metric;
    uint32_t path[PATH_WORDS];
};

static struct survivor bank[2][STATES];

static void decode(float (*sym)[2], uint8_t *out)
{
    struct survivor *cur = bank[0], *nxt = bank[1];
    for (int s = 0; s < STATES; s++) {
        cur[s].metric = s == 0 ? 0.0f : -1e9f;
        memset(cur[s].path, 0, sizeof cur[s].path);
    }
    for (int t = 0; t < FRAME_BITS; t++) {
        float y0 = sym[t][0], y1 = sym[t][1];
        for (unsigned s = 0; s < STATES; s++) {
            unsigned bit = s >> (K - 2);
            unsigned r0 = (s << 1) & (2 * STATES - 1), r1 = r0 | 1;
            unsigned p0 = r0 & (STATES - 1), p1 = r1 & (STATES - 1);
            float m0 = cur[p0].metric + y0 * branch_sym[r0][0] + y1 * branch_sym[r0][1];
            float m1 = cur[p1].metric + y0 * branch_sym[r1][0] + y1 * branch_sym[r1][1];
            unsigned p = m1 > m0 ? p1 : p0;
            nxt[s] = cur[p];
            nxt[s].metric = m1 > m0 ? m1 : m0;
            nxt[s].path[t >> 5] |= (uint32_t)bit << (t & 31);
        }
        struct survivor *tmp = cur;
        cur = nxt;
        nxt = tmp;
    }
    for (int t = 0; t < FRAME_BITS; t++)
        out[t] = (cur[0].path[t >> 5] >> (t & 31)) & 1;
}

int main(void)
{
    static const double points[] = {1.0, 1.5, 2.0, 2.5, 3.0, 3.5};
    enum { NPOINTS = sizeof points / sizeof points[0] };
    static uint8_t bits[FRAME_BITS], got[FRAME_BITS];
    static float sym[FRAME_BITS][2];
    long bit_err[NPOINTS] = {0}, frame_err[NPOINTS] = {0}, frames[NPOINTS] = {0};

    build_trellis();
    for (int f = 0; f < FRAMES; f++) {
        DWELL_STEP();
        int pt = f % NPOINTS;
        for (int t = 0; t < INFO_BITS; t++)
            bits[t] = rng_next() >> 63;
        memset(bits + INFO_BITS, 0, K - 1);
        encode(bits, sym);
        channel(sym, points[pt]);
        decode(sym, got);
        long e = 0;
        for (int t = 0; t < INFO_BITS; t++)
            e += bits[t] != got[t];
        bit_err[pt] += e;
        frame_err[pt] += e > 0;
        frames[pt]++;
    }
    printf("Eb/N0    BER        FER\n");
    for (int i = 0; i < NPOINTS; i++)
        printf("%4.1f dB  %.3e  %.4f\n", points[i],
               (double)bit_err[i] / ((double)frames[i] * INFO_BITS),
               (double)frame_err[i] / frames[i]);
    return 0;
}
