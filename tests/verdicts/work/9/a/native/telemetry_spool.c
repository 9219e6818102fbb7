/* Vehicle telemetry: decodes frames, filters them and spools compressed blocks.
 *
 * The main thread decodes and smooths one block of samples at a time, a helper
 * thread compresses it.  A block carries a sequence number and the checksum of
 * its predecessor's compressed form; the index gets an entry for a block when
 * that block is sealed.
 */
#include <dwell/probe.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define CHANNELS 24
#define SAMPLES 1024
#define BLOCKS 1100

struct block {
    uint32_t seq, prev_crc;
    int16_t v[CHANNELS][SAMPLES];
};

struct entry {
    uint32_t seq, crc;
    double energy;
};

struct spool {
    pthread_mutex_t lock;
    pthread_cond_t work;
    struct block *job;
    uint32_t crc;
    int busy, stop;
    unsigned char *out;
    size_t bytes;
};

static void *compressor(void *arg)
{
    struct spool *s = arg;
    uLong room = compressBound(sizeof(struct block));
    for (;;) {
        pthread_mutex_lock(&s->lock);
        while (!s->job && !s->stop)
            pthread_cond_wait(&s->work, &s->lock);
        struct block *b = s->job;
        s->job = NULL;
        pthread_mutex_unlock(&s->lock);
        if (!b)
            return NULL;
        uLongf n = room;
        if (compress2(s->out, &n, (const unsigned char *)b, sizeof *b, 5) != Z_OK)
            exit(1);
        uint32_t crc = (uint32_t)crc32(0, s->out, (uInt)n);
        pthread_mutex_lock(&s->lock);
        s->crc = crc;
        s->bytes += n;
        s->busy = 0;
        pthread_mutex_unlock(&s->lock);
    }
}

static void submit(struct spool *s, struct block *b)
{
    pthread_mutex_lock(&s->lock);
    s->job = b;
    s->busy = 1;
    pthread_cond_signal(&s->work);
    pthread_mutex_unlock(&s->lock);
}

static uint32_t sealed_crc(struct spool *s)
{
    pthread_mutex_lock(&s->lock);
    while (s->busy) {
        pthread_mutex_unlock(&s->lock);
        usleep(8000);
        pthread_mutex_lock(&s->lock);
    }
    uint32_t crc = s->crc;
    pthread_mutex_unlock(&s->lock);
    return crc;
}

static uint32_t noise(uint32_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    *s ^= *s << 5;
    return *s;
}

static void decode(float raw[CHANNELS][SAMPLES], uint32_t block, uint32_t *seed)
{
    for (int c = 0; c < CHANNELS; c++) {
        float w = 0.002f * (float)(c + 1), a = 900.0f + 40.0f * (float)c;
        for (int i = 0; i < SAMPLES; i++) {
            float t = (float)((block * SAMPLES + (uint32_t)i) % 65536u);
            raw[c][i] = a * sinf(w * t) + (float)(noise(seed) % 64) - 32.0f;
        }
    }
}

/* Savitzky-Golay like smoothing with weights that depend on the local slope. */
static void smooth(float raw[CHANNELS][SAMPLES], int16_t out[CHANNELS][SAMPLES])
{
    for (int c = 0; c < CHANNELS; c++)
        for (int i = 0; i < SAMPLES; i++) {
            float acc = 0, norm = 0;
            for (int k = -9; k <= 9; k++) {
                int j = i + k;
                if (j < 0 || j >= SAMPLES)
                    continue;
                float d = (raw[c][j] - raw[c][i]) * 0.02f;
                float w = expf(-0.03f * (float)(k * k) - d * d);
                acc += w * raw[c][j];
                norm += w;
            }
            out[c][i] = (int16_t)lrintf(acc / norm);
        }
}

static double spectral_energy(float raw[CHANNELS][SAMPLES])
{
    double e = 0;
    for (int c = 0; c < CHANNELS; c++)
        for (int f = 1; f < 24; f++) {
            float coeff = 2.0f * cosf(6.2831853f * (float)f / SAMPLES), s1 = 0, s2 = 0;
            for (int i = 0; i < SAMPLES; i++) {
                float s0 = raw[c][i] + coeff * s1 - s2;
                s2 = s1;
                s1 = s0;
            }
            e += s1 * s1 + s2 * s2 - coeff * s1 * s2;
        }
    return e;
}

int main(void)
{
    static float raw[CHANNELS][SAMPLES];
    struct block *b = calloc(1, sizeof *b);
    struct entry *index = calloc(BLOCKS, sizeof *index);
    struct spool s = {.lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER};
    pthread_t helper;
    uint32_t seed = 77, crc = 0;
    double energy = 0;

    s.out = malloc(compressBound(sizeof(struct block)));
    if (!b || !index || !s.out || pthread_create(&helper, NULL, compressor, &s))
        return 1;
    for (uint32_t n = 0; n < BLOCKS; n++) {
        DWELL_STEP();
        decode(raw, n, &seed);
        smooth(raw, b->v);
        double e = spectral_energy(raw);
        b->seq = n;
        b->prev_crc = crc;
        submit(&s, b);
        crc = sealed_crc(&s);
        index[n] = (struct entry){n, crc, e};
        energy += e;
    }
    pthread_mutex_lock(&s.lock);
    s.stop = 1;
    pthread_cond_signal(&s.work);
    pthread_mutex_unlock(&s.lock);
    pthread_join(helper, NULL);
    printf("%d blocks, %zu bytes, chain %08x, energy %.4e\n", BLOCKS, s.bytes, crc, energy);
    free(s.out);
    free(index);
    free(b);
    return 0;
}
