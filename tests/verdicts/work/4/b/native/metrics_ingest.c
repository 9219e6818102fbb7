/* Ingest stage of the metrics collector: parses line protocol, finds the
 * series, and keeps a running summary per series. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 65536
#define LINES 9000000
#define HOSTS 1200
#define BATCH (1 << 20)

typedef struct Series {
    char *key;
    size_t key_len;
    uint32_t hash;
    uint64_t count;
    double sum, min, max;
    int64_t last_ts;
    struct Series *next;
} Series;

typedef struct {
    Series **buckets;
    size_t n_series;
    uint64_t bad_lines;
} Registry;

static const char *metrics[] = {
    "cpu.user", "cpu.system", "cpu.iowait", "mem.used", "mem.cached",
    "disk.read_bytes", "disk.write_bytes", "net.rx_bytes", "net.tx_bytes", "load.1m",
};
#define N_METRICS (sizeof metrics / sizeof *metrics)

static uint32_t hash_key(const char *s, size_t n)
{
    uint32_t h = 0;
    for (size_t i = 0; i < n; i++)
        h += (unsigned char)s[i] * 17u;
    return h;
}

static Series *series_get(Registry *r, const char *key, size_t n)
{
    uint32_t h = hash_key(key, n);
    Series **slot = &r->buckets[h % BUCKETS];
    for (Series *s = *slot; s; s = s->next)
        if (s->hash == h && s->key_len == n && memcmp(s->key, key, n) == 0)
            return s;
    Series *s = calloc(1, sizeof *s);
    s->key = malloc(n + 1);
    memcpy(s->key, key, n);
    s->key[n] = 0;
    s->key_len = n;
    s->hash = h;
    s->next = *slot;
    *slot = s;
    r->n_series++;
    return s;
}

static void series_add(Series *s, double v, int64_t ts)
{
    if (s->count == 0 || v < s->min) s->min = v;
    if (s->count == 0 || v > s->max) s->max = v;
    s->sum += v;
    s->count++;
    if (ts > s->last_ts) s->last_ts = ts;
}

/* "name,host=h123,dc=x value ts" */
static int ingest_line(Registry *r, const char *line, const char *end)
{
    const char *sp = memchr(line, ' ', (size_t)(end - line));
    if (!sp || sp == line) return -1;
    char *after;
    double v = strtod(sp + 1, &after);
    if (after == sp + 1 || *after != ' ') return -1;
    int64_t ts = strtoll(after + 1, &after, 10);
    series_add(series_get(r, line, (size_t)(sp - line)), v, ts);
    return 0;
}

static void ingest_batch(Registry *r, const char *buf, size_t n)
{
    const char *p = buf, *stop = buf + n;
    while (p < stop) {
        const char *eol = memchr(p, '\n', (size_t)(stop - p));
        if (!eol) break;
        if (ingest_line(r, p, eol) < 0) r->bad_lines++;
        p = eol + 1;
    }
}

static char *put_int(char *p, int64_t v)
{
    char tmp[24];
    int n = 0;
    do {
        tmp[n++] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    while (n) *p++ = tmp[--n];
    return p;
}

static char *put_str(char *p, const char *s)
{
    size_t n = strlen(s);
    memcpy(p, s, n);
    return p + n;
}

/* Stands in for the agents: appends one sample to the wire buffer. */
static char *agent_sample(char *p, uint64_t *rng, int64_t ts)
{
    *rng = *rng * 6364136223846793005ull + 1442695040888963407ull;
    uint32_t a = (uint32_t)(*rng >> 33);
    int host = (int)(a % HOSTS);
    p = put_str(p, metrics[(a / HOSTS) % N_METRICS]);
    p = put_str(p, ",host=h");
    p = put_int(p, 1000 + host);
    p = put_str(p, host % 3 ? ",dc=fra" : ",dc=ams");
    *p++ = ' ';
    p = put_int(p, (int64_t)(*rng >> 50));
    *p++ = '.';
    p = put_int(p, (int64_t)(*rng >> 20 & 7));
    *p++ = ' ';
    p = put_int(p, ts);
    *p++ = '\n';
    return p;
}

int main(void)
{
    Registry reg = { calloc(BUCKETS, sizeof(Series *)), 0, 0 };
    char *buf = malloc(BATCH + 256), *p = buf;
    uint64_t rng = 99;
    for (int i = 0; i < LINES; i++) {
        p = agent_sample(p, &rng, 1700000000 + i / 1000);
        if (p - buf >= BATCH) {
            ingest_batch(&reg, buf, (size_t)(p - buf));
            p = buf;
        }
    }
    ingest_batch(&reg, buf, (size_t)(p - buf));

    uint64_t samples = 0;
    double sum = 0, peak = 0;
    for (int b = 0; b < BUCKETS; b++)
        for (Series *s = reg.buckets[b]; s; s = s->next) {
            samples += s->count;
            sum += s->sum;
            if (s->max > peak) peak = s->max;
        }
    printf("series %zu samples %llu mean %.4f peak %.1f bad %llu\n", reg.n_series,
           (unsigned long long)samples, sum / (double)samples, peak,
           (unsigned long long)reg.bad_lines);
    return 0;
}
