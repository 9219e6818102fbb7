/*
 * tile_render: renders the relief of a synthetic mountain range (height field,
 * ray march with soft shadow) in tiles on worker threads; writes a PNG.
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define WIDTH 1280
#define HEIGHT 960
#define TILE 32
#define WORKERS 2
#define TERRAIN 1024

struct vec {
    float x, y, z;
};

static float *terrain;
static uint8_t *image;
static atomic_int next_tile;

static uint32_t hash2(int x, int y)
{
    uint32_t h = (uint32_t)x * 0x8da6b343u ^ (uint32_t)y * 0xd8163841u;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    h ^= h >> 12;
    return h;
}

static float value_noise(float x, float y)
{
    int ix = (int)floorf(x), iy = (int)floorf(y);
    float fx = x - (float)ix, fy = y - (float)iy;
    fx = fx * fx * (3 - 2 * fx);
    fy = fy * fy * (3 - 2 * fy);
    float a = (float)(hash2(ix, iy) & 0xffff), b = (float)(hash2(ix + 1, iy) & 0xffff);
    float c = (float)(hash2(ix, iy + 1) & 0xffff), d = (float)(hash2(ix + 1, iy + 1) & 0xffff);
    return (a + (b - a) * fx + (c - a) * fy + (a - b - c + d) * fx * fy) / 65535.0f;
}

static void build_terrain(void)
{
    for (int y = 0; y < TERRAIN; y++)
        for (int x = 0; x < TERRAIN; x++) {
            float h = 0, amp = 60, freq = 1.0f / 180;
            for (int o = 0; o < 8; o++, amp *= 0.48f, freq *= 2.03f)
                h += amp * value_noise((float)x * freq, (float)y * freq);
            terrain[y * TERRAIN + x] = h * h / 110.0f;
        }
}

static inline float height_at(float x, float y)
{
    int ix = (int)x, iy = (int)y;
    float fx = x - (float)ix, fy = y - (float)iy;
    const float *p = terrain + (iy & (TERRAIN - 1)) * TERRAIN;
    const float *q = terrain + ((iy + 1) & (TERRAIN - 1)) * TERRAIN;
    int x0 = ix & (TERRAIN - 1), x1 = (ix + 1) & (TERRAIN - 1);
    float top = p[x0] + (p[x1] - p[x0]) * fx, bottom = q[x0] + (q[x1] - q[x0]) * fx;
    return top + (bottom - top) * fy;
}

static int march(struct vec o, struct vec d, float limit, struct vec *hit, float *nearest)
{
    float t = 0.5f, closest = 1;
    while (t < limit) {
        struct vec p = {o.x + d.x * t, o.y + d.y * t, o.z + d.z * t};
        float gap = p.z - height_at(p.x, p.y);
        if (gap < 0.02f) {
            *hit = p;
            return 1;
        }
        if (p.z > 130 && d.z > 0)
            break;
        float soft = 10 * gap / t;
        if (soft < closest)
            closest = soft;
        t += 0.15f + 0.3f * gap;
    }
    *nearest = closest;
    return 0;
}

static struct vec unit(struct vec v)
{
    float k = 1 / sqrtf(v.x * v.x + v.y * v.y + v.z * v.z);
    return (struct vec){v.x * k, v.y * k, v.z * k};
}

static void shade(float px, float py, float rgb[3])
{
    const struct vec eye = {500, 20, 95}, sun = {0.62f, 0.48f, 0.62f};
    struct vec d = unit((struct vec){(px - WIDTH / 2) / WIDTH, 0.8f, -(py - HEIGHT * 0.35f) / WIDTH});
    struct vec p, unused;
    float soft = 0;
    if (!march(eye, d, 700, &p, &soft)) {
        float up = d.z > 0 ? d.z : 0;
        rgb[0] = 0.62f - 0.5f * up;
        rgb[1] = 0.74f - 0.4f * up;
        rgb[2] = 0.92f;
        return;
    }
    float e = 0.5f;
    struct vec n = unit((struct vec){height_at(p.x - e, p.y) - height_at(p.x + e, p.y),
                                     height_at(p.x, p.y - e) - height_at(p.x, p.y + e), 2 * e});
    float lit = n.x * sun.x + n.y * sun.y + n.z * sun.z;
    if (lit > 0) {
        struct vec lifted = {p.x, p.y, p.z + 0.1f};
        lit *= march(lifted, sun, 200, &unused, &soft) ? 0 : soft;
    }
    float light = 0.25f + 0.75f * (lit > 0 ? lit : 0), snow = p.z > 55 && n.z > 0.6f ? 1 : 0;
    rgb[0] = light * (0.42f + 0.5f * snow);
    rgb[1] = light * (0.44f + 0.48f * snow);
    rgb[2] = light * (0.36f + 0.6f * snow);
}

static void *worker(void *arg)
{
    (void)arg;
    const int across = WIDTH / TILE, tiles = across * (HEIGHT / TILE);
    for (int t; (t = atomic_fetch_add(&next_tile, 1)) < tiles;) {
        int x0 = t % across * TILE, y0 = t / across * TILE;
        for (int y = y0; y < y0 + TILE; y++)
            for (int x = x0; x < x0 + TILE; x++) {
                float acc[3] = {0};
                for (int s = 0; s < 4; s++) {
                    float c[3];
                    shade((float)x + 0.25f + 0.5f * (float)(s & 1), (float)y + 0.25f + 0.5f * (float)(s >> 1), c);
                    for (int k = 0; k < 3; k++)
                        acc[k] += c[k];
                }
                for (int k = 0; k < 3; k++)
                    image[(y * WIDTH + x) * 3 + k] = (uint8_t)(acc[k] * 63.75f > 255 ? 255 : acc[k] * 63.75f);
            }
    }
    return NULL;
}

static void chunk(FILE *f, const char *type, const uint8_t *data, uint32_t n)
{
    uint8_t head[8] = {n >> 24, n >> 16, n >> 8, n};
    memcpy(head + 4, type, 4);
    uint32_t crc = (uint32_t)crc32(crc32(0, head + 4, 4), n ? data : head, n);
    uint8_t tail[4] = {crc >> 24, crc >> 16, crc >> 8, crc};
    fwrite(head, 1, 8, f);
    fwrite(data, 1, n, f);
    fwrite(tail, 1, 4, f);
}

static long write_png(FILE *f)
{
    static const uint8_t sig[8] = {137, 80, 78, 71, 13, 10, 26, 10};
    uint8_t ihdr[13] = {0, 0, WIDTH >> 8, WIDTH & 255, 0, 0, HEIGHT >> 8, HEIGHT & 255, 8, 2, 0, 0, 0};
    const size_t row = WIDTH * 3;
    uint8_t *raw = malloc((row + 1) * HEIGHT);
    for (int y = 0; y < HEIGHT; y++) {
        const uint8_t *src = image + y * row;
        uint8_t *dst = raw + y * (row + 1);
        *dst++ = 1;
        for (size_t i = 0; i < row; i++)
            dst[i] = (uint8_t)(src[i] - (i < 3 ? 0 : src[i - 3]));
    }
    uLongf n = compressBound((uLong)((row + 1) * HEIGHT));
    uint8_t *packed = malloc(n);
    compress2(packed, &n, raw, (uLong)((row + 1) * HEIGHT), 6);
    fwrite(sig, 1, 8, f);
    chunk(f, "IHDR", ihdr, 13);
    chunk(f, "IDAT", packed, (uint32_t)n);
    chunk(f, "IEND", sig, 0);
    free(raw);
    free(packed);
    return ftell(f);
}

int main(void)
{
    terrain = malloc(sizeof *terrain * TERRAIN * TERRAIN);
    image = malloc(WIDTH * HEIGHT * 3);
    build_terrain();
    pthread_t th[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&th[i], NULL, worker, NULL);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(th[i], NULL);
    FILE *f = tmpfile();
    if (!f)
        return perror("tmpfile"), 1;
    long bytes = write_png(f);
    fclose(f);
    unsigned long sum = 0;
    for (int i = 0; i < WIDTH * HEIGHT * 3; i++)
        sum += image[i];
    printf("%dx%d, mean level %.3f, png %ld bytes\n", WIDTH, HEIGHT, (double)sum / (WIDTH * HEIGHT * 3), bytes);
    free(terrain);
    free(image);
    return 0;
}
