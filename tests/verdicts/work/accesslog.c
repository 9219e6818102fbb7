/* Summarise a web server access log: hits, bytes and status classes per URL. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TABLE 4096
#define LINES 52000
#define RECENT 4000

struct url { char path[64]; unsigned long hits, bytes, errors; };
static struct url table[TABLE];
static unsigned long by_hour[24], by_class[6];
static unsigned char recent[RECENT][64];
static unsigned long bursts;
static double reading;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static void make_log(const char *name)
{
    FILE *f = fopen(name, "w");
    unsigned s = 12345;
    for (int i = 0; i < LINES; i++) {
        s = s * 1103515245u + 12345u;
        unsigned r = s >> 8;
        int status = r % 50 == 0 ? 500 : r % 17 == 0 ? 404 : r % 5 == 0 ? 304 : 200;
        fprintf(f, "10.%u.%u.%u - - [12/Mar/2024:%02d:%02d:%02d +0000] \"GET /shop/item/%u HTTP/1.1\" %d %u\n",
                r % 7, r % 200, r % 251, i * 24 / LINES, r % 60, (r >> 4) % 60, r % 1500, status, r % 20000);
    }
    fclose(f);
}

#ifdef REPAIRED
static char block[65536];
static ssize_t have, at;
static int next_char(int fd, char *c)
{
    if (at == have) {
        have = read(fd, block, sizeof block);
        at = 0;
        if (have <= 0) return 0;
    }
    *c = block[at++];
    return 1;
}
#else
static int next_char(int fd, char *c) { return read(fd, c, 1) == 1; }
#endif

static int next_line(int fd, char *line, int max)
{
    int n = 0;
    char c;
    while (n < max - 1 && next_char(fd, &c)) {
        if (c == '\n') { line[n] = 0; return 1; }
        line[n++] = c;
    }
    line[n] = 0;
    return n > 0;
}

static struct url *find_url(const char *p, size_t n)
{
    unsigned h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ (unsigned char)p[i]) * 16777619u;
    unsigned i = h % TABLE;
    while (table[i].path[0] && (strncmp(table[i].path, p, n) || table[i].path[n])) i = (i + 1) % TABLE;
    if (!table[i].path[0]) memcpy(table[i].path, p, n);
    return &table[i];
}

/* A request that looks nearly like many of the last ones is part of a burst. */
static void note_burst(const char *line, unsigned long number)
{
    unsigned char mine[64] = {0};
    int alike = 0;
    for (const char *p = line; p[1]; p++) mine[(p[0] * 31 + p[1]) & 63]++;
    for (int r = 0; r < RECENT; r++) {
        int distance = 0;
        for (int i = 0; i < 64; i++) distance += abs(mine[i] - recent[r][i]);
        alike += distance < 24;
    }
    bursts += alike > 120;
    memcpy(recent[number % RECENT], mine, 64);
}

static int account(const char *line)
{
    const char *t = strchr(line, '[');
    const char *q = strchr(line, '"');
    if (!t || !q) return 0;
    const char *p = strchr(q, ' ') + 1, *e = strchr(p, ' ');
    const char *s = strchr(e, '"') + 2;
    int hour = atoi(strchr(t, ':') + 1), status = atoi(s);
    unsigned long bytes = strtoul(s + 4, NULL, 10);
    struct url *u = find_url(p, (size_t)(e - p));
    u->hits++;
    u->bytes += bytes;
    if (status >= 400) u->errors++;
    by_hour[hour % 24]++;
    by_class[status / 100 % 6]++;
    return 1;
}

static int by_hits(const void *a, const void *b)
{
    const struct url *x = a, *y = b;
    return x->hits < y->hits ? 1 : x->hits > y->hits ? -1 : strcmp(x->path, y->path);
}

int main(void)
{
    char name[64], line[1024];
    double start = now();
    snprintf(name, sizeof name, "/var/tmp/access-%d.log", (int)getpid());
    make_log(name);
    int fd = open(name, O_RDONLY);
    unsigned long good = 0;
    for (;;) {
        double t = now();
        int more = next_line(fd, line, sizeof line);
        reading += now() - t;
        if (!more) break;
        note_burst(line, good);
        good += account(line);
    }
    close(fd);
    unlink(name);
    qsort(table, TABLE, sizeof table[0], by_hits);
    for (int i = 0; i < 5; i++)
        printf("%-20s %6lu hits %10lu bytes %4lu errors\n", table[i].path, table[i].hits, table[i].bytes, table[i].errors);
    printf("lines %lu, 2xx %lu 3xx %lu 4xx %lu 5xx %lu, noon %lu, bursts %lu\n", good, by_class[2], by_class[3], by_class[4], by_class[5], by_hour[12], bursts);
    double total = now() - start;
#ifdef REPAIRED
    reading = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", reading / total, total);
    return 0;
}
