/* Temporal + spatial denoiser for a static night camera: blends each frame
 * with a running background and box-filters the residual. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

#define W 2560
#define H 1440

typedef struct {
    int w, h;
    float *px;
} plane_t;

static plane_t plane_new(int w, int h)
{
    plane_t p = {w, h, malloc((size_t)(w + 8) * (size_t)(h + 8) * 4 * sizeof(float))};
    if (!p.px) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return p;
}

static void plane_free(plane_t *p)
{
    free(p->px);
    p->px = NULL;
}

static void capture(uint8_t *raw, int frame)
{
    uint32_t s = (uint32_t)frame * 747796405u + 2891336453u;
    for (int y = 0; y < H; y++) {
        s = s * 1664525u + 1013904223u;
        uint8_t *row = raw + (size_t)y * W;
        int base = 20 + (y * 40) / H + (int)(s >> 29);
        for (int x = 0; x < W; x++)
            row[x] = (uint8_t)(base + ((x * 7 + frame * 3) & 15));
    }
}

/* Two interleaved values per pixel: residual and squared residual. */
static void residual(const uint8_t *raw, const float *bg, plane_t *out)
{
    for (int y = 0; y < H; y++) {
        const uint8_t *r = raw + (size_t)y * W;
        const float *b = bg + (size_t)y * W;
        float *o = out->px + (size_t)y * W * 2;
        for (int x = 0; x < W; x++) {
            float d = (float)r[x] - b[x];
            o[2 * x] = d;
            o[2 * x + 1] = d * d;
        }
    }
}

static void box_rows(const plane_t *in, plane_t *out)
{
    for (int y = 0; y < H; y++) {
        const float *a = in->px + (size_t)y * W * 2;
        float *o = out->px + (size_t)y * W * 2;
        for (int x = 2; x < 2 * W - 2; x++)
            o[x] = (a[x - 2] + a[x] + a[x + 2]) * (1.0f / 3.0f);
        o[0] = a[0];
        o[1] = a[1];
        o[2 * W - 2] = a[2 * W - 2];
        o[2 * W - 1] = a[2 * W - 1];
    }
}

static double apply(const plane_t *sm, float *bg)
{
    double energy = 0;
    for (int y = 0; y < H; y++) {
        const float *s = sm->px + (size_t)y * W * 2;
        float *b = bg + (size_t)y * W;
        float row = 0;
        for (int x = 0; x < W; x++) {
            float var = s[2 * x + 1] - s[2 * x] * s[2 * x];
            float k = var > 30.0f ? 0.02f : 0.1f;
            b[x] += k * s[2 * x];
            row += var;
        }
        energy += row;
    }
    return energy / ((double)W * H);
}

static double denoise_frame(const uint8_t *raw, float *bg)
{
    plane_t res = plane_new(W, H);
    plane_t smooth = plane_new(W, H);
    residual(raw, bg, &res);
    box_rows(&res, &smooth);
    double e = apply(&smooth, bg);
    plane_free(&smooth);
    plane_free(&res);
    return e;
}

int main(int argc, char **argv)
{
    int frames = argc > 1 ? atoi(argv[1]) : 130;
    uint8_t *raw = malloc((size_t)W * H);
    float *bg = calloc((size_t)W * H, sizeof *bg);
    double total = 0;

    if (!raw || !bg)
        return 1;
    for (int f = 0; f < frames; f++) {
        capture(raw, f);
        total += denoise_frame(raw, bg);
        DWELL_STEP();
    }
    double mean = 0;
    for (size_t i = 0; i < (size_t)W * H; i++)
        mean += bg[i];
    printf("frames %d energy %.6f background %.6f\n", frames, total, mean / ((double)W * H));
    free(raw);
    free(bg);
    return 0;
}
