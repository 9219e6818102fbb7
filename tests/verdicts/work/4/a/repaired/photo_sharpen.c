/* Batch sharpening of scanned photographs: Gaussian blur, unsharp mask with
 * threshold, tone curve, histogram statistics. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 3072
#define HEIGHT 2048
#define N_PHOTOS 22
#define MAX_RADIUS 12

typedef struct {
    int w, h;
    float *px;
} image_t;

typedef struct {
    float sigma, amount, threshold, gamma;
} preset_t;

static const preset_t PRESETS[] = {
    {1.2f, 0.8f, 1.5f, 1.00f},
    {1.6f, 1.1f, 2.0f, 0.95f},
    {2.0f, 0.6f, 1.0f, 1.05f},
};

static image_t image_new(int w, int h)
{
    image_t im = {w, h, malloc(sizeof(float) * (size_t)w * h)};
    if (!im.px) {
        fprintf(stderr, "out of memory\n");
        exit(1);
    }
    return im;
}

static uint32_t hash2(uint32_t x, uint32_t y, uint32_t seed)
{
    uint32_t h = x * 374761393u + y * 668265263u + seed * 2246822519u;
    h = (h ^ (h >> 13)) * 1274126177u;
    return h ^ (h >> 16);
}

/* A synthetic scan: smooth shading, a few hard edges, film grain. */
static void scan_photo(image_t *im, uint32_t seed)
{
    float fx = 0.002f + 0.001f * (seed % 3), fy = 0.003f;
    float *row_term = malloc(sizeof(float) * im->w);
    for (int x = 0; x < im->w; x++)
        row_term[x] = 60.0f * sinf(fx * x + seed);
    for (int y = 0; y < im->h; y++) {
        float shade = 120.0f + 40.0f * cosf(fy * y);
        for (int x = 0; x < im->w; x++) {
            float v = shade + row_term[x];
            if ((x / 160 + y / 120 + seed) % 5 == 0)
                v += 45.0f;
            v += (float)(hash2(x, y, seed) & 15) - 7.5f;
            im->px[(size_t)y * im->w + x] = v < 0 ? 0 : v > 255 ? 255 : v;
        }
    }
    free(row_term);
}

static int gaussian_kernel(float sigma, float *k)
{
    int r = (int)ceilf(3.0f * sigma);
    if (r > MAX_RADIUS)
        r = MAX_RADIUS;
    float sum = 0;
    for (int i = -r; i <= r; i++)
        sum += k[i + r] = expf(-0.5f * i * i / (sigma * sigma));
    for (int i = 0; i <= 2 * r; i++)
        k[i] /= sum;
    return r;
}

static inline int clampi(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static void blur_rows(const image_t *src, image_t *dst, const float *k, int r)
{
    for (int y = 0; y < src->h; y++) {
        const float *in = src->px + (size_t)y * src->w;
        float *out = dst->px + (size_t)y * src->w;
        for (int x = 0; x < src->w; x++) {
            float acc = 0;
            if (x >= r && x + r < src->w)
                for (int i = -r; i <= r; i++)
                    acc += k[i + r] * in[x + i];
            else
                for (int i = -r; i <= r; i++)
                    acc += k[i + r] * in[clampi(x + i, 0, src->w - 1)];
            out[x] = acc;
        }
    }
}

static void blur_columns(const image_t *src, image_t *dst, const float *k, int r)
{
    for (int y = 0; y < src->h; y++) {
        float *out = dst->px + (size_t)y * src->w;
        memset(out, 0, sizeof(float) * src->w);
        for (int i = -r; i <= r; i++) {
            const float *in = src->px + (size_t)clampi(y + i, 0, src->h - 1) * src->w;
            float weight = k[i + r];
            for (int x = 0; x < src->w; x++)
                out[x] += weight * in[x];
        }
    }
}

static void unsharp(image_t *im, const image_t *blurred, const preset_t *p)
{
    size_t n = (size_t)im->w * im->h;
    for (size_t i = 0; i < n; i++) {
        float detail = im->px[i] - blurred->px[i];
        float v = im->px[i];
        if (fabsf(detail) >= p->threshold)
            v += p->amount * detail;
        im->px[i] = v < 0 ? 0 : v > 255 ? 255 : v;
    }
}

static void tone_curve(image_t *im, float gamma)
{
    float lut[1025];
    for (int i = 0; i <= 1024; i++)
        lut[i] = 255.0f * powf(i / 1024.0f, gamma);
    size_t n = (size_t)im->w * im->h;
    for (size_t i = 0; i < n; i++)
        im->px[i] = lut[(int)(im->px[i] * (1024.0f / 255.0f))];
}

static void histogram(const image_t *im, uint32_t *bins)
{
    memset(bins, 0, 256 * sizeof *bins);
    size_t n = (size_t)im->w * im->h;
    for (size_t i = 0; i < n; i++)
        bins[(int)im->px[i]]++;
}

static int percentile(const uint32_t *bins, size_t total, double q)
{
    size_t need = (size_t)(q * total), seen = 0;
    for (int i = 0; i < 256; i++)
        if ((seen += bins[i]) >= need)
            return i;
    return 255;
}

int main(void)
{
    image_t photo = image_new(WIDTH, HEIGHT);
    image_t tmp = image_new(WIDTH, HEIGHT), blurred = image_new(WIDTH, HEIGHT);
    float kernel[2 * MAX_RADIUS + 1];
    uint32_t bins[256];

    for (int i = 0; i < N_PHOTOS; i++) {
        const preset_t *p = &PRESETS[i % 3];
        scan_photo(&photo, i + 1);
        int r = gaussian_kernel(p->sigma, kernel);
        blur_rows(&photo, &tmp, kernel, r);
        blur_columns(&tmp, &blurred, kernel, r);
        unsharp(&photo, &blurred, p);
        tone_curve(&photo, p->gamma);
        histogram(&photo, bins);
        size_t n = (size_t)WIDTH * HEIGHT;
        printf("photo %d: radius %d p01=%d median=%d p99=%d\n", i, r,
               percentile(bins, n, 0.01), percentile(bins, n, 0.5), percentile(bins, n, 0.99));
    }
    free(photo.px);
    free(tmp.px);
    free(blurred.px);
    return 0;
}
