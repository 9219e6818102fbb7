/* Summarises rotated, gzip-compressed web server logs: status codes, bytes per
 * route, latency percentiles and the busiest clients. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define FILES 6
#define LINES_PER_FILE 1000000
#define CLIENTS 65536
#define BUCKETS 4096

static const char *routes[] = { "/api/v2/orders", "/api/v2/orders/items", "/static/app.js",
    "/login", "/search", "/healthz", "/api/v2/users/profile", "/images/logo.png" };
#define ROUTES (sizeof routes / sizeof *routes)

typedef struct {
    uint64_t lines, malformed, status[6], bytes[ROUTES + 1];
    uint32_t client_hits[CLIENTS], latency[BUCKETS];
} Summary;

static uint64_t state = 88172645463325252ull;
static uint32_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 29);
}

static void write_log(const char *path)
{
    static const int codes[] = { 200, 200, 200, 200, 304, 404, 500, 302 };
    gzFile f = gzopen(path, "wb1");
    char block[1 << 16];
    int used = 0;
    for (int i = 0; i < LINES_PER_FILE; i++) {
        uint32_t a = rnd(), b = rnd();
        used += sprintf(block + used, "10.%u.%u.7 - \"GET %s HTTP/1.1\" %d %u %u\n", a % 16, (a >> 8) % 256,
                        routes[b % ROUTES], codes[(b >> 8) % 8], (b >> 12) % 60000, (a >> 16) * (a >> 20) % 3000);
        if (used > (int)sizeof block - 256) {
            gzwrite(f, block, used);
            used = 0;
        }
    }
    gzwrite(f, block, used);
    gzclose(f);
}

static int read_line(gzFile f, char *line, int cap)
{
    if (!gzgets(f, line, cap))
        return -1;
    int n = (int)strlen(line);
    if (n && line[n - 1] == '\n')
        line[--n] = 0;
    return n;
}

static uint32_t number(const char **p)
{
    uint32_t v = 0;
    while (**p >= '0' && **p <= '9')
        v = v * 10 + (uint32_t)(*(*p)++ - '0');
    return v;
}

static int route_index(const char *p, size_t n)
{
    for (size_t r = 0; r < ROUTES; r++)
        if (strlen(routes[r]) == n && memcmp(routes[r], p, n) == 0)
            return (int)r;
    return ROUTES;
}

static void account_line(Summary *s, const char *line)
{
    const char *p = line;
    s->lines++;
    uint32_t octet[4];
    for (int i = 0; i < 4; i++) {
        octet[i] = number(&p);
        p++;
    }
    const char *req = strstr(p, "GET ");
    const char *end = req ? strchr(req + 4, ' ') : NULL;
    const char *tail = end ? strchr(end, '"') : NULL;
    if (!tail) {
        s->malformed++;
        return;
    }
    int route = route_index(req + 4, (size_t)(end - req - 4));
    p = tail + 2;
    uint32_t status = number(&p);
    p++;
    uint32_t bytes = number(&p);
    p++;
    uint32_t ms = number(&p);
    s->status[status / 100 < 6 ? status / 100 : 0]++;
    s->bytes[route] += bytes;
    s->latency[ms < BUCKETS ? ms : BUCKETS - 1]++;
    s->client_hits[(octet[1] << 8 | octet[2]) & (CLIENTS - 1)]++;
}

static uint32_t percentile(const Summary *s, double q)
{
    uint64_t want = (uint64_t)(s->lines * q), seen = 0;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        seen += s->latency[i];
        if (seen >= want)
            return i;
    }
    return BUCKETS;
}

int main(void)
{
    Summary *s = calloc(1, sizeof *s);
    char path[64], line[1024];

    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "/tmp/accesslog_scan.%d.gz", i);
        write_log(path);
    }
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "/tmp/accesslog_scan.%d.gz", i);
        gzFile f = gzopen(path, "rb");
        if (!f) {
            perror(path);
            return 1;
        }
        gzbuffer(f, 1 << 17);
        while (read_line(f, line, sizeof line) >= 0)
            account_line(s, line);
        gzclose(f);
        remove(path);
    }

    uint32_t top = 0;
    for (uint32_t i = 0; i < CLIENTS; i++)
        if (s->client_hits[i] > s->client_hits[top])
            top = i;
    printf("lines %llu malformed %llu\n", (unsigned long long)s->lines, (unsigned long long)s->malformed);
    for (int i = 2; i < 6; i++)
        printf("%dxx %llu\n", i, (unsigned long long)s->status[i]);
    for (size_t r = 0; r < ROUTES; r++)
        printf("%-24s %llu\n", routes[r], (unsigned long long)s->bytes[r]);
    printf("p50 %u p95 %u p99 %u\n", percentile(s, .5), percentile(s, .95), percentile(s, .99));
    printf("busiest 10.%u.%u.7 %u\n", top >> 8, top & 255, s->client_hits[top]);
    free(s);
    return 0;
}
