/*
 * telemetry_pack - ground-side packer for the vehicle telemetry archive.
 *
 * Samples of the vehicles are grouped into frames, delta- and zigzag-coded,
 * compressed (every frame must be readable by itself), sealed with a CRC and
 * appended to the segment.  At the end the segment is read back and checked.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define VEHICLES 40
#define CHANNELS 12
#define SAMPLES 24
#define FRAMES 84000
#define FRAME_RAW (8 + CHANNELS * SAMPLES * 5)

typedef struct { double level[CHANNELS], phase; uint32_t clock; } vehicle_t;
typedef struct { unsigned char *data; size_t len, cap; } segment_t;
typedef struct { uint32_t vehicle, first_clock; int32_t v[CHANNELS][SAMPLES]; } frame_t;

static uint32_t rng = 2463534242u;

static uint32_t next_random(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 17;
    rng ^= rng << 5;
    return rng;
}

static void sample_vehicle(vehicle_t *veh, uint32_t id, frame_t *f)
{
    f->vehicle = id;
    f->first_clock = veh->clock;
    for (int s = 0; s < SAMPLES; s++) {
        veh->phase += 0.02;
        for (int c = 0; c < CHANNELS; c++) {
            if (c < 4)          /* slow analogue channels */
                veh->level[c] += 3.0 * sin(veh->phase * (c + 1)) + (double)(next_random() % 5) - 2.0;
            else if (next_random() % 40 == 0)   /* switches and modes */
                veh->level[c] = (double)(next_random() % 8);
            f->v[c][s] = (int32_t)veh->level[c];
        }
    }
    veh->clock += SAMPLES * 20;
}

static unsigned char *put_varint(unsigned char *p, uint32_t v)
{
    while (v >= 0x80) {
        *p++ = (unsigned char)(v | 0x80);
        v >>= 7;
    }
    *p++ = (unsigned char)v;
    return p;
}

static const unsigned char *get_varint(const unsigned char *p, uint32_t *v)
{
    uint32_t x = 0;
    int shift = 0;
    do {
        x |= (uint32_t)(*p & 0x7f) << shift;
        shift += 7;
    } while (*p++ & 0x80);
    *v = x;
    return p;
}

static size_t encode_frame(const frame_t *f, unsigned char *out)
{
    unsigned char *p = put_varint(put_varint(out, f->vehicle), f->first_clock);
    for (int c = 0; c < CHANNELS; c++) {
        int32_t last = 0;
        for (int s = 0; s < SAMPLES; s++) {
            int32_t d = f->v[c][s] - last;
            p = put_varint(p, ((uint32_t)d << 1) ^ (uint32_t)(d >> 31));
            last = f->v[c][s];
        }
    }
    return (size_t)(p - out);
}

static void append(segment_t *seg, const void *data, size_t n)
{
    if (seg->len + n > seg->cap) {
        seg->cap = (seg->len + n) * 2;
        seg->data = realloc(seg->data, seg->cap);
    }
    memcpy(seg->data + seg->len, data, n);
    seg->len += n;
}

static size_t squeeze(const unsigned char *raw, size_t n, unsigned char *out, size_t cap)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    z.next_in = (unsigned char *)raw;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)cap;
    if (deflate(&z, Z_FINISH) != Z_STREAM_END)
        abort();
    size_t len = z.total_out;
    deflateEnd(&z);
    return len;
}

static void store_frame(segment_t *seg, const frame_t *f)
{
    unsigned char raw[FRAME_RAW], packed[FRAME_RAW + 64];
    size_t n = encode_frame(f, raw);
    size_t m = squeeze(raw, n, packed, sizeof packed);
    uint32_t head[3] = { (uint32_t)n, (uint32_t)m, (uint32_t)crc32(0, packed, (uInt)m) };
    append(seg, head, sizeof head);
    append(seg, packed, m);
}

/* Reads the whole segment back; returns the number of good frames. */
static long verify(const segment_t *seg, double *channel_sum)
{
    unsigned char raw[FRAME_RAW];
    size_t at = 0;
    long good = 0;
    z_stream z;
    memset(&z, 0, sizeof z);
    if (inflateInit(&z) != Z_OK)
        abort();
    while (at < seg->len) {
        uint32_t head[3];
        memcpy(head, seg->data + at, sizeof head);
        at += sizeof head;
        if (crc32(0, seg->data + at, head[1]) == head[2]) {
            z.next_in = seg->data + at;
            z.avail_in = head[1];
            z.next_out = raw;
            z.avail_out = sizeof raw;
            if (inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == head[0]) {
                uint32_t v;
                const unsigned char *p = get_varint(get_varint(raw, &v), &v);
                for (int c = 0; c < CHANNELS; c++) {
                    int32_t last = 0;
                    for (int s = 0; s < SAMPLES; s++) {
                        p = get_varint(p, &v);
                        last += (int32_t)(v >> 1) ^ -(int32_t)(v & 1);
                        channel_sum[c] += last;
                    }
                }
                good++;
            }
            inflateReset(&z);
        }
        at += head[1];
    }
    inflateEnd(&z);
    return good;
}

int main(void)
{
    static vehicle_t fleet[VEHICLES];
    segment_t seg = { 0 };
    double sums[CHANNELS] = { 0 };
    frame_t f;
    for (int i = 0; i < VEHICLES; i++)
        fleet[i].phase = i * 0.7;
    for (long k = 0; k < FRAMES; k++) {
        uint32_t id = next_random() % VEHICLES;
        sample_vehicle(&fleet[id], id, &f);
        store_frame(&seg, &f);
    }
    long good = verify(&seg, sums);
    printf("frames %d good %ld  segment %zu bytes  mean of channel 0: %.4f, of channel 5: %.4f\n", FRAMES, good,
           seg.len, sums[0] / good / SAMPLES, sums[5] / good / SAMPLES);
    free(seg.data);
    return good == FRAMES ? 0 : 1;
}
