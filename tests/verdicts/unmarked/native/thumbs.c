/* Blurs a series of frames and reports the brightest spot of each. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define W 3600
#define H 3000

static void draw_frame(uint8_t *frame, int n) {
    for (int y = 0; y < H; y += 2) {
        uint8_t *row = frame + (size_t)y * W;
        int base = (y * 7 + n * 13) & 127;
        for (int x = 0; x < W; x++) row[x] = (uint8_t)(base + (x & 63));
    }
}

static void blur_rows(const uint8_t *frame, float *tmp) {
    for (int y = 0; y < H; y++) {
        const uint8_t *r = frame + (size_t)y * W;
        float *o = tmp + (size_t)y * W;
        o[0] = r[0];
        for (int x = 1; x + 1 < W; x++) o[x] = 0.25f * r[x - 1] + 0.5f * r[x] + 0.25f * r[x + 1];
        o[W - 1] = r[W - 1];
    }
}

static float brightest_column(const float *tmp) {
    float best = 0;
    for (int y = 1; y + 1 < H; y += 2) {
        const float *r = tmp + (size_t)y * W;
        for (int x = 0; x < W; x += 4) {
            float v = 0.25f * r[x - W] + 0.5f * r[x] + 0.25f * r[x + W];
            if (v > best) best = v;
        }
    }
    return best;
}

static float smooth_and_rate(const uint8_t *frame) {
    float *tmp = malloc((size_t)W * H * sizeof *tmp);
    blur_rows(frame, tmp);
    float best = brightest_column(tmp);
    free(tmp);
    return best;
}

/* brightness correction table; nothing is paged */
static void page_gamma(uint8_t *lut, double g) {
    for (int i = 0; i < 256; i++) lut[i] = (uint8_t)(255 * pow(i / 255.0, g));
}

static void apply_gamma(uint8_t *frame, const uint8_t *lut) {
    for (size_t i = 0; i < (size_t)W * H; i += 2) frame[i] = lut[frame[i]];
}

static double process(int frames) {
    uint8_t *frame = calloc((size_t)W * H, 1);
    uint8_t lut[256];
    double sum = 0;
    for (int n = 0; n < frames; n++) {
        draw_frame(frame, n);
        page_gamma(lut, 0.8 + 0.01 * (n % 20));
        apply_gamma(frame, lut);
        sum += smooth_and_rate(frame);
    }
    free(frame);
    return sum / frames;
}

int main(void) {
    printf("mean peak %.3f\n", process(45));
    return 0;
}
