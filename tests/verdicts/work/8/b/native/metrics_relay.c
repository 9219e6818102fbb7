/*
 * metrics_relay: one thread plays an application that emits counters and timings
 * in the line protocol of statsd, the other receives and aggregates them.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINES 340000
#define TABLE 4096
#define MAX_LINE 256

struct series {
    char name[MAX_LINE];
    char kind;
    uint64_t n;
    double sum, max;
};

static struct series table[TABLE];

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static uint64_t next(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s >> 11;
}

static void write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0) {
            if (errno == EINTR)
                continue;
            die("write");
        }
        p += k;
        n -= (size_t)k;
    }
}

static void *emit(void *arg)
{
    static const char *host[] = { "web", "api", "queue", "db", "cache", "auth" };
    static const char *what[] = { "latency", "requests", "errors", "bytes", "depth" };
    int fd = *(int *)arg;
    uint64_t s = 0x2545f4914f6cdd1dull;
    char out[8192];
    size_t len = 0;
    for (int i = 0; i < LINES; i++) {
        uint64_t r = next(&s);
        const char *w = what[(r >> 8) % 5];
        if (len + MAX_LINE > sizeof out) {
            write_all(fd, out, len);
            len = 0;
        }
        len += (size_t)snprintf(out + len, MAX_LINE, "%s-%02u.%s:%u.%02u|%s|#zone-%u\n",
                                host[r % 6], (unsigned)((r >> 16) % 40), w,
                                (unsigned)((r >> 24) % 2000), (unsigned)((r >> 36) % 100),
                                w[0] == 'l' ? "ms" : "c", (unsigned)((r >> 30) % 3));
    }
    write_all(fd, out, len);
    shutdown(fd, SHUT_WR);
    return NULL;
}

/* Returns the length of the line without its end, or -1 at the end of the stream. */
static int read_line(int fd, char *line, int cap)
{
    int n = 0;
    for (;;) {
        char c;
        ssize_t k = read(fd, &c, 1);
        if (k < 0) {
            if (errno == EINTR)
                continue;
            die("read");
        }
        if (k == 0)
            return n ? n : -1;
        if (c == '\n')
            break;
        if (n < cap - 1)
            line[n++] = c;
    }
    line[n] = 0;
    return n;
}

static uint32_t hash_name(const char *s)
{
    uint32_t h = 2166136261u;
    while (*s)
        h = (h ^ (unsigned char)*s++) * 16777619u;
    return h;
}

static struct series *lookup(const char *name, char kind)
{
    uint32_t i = hash_name(name) & (TABLE - 1);
    while (table[i].n) {
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
        i = (i + 1) & (TABLE - 1);
    }
    snprintf(table[i].name, sizeof table[i].name, "%s", name);
    table[i].kind = kind;
    return &table[i];
}

static int aggregate(char *line)
{
    char *colon = strchr(line, ':');
    if (!colon)
        return 0;
    *colon = 0;
    char *end;
    double v = strtod(colon + 1, &end);
    if (*end != '|')
        return 0;
    struct series *s = lookup(line, end[1]);
    s->n++;
    s->sum += v;
    if (v > s->max)
        s->max = v;
    return 1;
}

int main(void)
{
    int sv[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) != 0)
        die("socketpair");
    pthread_t t;
    if (pthread_create(&t, NULL, emit, &sv[0]) != 0)
        die("pthread_create");
    char line[MAX_LINE];
    long good = 0, bad = 0;
    while (read_line(sv[1], line, sizeof line) >= 0) {
        if (aggregate(line))
            good++;
        else
            bad++;
    }
    pthread_join(t, NULL);
    close(sv[0]);
    close(sv[1]);
    int used = 0;
    double timings = 0, counts = 0, peak = 0;
    for (int i = 0; i < TABLE; i++) {
        if (!table[i].n)
            continue;
        used++;
        if (table[i].kind == 'm')
            timings += table[i].sum / (double)table[i].n;
        else
            counts += table[i].sum;
        if (table[i].max > peak)
            peak = table[i].max;
    }
    printf("lines %ld bad %ld series %d timings %.3f counts %.2f peak %.2f\n",
           good, bad, used, timings, counts, peak);
    return bad ? 1 : 0;
}
