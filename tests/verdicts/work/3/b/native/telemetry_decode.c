/* Decodes a recorded telemetry capture: variable-length packets, varint
 * fields, zig-zag deltas. Each pass handles one group of packets. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

#define CHANNELS 24
#define GROUP 200
#define HISTORY 1024

typedef struct {
    int fd;
    uint64_t consumed;
} source_t;

typedef struct {
    int64_t last[CHANNELS];
    double mean[CHANNELS], m2[CHANNELS];
    long n[CHANNELS];
    float history[CHANNELS][HISTORY];
    uint32_t crc;
} decoder_t;

static uint32_t crc_table[256];

static void crc_init(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? 0xedb88320u ^ (c >> 1) : c >> 1;
        crc_table[i] = c;
    }
}

static size_t put_varint(uint8_t *p, uint64_t v)
{
    size_t n = 0;
    while (v >= 0x80) {
        p[n++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    p[n++] = (uint8_t)v;
    return n;
}

static void write_capture(FILE *f, long packets)
{
    uint32_t s = 4242;
    uint8_t buf[64];
    for (long i = 0; i < packets; i++) {
        size_t n = 0;
        s = s * 1664525u + 1013904223u;
        int fields = 2 + (int)(s >> 30);
        buf[n++] = (uint8_t)fields;
        for (int k = 0; k < fields; k++) {
            s = s * 1664525u + 1013904223u;
            int64_t delta = (int64_t)(s >> 12 & 4095) - 2048;
            buf[n++] = (uint8_t)((s >> 26) % CHANNELS);
            n += put_varint(buf + n, (uint64_t)(delta << 1 ^ delta >> 63));
        }
        fwrite(buf, 1, n, f);
    }
    fflush(f);
}

static int next_byte(source_t *src)
{
    uint8_t b;
    if (read(src->fd, &b, 1) != 1)
        return -1;
    src->consumed++;
    return b;
}

static int next_varint(source_t *src, uint64_t *v)
{
    int shift = 0, b;
    *v = 0;
    do {
        b = next_byte(src);
        if (b < 0 || shift > 63)
            return -1;
        *v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
    } while (b & 0x80);
    return 0;
}

static void update(decoder_t *d, int ch, int64_t delta)
{
    int64_t x = d->last[ch] + delta;
    double dx = (double)x - d->mean[ch];
    d->last[ch] = x;
    d->history[ch][d->n[ch] % HISTORY] = (float)delta;
    d->n[ch]++;
    d->mean[ch] += dx / (double)d->n[ch];
    d->m2[ch] += dx * ((double)x - d->mean[ch]);
    for (int i = 0; i < 8; i++)
        d->crc = crc_table[(d->crc ^ (uint32_t)(x >> (8 * i))) & 0xff] ^ (d->crc >> 8);
}

/* Strongest pairwise coupling between channels over the recent history. */
static float coupling(const decoder_t *d)
{
    float best = 0;
    for (int a = 0; a < CHANNELS; a++)
        for (int b = a + 1; b < CHANNELS; b++) {
            float dot = 0;
            for (int i = 0; i < HISTORY; i++)
                dot += d->history[a][i] * d->history[b][i];
            best = dot > best ? dot : best;
        }
    return best;
}

static int decode_packet(source_t *src, decoder_t *d)
{
    int fields = next_byte(src);
    if (fields < 0)
        return -1;
    for (int k = 0; k < fields; k++) {
        uint64_t raw;
        int ch = next_byte(src);
        if (ch < 0 || ch >= CHANNELS || next_varint(src, &raw) < 0)
            return -1;
        update(d, ch, (int64_t)(raw >> 1) ^ -(int64_t)(raw & 1));
    }
    return 0;
}

int main(int argc, char **argv)
{
    long packets = argc > 1 ? atol(argv[1]) : 820000;
    char path[] = "/tmp/capture-XXXXXX";
    int fd = mkstemp(path);
    static decoder_t dec;
    double peak = 0;
    long done = 0;

    if (fd < 0)
        return 1;
    FILE *f = fdopen(dup(fd), "wb");
    write_capture(f, packets);
    fclose(f);
    unlink(path);
    lseek(fd, 0, SEEK_SET);
    crc_init();
    source_t src = {fd, 0};
    while (done < packets) {
        for (int i = 0; i < GROUP && done < packets; i++, done++)
            if (decode_packet(&src, &dec) < 0)
                return 1;
        peak += coupling(&dec);
        DWELL_STEP();
    }
    double spread = 0;
    for (int c = 0; c < CHANNELS; c++)
        spread += dec.n[c] > 1 ? dec.m2[c] / (double)(dec.n[c] - 1) : 0;
    printf("packets %ld bytes %llu crc %08x spread %.6e peak %.6e\n", done, (unsigned long long)src.consumed,
           dec.crc, spread, peak);
    close(fd);
    return 0;
}
