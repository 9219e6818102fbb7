/* Ships log batches: formats records, compresses each batch with one
 * long-lived deflate stream, verifies it and keeps size statistics. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

#define BATCH_BYTES (256 * 1024)

static const char *const levels[] = {"INFO", "WARN", "DEBUG", "ERROR"};
static const char *const parts[] = {"auth", "billing", "search", "cart", "mailer", "media"};

typedef struct {
    z_stream def, inf;
    unsigned char *packed, *plain;
    size_t packed_cap;
} shipper_t;

static uint32_t next_rand(uint32_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    *s ^= *s << 5;
    return *s;
}

static size_t put_str(char *out, const char *s)
{
    size_t n = strlen(s);
    memcpy(out, s, n);
    return n;
}

static size_t put_num(char *out, uint32_t v)
{
    char tmp[12];
    size_t n = 0, k = 0;
    do {
        tmp[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    while (n)
        out[k++] = tmp[--n];
    return k;
}

static size_t format_batch(char *out, uint32_t *seed, uint32_t *clock)
{
    size_t n = 0;
    while (n < BATCH_BYTES - 256) {
        uint32_t r = next_rand(seed);
        *clock += r & 7;
        n += put_num(out + n, *clock);
        out[n++] = ' ';
        n += put_str(out + n, levels[(r >> 3) & 3]);
        out[n++] = ' ';
        n += put_str(out + n, parts[(r >> 5) % 6]);
        n += put_str(out + n, " request id=");
        n += put_num(out + n, r);
        n += put_str(out + n, " took_us=");
        n += put_num(out + n, (r >> 9) % 50000);
        out[n++] = '\n';
    }
    return n;
}

static void shipper_open(shipper_t *s)
{
    memset(s, 0, sizeof *s);
    if (deflateInit(&s->def, 6) != Z_OK || inflateInit(&s->inf) != Z_OK)
        exit(1);
    s->packed_cap = deflateBound(&s->def, BATCH_BYTES);
    s->packed = malloc(s->packed_cap);
    s->plain = malloc(BATCH_BYTES);
    if (!s->packed || !s->plain)
        exit(1);
}

static size_t pack(shipper_t *s, const char *text, size_t n)
{
    deflateReset(&s->def);
    s->def.next_in = (unsigned char *)text;
    s->def.avail_in = (uInt)n;
    s->def.next_out = s->packed;
    s->def.avail_out = (uInt)s->packed_cap;
    if (deflate(&s->def, Z_FINISH) != Z_STREAM_END)
        exit(1);
    return s->def.total_out;
}

static int verify(shipper_t *s, size_t packed, const char *text, size_t n)
{
    inflateReset(&s->inf);
    s->inf.next_in = s->packed;
    s->inf.avail_in = (uInt)packed;
    s->inf.next_out = s->plain;
    s->inf.avail_out = BATCH_BYTES;
    if (inflate(&s->inf, Z_FINISH) != Z_STREAM_END)
        return 0;
    return s->inf.total_out == n && memcmp(s->plain, text, n) == 0;
}

int main(int argc, char **argv)
{
    int batches = argc > 1 ? atoi(argv[1]) : 620;
    static char text[BATCH_BYTES];
    shipper_t s;
    uint32_t seed = 99, clock = 1000000;
    unsigned long long in = 0, out = 0;
    uLong crc = crc32(0, NULL, 0);
    int bad = 0;

    shipper_open(&s);
    for (int b = 0; b < batches; b++) {
        size_t n = format_batch(text, &seed, &clock);
        size_t p = pack(&s, text, n);
        bad += !verify(&s, p, text, n);
        crc = crc32(crc, s.packed, (uInt)p);
        in += n;
        out += p;
        DWELL_STEP();
    }
    printf("in %llu out %llu crc %08lx bad %d\n", in, out, crc, bad);
    deflateEnd(&s.def);
    inflateEnd(&s.inf);
    free(s.packed);
    free(s.plain);
    return bad != 0;
}
