/*
 * logpack: packs service log records into a segment in memory. Every record is
 * compressed by itself, so that a reader can fetch one by its offset.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define RECORDS 90000
#define MAX_RECORD 1024

struct segment {
    unsigned char *data;
    size_t len, cap;
    uint32_t *offset;
    uint16_t *raw_len;
    size_t count;
};

static uint64_t seed = 88172645463325252ull;

static uint32_t rnd(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 16) % n);
}

static size_t make_record(char *out, uint32_t seq)
{
    static const char *level[] = { "INFO", "INFO", "INFO", "DEBUG", "WARN", "ERROR" };
    static const char *svc[] = { "checkout", "inventory", "gateway", "search", "billing" };
    static const char *msg[] = {
        "request completed", "cache miss, falling back to primary",
        "retrying upstream after timeout", "slow query detected in handler",
        "connection returned to pool", "user session refreshed"
    };
    int n = snprintf(out, MAX_RECORD,
                     "{\"ts\":%u.%03u,\"level\":\"%s\",\"service\":\"%s\",\"msg\":\"%s\","
                     "\"trace\":\"%08x%08x\",\"latency_us\":%u,\"fields\":{",
                     1700000000u + seq / 40, rnd(1000), level[rnd(6)], svc[rnd(5)],
                     msg[rnd(6)], rnd(0xffffffffu), rnd(0xffffffffu), 200 + rnd(90000));
    uint32_t extra = 3 + rnd(6);
    for (uint32_t i = 0; i < extra; i++)
        n += snprintf(out + n, MAX_RECORD - (size_t)n, "%s\"attr_%u\":\"value-%u\"",
                      i ? "," : "", i, rnd(5000));
    n += snprintf(out + n, MAX_RECORD - (size_t)n, "}}");
    return (size_t)n;
}

static void reserve(struct segment *s, size_t more)
{
    if (s->len + more <= s->cap)
        return;
    while (s->cap < s->len + more)
        s->cap *= 2;
    s->data = realloc(s->data, s->cap);
    if (!s->data) {
        perror("realloc");
        exit(1);
    }
}

static void packer_open(z_stream *z)
{
    memset(z, 0, sizeof *z);
    if (deflateInit2(z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        fprintf(stderr, "deflateInit2 failed\n");
        exit(1);
    }
}

static size_t pack_record(z_stream *z, const char *rec, size_t n, unsigned char *out, size_t cap)
{
    deflateReset(z);
    z->next_in = (Bytef *)rec;
    z->avail_in = (uInt)n;
    z->next_out = out;
    z->avail_out = (uInt)cap;
    if (deflate(z, Z_FINISH) != Z_STREAM_END) {
        fprintf(stderr, "deflate failed\n");
        exit(1);
    }
    return z->total_out;
}

static void append_record(struct segment *s, z_stream *z, const char *rec, size_t n)
{
    reserve(s, n + 64);
    s->offset[s->count] = (uint32_t)s->len;
    s->raw_len[s->count] = (uint16_t)n;
    s->len += pack_record(z, rec, n, s->data + s->len, n + 64);
    s->count++;
    s->offset[s->count] = (uint32_t)s->len;
}

struct reader {
    z_stream z;
    char buf[MAX_RECORD];
};

static size_t read_record(struct reader *r, const struct segment *s, size_t i)
{
    inflateReset(&r->z);
    r->z.next_in = s->data + s->offset[i];
    r->z.avail_in = s->offset[i + 1] - s->offset[i];
    r->z.next_out = (Bytef *)r->buf;
    r->z.avail_out = MAX_RECORD;
    if (inflate(&r->z, Z_FINISH) != Z_STREAM_END || r->z.total_out != s->raw_len[i]) {
        fprintf(stderr, "record %zu is damaged\n", i);
        exit(1);
    }
    return r->z.total_out;
}

int main(void)
{
    struct segment s = { .cap = 1 << 20 };
    s.data = malloc(s.cap);
    s.offset = malloc((RECORDS + 1) * sizeof *s.offset);
    s.raw_len = malloc(RECORDS * sizeof *s.raw_len);
    if (!s.data || !s.offset || !s.raw_len) {
        perror("malloc");
        return 1;
    }
    z_stream packer;
    packer_open(&packer);
    char rec[MAX_RECORD];
    size_t raw = 0;
    uLong crc_in = crc32(0, NULL, 0), crc_out = crc_in;
    for (uint32_t i = 0; i < RECORDS; i++) {
        size_t n = make_record(rec, i);
        crc_in = crc32(crc_in, (const Bytef *)rec, (uInt)n);
        raw += n;
        append_record(&s, &packer, rec, n);
    }
    deflateEnd(&packer);
    struct reader rd;
    memset(&rd.z, 0, sizeof rd.z);
    if (inflateInit2(&rd.z, -15) != Z_OK)
        return 1;
    for (size_t i = 0; i < s.count; i++) {
        size_t n = read_record(&rd, &s, i);
        crc_out = crc32(crc_out, (const Bytef *)rd.buf, (uInt)n);
    }
    inflateEnd(&rd.z);
    printf("records %zu raw %zu packed %zu ratio %.3f crc %08lx %s\n", s.count, raw, s.len,
           (double)s.len / (double)raw, crc_in, crc_in == crc_out ? "ok" : "MISMATCH");
    free(s.data);
    free(s.offset);
    free(s.raw_len);
    return crc_in == crc_out ? 0 : 1;
}
