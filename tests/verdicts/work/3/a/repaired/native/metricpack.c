/* Packs short runs of metric samples into compressed blobs, one per series and
 * minute, as a time-series store does, then verifies a sample of them. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define SERIES 1500
#define MINUTES 65
#define SAMPLES 60
#define KEEP_EVERY 50

typedef struct {
    uint32_t series, minute;
    uint32_t raw_len, packed_len;
    unsigned char *bytes;
} Blob;

typedef struct {
    double level, trend, jitter;
} Series;

static uint64_t rng = 7;

static uint32_t next_u32(void)
{
    rng = rng * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(rng >> 32);
}

static double unit(void)
{
    return next_u32() / 4294967296.0;
}

static void setup_series(Series *s)
{
    for (int i = 0; i < SERIES; i++) {
        s[i].level = 100.0 * unit();
        s[i].trend = 0.02 * (unit() - 0.5);
        s[i].jitter = 4.0 * unit();
    }
}

static void sample_minute(Series *s, int32_t *values)
{
    for (int i = 0; i < SAMPLES; i++) {
        s->level += s->trend;
        values[i] = (int32_t)lround(10.0 * (s->level + s->jitter * (unit() - 0.5)));
    }
}

static size_t put_varint(unsigned char *out, uint32_t v)
{
    size_t n = 0;
    while (v >= 0x80) {
        out[n++] = (unsigned char)(v | 0x80);
        v >>= 7;
    }
    out[n++] = (unsigned char)v;
    return n;
}

static size_t encode_deltas(const int32_t *values, unsigned char *out)
{
    size_t n = 0;
    int32_t last = 0;
    for (int i = 0; i < SAMPLES; i++) {
        int32_t d = values[i] - last;
        n += put_varint(out + n, ((uint32_t)d << 1) ^ (uint32_t)(d >> 31));
        last = values[i];
    }
    return n;
}

static void check(int rc, const char *what)
{
    if (rc != Z_OK && rc != Z_STREAM_END) {
        fprintf(stderr, "%s: %d\n", what, rc);
        exit(1);
    }
}

static size_t squeeze(const unsigned char *in, size_t len, unsigned char *out, size_t room)
{
    static z_stream z;
    if (!z.state)
        check(deflateInit(&z, 6), "deflateInit");
    else
        check(deflateReset(&z), "deflateReset");
    z.next_in = (unsigned char *)in;
    z.avail_in = (uInt)len;
    z.next_out = out;
    z.avail_out = (uInt)room;
    check(deflate(&z, Z_FINISH), "deflate");
    return z.total_out;
}

static void keep_blob(Blob *b, uint32_t series, uint32_t minute, size_t raw, const unsigned char *data, size_t n)
{
    b->series = series;
    b->minute = minute;
    b->raw_len = (uint32_t)raw;
    b->packed_len = (uint32_t)n;
    b->bytes = malloc(n);
    memcpy(b->bytes, data, n);
}

static uint32_t verify(const Blob *blobs, size_t count)
{
    unsigned char raw[SAMPLES * 5];
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uLongf n = sizeof raw;
        check(uncompress(raw, &n, blobs[i].bytes, blobs[i].packed_len), "uncompress");
        if (n != blobs[i].raw_len) {
            fprintf(stderr, "length mismatch\n");
            exit(1);
        }
        sum = (uint32_t)crc32(sum, raw, (uInt)n);
    }
    return sum;
}

int main(void)
{
    static Series series[SERIES];
    int32_t values[SAMPLES];
    unsigned char raw[SAMPLES * 5], packed[1024];
    size_t kept = 0, total = 0, raw_total = 0;
    Blob *blobs = malloc(sizeof *blobs * (SERIES * MINUTES / KEEP_EVERY + 1));

    setup_series(series);
    for (uint32_t minute = 0; minute < MINUTES; minute++) {
        for (uint32_t s = 0; s < SERIES; s++) {
            sample_minute(&series[s], values);
            size_t n = encode_deltas(values, raw);
            size_t m = squeeze(raw, n, packed, sizeof packed);
            raw_total += n;
            total += m;
            if ((minute * SERIES + s) % KEEP_EVERY == 0)
                keep_blob(&blobs[kept++], s, minute, n, packed, m);
        }
    }
    printf("blobs %d raw %zu packed %zu kept %zu crc %08x\n", SERIES * MINUTES, raw_total, total, kept,
           verify(blobs, kept));
    for (size_t i = 0; i < kept; i++)
        free(blobs[i].bytes);
    free(blobs);
    return 0;
}
