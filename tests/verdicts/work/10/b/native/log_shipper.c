/* log_shipper - packs access-log events into compressed frames and hands them
 * to a collector thread over a pipe; the collector unpacks and aggregates.
 * Frame layout: u32 packed length, u32 plain length, zlib stream. */
#include <dwell/probe.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define EVENTS_PER_BATCH 400
#define N_BATCHES 600
#define MAX_PLAIN 2048
#define MAX_PACKED 4096

typedef struct { uint32_t packed, plain; } frame_hdr_t;

typedef struct {
    int fd;
    uint64_t events, bytes, errors;
    uint32_t crc;
} collector_t;

typedef struct {
    int fd;
    z_stream z;
    uint64_t plain, packed;
    unsigned char buf[sizeof(frame_hdr_t) + MAX_PACKED];
} shipper_t;

static uint64_t state = 0x9E3779B97F4A7C15ULL;

static uint32_t rnd(uint32_t n)
{
    state ^= state << 7; state ^= state >> 9;
    return (uint32_t)(state >> 20) % n;
}

static void die(const char *what) { perror(what); exit(1); }

static void write_all(int fd, const void *p, size_t n)
{
    const char *c = p;
    while (n) {
        ssize_t k = write(fd, c, n);
        if (k < 0) die("write");
        c += k; n -= (size_t)k;
    }
}

static size_t format_event(char *out, uint64_t t)
{
    static const char *method[] = {"GET", "POST", "PUT", "DELETE"};
    static const char *res[] = {"orders", "customers", "invoices", "carts", "sessions"};
    static const char *agent[] = {"okhttp/4.12", "Mozilla/5.0 (X11; Linux x86_64)", "curl/8.5.0"};
    uint32_t st = rnd(50);
    return (size_t)snprintf(out, MAX_PLAIN,
        "{\"ts\":%llu,\"host\":\"edge-%02u\",\"method\":\"%s\",\"path\":\"/api/v2/%s/%u\","
        "\"status\":%d,\"ms\":%u.%03u,\"bytes\":%u,\"agent\":\"%s\",\"trace\":\"%08x%08x\"}\n",
        (unsigned long long)t, rnd(24), method[rnd(4)], res[rnd(5)], rnd(90000),
        st == 0 ? 500 : st < 4 ? 404 : 200, rnd(900), rnd(1000), rnd(60000), agent[rnd(3)],
        rnd(0xffffffffu), rnd(0xffffffffu));
}

static void shipper_open(shipper_t *s, int fd)
{
    memset(s, 0, sizeof *s);
    s->fd = fd;
}

static void shipper_send(shipper_t *s, const char *plain, size_t n)
{
    if (deflateInit2(&s->z, 6, Z_DEFLATED, 15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        die("deflateInit2");
    s->z.next_in = (unsigned char *)plain;
    s->z.avail_in = (uInt)n;
    s->z.next_out = s->buf + sizeof(frame_hdr_t);
    s->z.avail_out = MAX_PACKED;
    if (deflate(&s->z, Z_FINISH) != Z_STREAM_END) die("deflate");
    frame_hdr_t h = {(uint32_t)(MAX_PACKED - s->z.avail_out), (uint32_t)n};
    memcpy(s->buf, &h, sizeof h);
    write_all(s->fd, s->buf, sizeof h + h.packed);
    s->plain += n;
    s->packed += h.packed;
    deflateEnd(&s->z);
}

static void shipper_close(shipper_t *s)
{
    close(s->fd);
}

static int fill(FILE *f, void *p, size_t n) { return fread(p, 1, n, f) == n; }

static void *collector_main(void *arg)
{
    collector_t *c = arg;
    FILE *f = fdopen(c->fd, "rb");
    static char iobuf[1 << 16];
    unsigned char packed[MAX_PACKED];
    char plain[MAX_PLAIN];
    frame_hdr_t h;
    z_stream z;
    memset(&z, 0, sizeof z);
    if (inflateInit(&z) != Z_OK) die("inflateInit");
    setvbuf(f, iobuf, _IOFBF, sizeof iobuf);
    while (fill(f, &h, sizeof h) && h.packed <= MAX_PACKED && fill(f, packed, h.packed)) {
        inflateReset(&z);
        z.next_in = packed;
        z.avail_in = h.packed;
        z.next_out = (unsigned char *)plain;
        z.avail_out = MAX_PLAIN - 1;
        if (inflate(&z, Z_FINISH) != Z_STREAM_END || z.total_out != h.plain) die("inflate");
        plain[h.plain] = 0;
        const char *st = strstr(plain, "\"status\":");
        if (st && atoi(st + 9) >= 500) c->errors++;
        c->crc = (uint32_t)crc32(c->crc, (unsigned char *)plain, h.plain);
        c->events++;
        c->bytes += h.plain;
    }
    inflateEnd(&z);
    fclose(f);
    return NULL;
}

int main(void)
{
    int fds[2];
    pthread_t th;
    if (pipe(fds)) die("pipe");
    collector_t col = {.fd = fds[0]};
    if (pthread_create(&th, NULL, collector_main, &col)) die("pthread_create");

    static shipper_t ship;
    char line[MAX_PLAIN];
    uint64_t now = 1700000000000ULL;
    shipper_open(&ship, fds[1]);
    for (int b = 0; b < N_BATCHES; b++) {
        DWELL_STEP();
        for (int i = 0; i < EVENTS_PER_BATCH; i++) {
            now += rnd(40);
            size_t n = format_event(line, now);
            shipper_send(&ship, line, n);
        }
    }
    shipper_close(&ship);
    pthread_join(th, NULL);
    printf("events %llu bytes %llu errors %llu crc %08x ratio %.4f\n",
           (unsigned long long)col.events, (unsigned long long)col.bytes,
           (unsigned long long)col.errors, col.crc, (double)ship.packed / (double)ship.plain);
    return 0;
}
