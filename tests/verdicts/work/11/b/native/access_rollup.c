/* Rolls web access logs up into per-minute traffic per virtual host. Writes
 * a few days of rotated logs first, then reads them back line by line. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 6, LINES = 420000, HOSTS = 40, MINUTES = 6 * 24 * 60 };

static const time_t first_day = 1714521600;
static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
static uint32_t state = 2463534242u;

struct bucket {
    uint32_t hits, errors;
    uint64_t bytes, micros;
};

struct line {
    time_t when;
    int host, status;
    long bytes, micros;
    const char *path;
    size_t path_length;
};

static struct bucket *table;

static uint32_t rnd(void)
{
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static void write_log(const char *name, int day)
{
    static const char *paths[] = {"/index.html", "/api/v2/items", "/static/app.js", "/cart/checkout", "/search"};
    static const int statuses[] = {200, 200, 200, 200, 304, 404, 500, 200};
    FILE *f = fopen(name, "w");
    if (!f) {
        perror(name);
        exit(1);
    }
    char stamp[40] = "";
    time_t shown = 0;
    for (int i = 0; i < LINES; i++) {
        time_t now = first_day + day * 86400 + (time_t)((uint64_t)i * 86400 / LINES);
        if (now != shown) {
            struct tm tm;
            gmtime_r(&now, &tm);
            strftime(stamp, sizeof stamp, "%d/%b/%Y:%H:%M:%S +0000", &tm);
            shown = now;
        }
        uint32_t r = rnd();
        fprintf(f, "host%02u.example.net 10.%u.%u.%u [%s] \"GET %s?id=%u HTTP/1.1\" %d %u %u\n", r % HOSTS,
                r >> 24, (r >> 16) & 255, (r >> 8) & 255, stamp, paths[(r >> 3) % 5], r % 9973,
                statuses[(r >> 11) % 8], r % 40000, r % 90000);
    }
    fclose(f);
}

static int two(const char *p)
{
    return (p[0] - '0') * 10 + p[1] - '0';
}

/* "01/May/2024:13:05:59 +0000" */
static time_t parse_stamp(const char *p)
{
    struct tm tm = {0};
    char name[4] = {p[3], p[4], p[5], 0};
    const char *at = strstr(months, name);
    tm.tm_mday = two(p);
    tm.tm_mon = at ? (int)(at - months) / 3 : 0;
    tm.tm_year = two(p + 7) * 100 + two(p + 9) - 1900;
    tm.tm_hour = two(p + 12);
    tm.tm_min = two(p + 15);
    tm.tm_sec = two(p + 18);
    return mktime(&tm) - timezone;
}

static int parse_line(char *text, struct line *out)
{
    if (strncmp(text, "host", 4) != 0)
        return 0;
    out->host = two(text + 4);
    char *open = strchr(text, '[');
    if (!open)
        return 0;
    out->when = parse_stamp(open + 1);
    char *quote = strchr(open, '"');
    if (!quote)
        return 0;
    char *space = strchr(quote, ' ');
    out->path = space + 1;
    out->path_length = strcspn(out->path, "? ");
    char *end = strchr(quote + 1, '"');
    if (!end)
        return 0;
    out->status = (int)strtol(end + 1, &end, 10);
    out->bytes = strtol(end, &end, 10);
    out->micros = strtol(end, &end, 10);
    return 1;
}

static uint64_t path_hash(const struct line *l)
{
    uint64_t h = 1469598103934665603ull;
    for (size_t i = 0; i < l->path_length; i++)
        h = (h ^ (unsigned char)l->path[i]) * 1099511628211ull;
    return h;
}

static long roll_up(const char *name, uint64_t *paths)
{
    FILE *f = fopen(name, "r");
    char *text = NULL;
    size_t room = 0;
    long used = 0;
    if (!f) {
        perror(name);
        exit(1);
    }
    while (getline(&text, &room, f) > 0) {
        struct line l;
        if (!parse_line(text, &l))
            continue;
        long minute = (long)(l.when - first_day) / 60;
        if (minute < 0 || minute >= MINUTES)
            continue;
        struct bucket *b = &table[minute * HOSTS + l.host];
        b->hits++;
        b->errors += l.status >= 500;
        b->bytes += (uint64_t)l.bytes;
        b->micros += (uint64_t)l.micros;
        paths[path_hash(&l) % 64]++;
        used++;
    }
    free(text);
    fclose(f);
    return used;
}

int main(void)
{
    char dir[] = "/tmp/access-XXXXXX", name[64];
    if (!mkdtemp(dir))
        return 1;
    table = calloc((size_t)MINUTES * HOSTS, sizeof *table);
    uint64_t paths[64] = {0};
    long lines = 0;
    for (int day = 0; day < FILES; day++) {
        snprintf(name, sizeof name, "%s/access.log.%d", dir, day);
        write_log(name, day);
        lines += roll_up(name, paths);
        unlink(name);
    }
    rmdir(dir);

    uint64_t bytes = 0, errors = 0, peak = 0;
    for (size_t i = 0; i < (size_t)MINUTES * HOSTS; i++) {
        bytes += table[i].bytes;
        errors += table[i].errors;
        if (table[i].hits > peak)
            peak = table[i].hits;
    }
    int distinct = 0;
    for (int i = 0; i < 64; i++)
        distinct += paths[i] != 0;
    printf("lines %ld bytes %llu errors %llu\n", lines, (unsigned long long)bytes, (unsigned long long)errors);
    printf("peak hits per host and minute %llu, paths %d\n", (unsigned long long)peak, distinct);
    free(table);
    return 0;
}
