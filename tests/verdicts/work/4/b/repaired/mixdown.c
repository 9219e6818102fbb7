/* Offline mixdown: renders a session of synthetic tracks through a channel
 * strip (two equaliser bands and a compressor) into one stereo WAV file. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <dwell/probe.h>

#define RATE 48000
#define BLOCK 512
#define TRACKS 24
#define SECONDS 45
#define BLOCKS (SECONDS * RATE / BLOCK)
#define TAU 6.283185307179586

typedef struct {
    double freq, gain_db, q;      /* set by automation */
    double b0, b1, b2, a1, a2;
    double z1, z2;
} Band;

typedef struct {
    double phase, pitch, pan, level;
    uint32_t noise;
    Band low, high;
    double env;
    double thresh_db, ratio;
} Track;

static Track tracks[TRACKS];

static void band_update(Band *b)
{
    double a = pow(10.0, b->gain_db / 40.0);
    double w = TAU * b->freq / RATE;
    double alpha = sin(w) / (2.0 * b->q), c = cos(w);
    double a0 = 1.0 + alpha / a;
    b->b0 = (1.0 + alpha * a) / a0;
    b->b1 = -2.0 * c / a0;
    b->b2 = (1.0 - alpha * a) / a0;
    b->a1 = -2.0 * c / a0;
    b->a2 = (1.0 - alpha / a) / a0;
}

static double band_run(Band *b, double x)
{
    double y = b->b0 * x + b->z1;
    b->z1 = b->b1 * x - b->a1 * y + b->z2;
    b->z2 = b->b2 * x - b->a2 * y;
    return y;
}

static void automate(Track *t, int block, int idx)
{
    double pos = (double)block / BLOCKS;
    t->low.gain_db = 6.0 * sin(TAU * (pos * 2 + idx * 0.1));
    t->high.gain_db = -4.0 * cos(TAU * (pos * 3 + idx * 0.2));
    band_update(&t->low);
    band_update(&t->high);
    t->level = 0.6 + 0.3 * sin(TAU * pos + idx);
}

static void oscillate(Track *t, float *out)
{
    for (int i = 0; i < BLOCK; i++) {
        t->noise = t->noise * 1664525u + 1013904223u;
        double n = (double)(int32_t)t->noise / 2147483648.0;
        t->phase += t->pitch / RATE;
        if (t->phase >= 1.0) t->phase -= 1.0;
        double saw = 2.0 * t->phase - 1.0;
        double tri = 1.0 - 4.0 * fabs(t->phase - 0.5);
        out[i] = (float)(0.5 * saw + 0.3 * tri + 0.05 * n);
    }
}

static double compress_gain(Track *t, double x)
{
    double level = fabs(x);
    double coef = level > t->env ? 0.02 : 0.0005;
    t->env += coef * (level - t->env);
    double db = 20.0 * log10(t->env + 1e-9);
    if (db <= t->thresh_db) return 1.0;
    return exp((t->thresh_db - db) * (1.0 - 1.0 / t->ratio) * 0.11512925464970229);
}

static void render_track(Track *t, float *left, float *right)
{
    float buf[BLOCK];
    double gl = cos(t->pan * TAU / 4), gr = sin(t->pan * TAU / 4);
    oscillate(t, buf);
    for (int i = 0; i < BLOCK; i++) {
        double x = band_run(&t->low, buf[i]);
        x = band_run(&t->high, x);
        x *= compress_gain(t, x) * t->level;
        left[i] += (float)(x * gl);
        right[i] += (float)(x * gr);
    }
}

static void wav_header(FILE *f, uint32_t frames)
{
    uint32_t data = frames * 4, riff = data + 36, rate = RATE, bps = RATE * 4, fmt = 16;
    uint16_t pcm = 1, ch = 2, align = 4, bits = 16;
    fwrite("RIFF", 1, 4, f);
    fwrite(&riff, 4, 1, f);
    fwrite("WAVEfmt ", 1, 8, f);
    fwrite(&fmt, 4, 1, f);
    fwrite(&pcm, 2, 1, f);
    fwrite(&ch, 2, 1, f);
    fwrite(&rate, 4, 1, f);
    fwrite(&bps, 4, 1, f);
    fwrite(&align, 2, 1, f);
    fwrite(&bits, 2, 1, f);
    fwrite("data", 1, 4, f);
    fwrite(&data, 4, 1, f);
}

int main(void)
{
    char path[] = "/tmp/mixdown_XXXXXX";
    int fd = mkstemp(path);
    FILE *f = fdopen(fd, "wb");
    if (!f) {
        perror(path);
        return 1;
    }
    wav_header(f, BLOCKS * BLOCK);
    for (int i = 0; i < TRACKS; i++)
        tracks[i] = (Track){ .pitch = 55.0 * pow(2.0, i * 3 / 12.0), .pan = (double)i / (TRACKS - 1),
                             .noise = 77u + i, .low = { .freq = 120 + 20 * i, .q = 0.9 },
                             .high = { .freq = 3000 + 400 * i, .q = 1.4 },
                             .thresh_db = -12 - i % 4, .ratio = 3 };
    double rms = 0, peak = 0;
    for (int b = 0; b < BLOCKS; b++) {
        DWELL_STEP();
        float left[BLOCK] = { 0 }, right[BLOCK] = { 0 };
        int16_t pcm[BLOCK * 2];
        for (int t = 0; t < TRACKS; t++) {
            automate(&tracks[t], b, t);
            render_track(&tracks[t], left, right);
        }
        for (int i = 0; i < BLOCK; i++) {
            double l = tanh(left[i] * 0.4), r = tanh(right[i] * 0.4);
            rms += l * l + r * r;
            if (fabs(l) > peak) peak = fabs(l);
            pcm[2 * i] = (int16_t)lrint(l * 32000);
            pcm[2 * i + 1] = (int16_t)lrint(r * 32000);
        }
        fwrite(pcm, sizeof pcm, 1, f);
    }
    fclose(f);
    unlink(path);
    printf("rendered %d s, %d tracks, rms %.5f peak %.5f\n", SECONDS, TRACKS,
           sqrt(rms / (2.0 * BLOCKS * BLOCK)), peak);
    return 0;
}
