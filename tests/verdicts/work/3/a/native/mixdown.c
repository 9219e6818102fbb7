#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

/* Offline renderer of a multitrack session: every track plays its clips through
 * a channel strip (DC blocker, two-pole tone filter, echo) into a stereo mix. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TRACKS = 32, BLOCK = 512, RATE = 48000, SECONDS = 70, ECHO_LEN = 9600, CLIPS = 3 };

typedef struct {
    int start, length;
    float pitch, gain;
} Clip;

typedef struct {
    Clip clips[CLIPS];
    float pan;
    float freq, q, gain_db, sweep;
    float dc_x, dc_y;
    float lp_a, lp_y, lp_z;
    float bq_b0, bq_b1, bq_b2, bq_a1, bq_a2, bq_s1, bq_s2;
    float *echo;
    int echo_pos;
    float echo_feedback;
    float phase;
    uint32_t noise;
} Track;

static uint32_t rng_state = 12345u;

static uint32_t next_random(void)
{
    rng_state = rng_state * 1664525u + 1013904223u;
    return rng_state >> 8;
}

static float uniform(float lo, float hi)
{
    return lo + (hi - lo) * (float)(next_random() & 0xffff) / 65535.0f;
}

static void design_peak(Track *t, float freq, float q, float gain_db)
{
    float a = powf(10.0f, gain_db / 40.0f);
    float w = 2.0f * (float)M_PI * freq / RATE;
    float alpha = sinf(w) / (2.0f * q);
    float a0 = 1.0f + alpha / a;
    t->bq_b0 = (1.0f + alpha * a) / a0;
    t->bq_b1 = -2.0f * cosf(w) / a0;
    t->bq_b2 = (1.0f - alpha * a) / a0;
    t->bq_a1 = t->bq_b1;
    t->bq_a2 = (1.0f - alpha / a) / a0;
}

static void setup_track(Track *t, int index)
{
    memset(t, 0, sizeof *t);
    for (int c = 0; c < CLIPS; c++) {
        t->clips[c].start = (int)(uniform(0.0f, 12.0f) * RATE);
        t->clips[c].length = (int)(uniform(0.4f, 2.5f) * RATE);
        t->clips[c].pitch = uniform(80.0f, 900.0f);
        t->clips[c].gain = uniform(0.05f, 0.3f);
    }
    t->pan = uniform(0.0f, 1.0f);
    t->lp_a = uniform(0.1f, 0.4f);
    t->freq = uniform(300.0f, 4000.0f);
    t->q = uniform(0.7f, 3.0f);
    t->gain_db = uniform(-6.0f, 6.0f);
    t->sweep = uniform(0.0f, 0.5f);
    t->echo = calloc(ECHO_LEN, sizeof(float));
    t->echo_feedback = uniform(0.15f, 0.35f);
    t->noise = 77u + (uint32_t)index;
}

/* Automation is drawn on a grid of one point per block. */
static void follow_automation(Track *t, int block)
{
    float lfo = sinf(0.02f * (float)block);
    design_peak(t, t->freq * (1.0f + t->sweep * lfo), t->q, t->gain_db);
}

static float clip_source(Track *t, int now)
{
    float out = 0.0f;
    for (int c = 0; c < CLIPS; c++) {
        const Clip *k = &t->clips[c];
        if (now < k->start || now >= k->start + k->length)
            continue;
        t->phase += k->pitch / RATE;
        if (t->phase >= 1.0f)
            t->phase -= 1.0f;
        t->noise = t->noise * 1103515245u + 12345u;
        float hiss = (float)((t->noise >> 16) & 0x7fff) / 32768.0f - 0.5f;
        float fade = 1.0f - (float)(now - k->start) / (float)k->length;
        out += k->gain * fade * (2.0f * t->phase - 1.0f + 0.1f * hiss);
    }
    return out;
}

static float remove_dc(Track *t, float x)
{
    float y = x - t->dc_x + 0.995f * t->dc_y;
    t->dc_x = x;
    t->dc_y = y;
    return y;
}

static float tone(Track *t, float x, int block)
{
    follow_automation(t, block);
    t->lp_y += t->lp_a * (x - t->lp_y);
    t->lp_z += t->lp_a * (t->lp_y - t->lp_z);
    float y = t->bq_b0 * t->lp_z + t->bq_s1;
    t->bq_s1 = t->bq_b1 * t->lp_z - t->bq_a1 * y + t->bq_s2;
    t->bq_s2 = t->bq_b2 * t->lp_z - t->bq_a2 * y;
    return y;
}

static float echo(Track *t, float x)
{
    float y = x + t->echo_feedback * t->echo[t->echo_pos];
    t->echo[t->echo_pos] = y;
    if (++t->echo_pos == ECHO_LEN)
        t->echo_pos = 0;
    return y;
}

static void render_block(Track *t, int start, float *left, float *right)
{
    for (int i = 0; i < BLOCK; i++) {
        float s = clip_source(t, start + i);
        s = echo(t, tone(t, remove_dc(t, s), start / BLOCK));
        left[i] += s * (1.0f - t->pan);
        right[i] += s * t->pan;
    }
}

int main(void)
{
    static Track tracks[TRACKS];
    static float left[BLOCK], right[BLOCK];
    for (int i = 0; i < TRACKS; i++)
        setup_track(&tracks[i], i);

    double energy = 0.0;
    float peak = 0.0f;
    int blocks = SECONDS * RATE / BLOCK;
    for (int b = 0; b < blocks; b++) {
        memset(left, 0, sizeof left);
        memset(right, 0, sizeof right);
        for (int i = 0; i < TRACKS; i++)
            render_block(&tracks[i], b * BLOCK, left, right);
        for (int i = 0; i < BLOCK; i++) {
            energy += (double)left[i] * left[i] + (double)right[i] * right[i];
            float m = fmaxf(fabsf(left[i]), fabsf(right[i]));
            if (m > peak)
                peak = m;
        }
        DWELL_STEP();
    }
    printf("blocks %d energy %.4f peak %.5f\n", blocks, energy, peak);
    for (int i = 0; i < TRACKS; i++)
        free(tracks[i].echo);
    return 0;
}
