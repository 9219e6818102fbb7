/* Rolls up a day's access logs of a web shop.
 *
 * Each hour's log is packed for the archive; afterwards every packed hour is read back,
 * checked and counted into a table of paths. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define HOURS 24
#define LINES_PER_HOUR 140000
#define CHUNK 65536
#define TABLE 4096
#define PATH_LEN 64

typedef struct {
    char path[PATH_LEN];
    uint64_t hits, bytes, errors;
} Row;

typedef struct {
    Row rows[TABLE];
    int used;
} Table;

static uint64_t rng_state = 0x9E3779B97F4A7C15ull;

static unsigned draw(unsigned below)
{
    rng_state ^= rng_state << 13;
    rng_state ^= rng_state >> 7;
    rng_state ^= rng_state << 17;
    return (unsigned)(((rng_state >> 32) * below) >> 32);
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static char *put_number(char *at, unsigned v)
{
    char digits[12];
    int n = 0;
    do
        digits[n++] = (char)('0' + v % 10);
    while (v /= 10);
    while (n)
        *at++ = digits[--n];
    return at;
}

static char *put_text(char *at, const char *s)
{
    size_t len = strlen(s);
    memcpy(at, s, len);
    return at + len;
}

/* Writes one hour of log lines into buf; returns their length. */
static size_t make_hour(char *buf, int hour)
{
    static const char *pages[] = {"/cart", "/checkout", "/search", "/account", "/img/logo.svg", "/api/stock"};
    static const char *agents[] = {"Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0", "Mozilla/5.0 (iPhone) Safari/17.4",
                                   "ShopApp/7.12 (Android 14)"};
    char *at = buf;
    for (unsigned n = 0; n < LINES_PER_HOUR; n++) {
        at = put_text(at, "10.");
        at = put_number(at, draw(8));
        *at++ = '.';
        at = put_number(at, draw(256));
        *at++ = '.';
        at = put_number(at, draw(256));
        at = put_text(at, " [2024-06-11 ");
        at = put_number(at, (unsigned)hour);
        *at++ = ':';
        at = put_number(at, n * 60 / LINES_PER_HOUR);
        at = put_text(at, "] GET ");
        unsigned kind = draw(10);
        if (kind < 6) {
            at = put_text(at, pages[kind]);
        } else {
            at = put_text(at, "/product/");
            at = put_number(at, draw(40) * draw(50));
        }
        *at++ = ' ';
        at = put_text(at, draw(50) == 0 ? "500" : draw(20) == 0 ? "404" : "200");
        *at++ = ' ';
        at = put_number(at, 300 + draw(40000));
        *at++ = ' ';
        at = put_text(at, agents[draw(3)]);
        *at++ = '\n';
    }
    return (size_t)(at - buf);
}

static size_t pack(const char *path, const char *data, size_t len)
{
    gzFile gz = gzopen(path, "wb6");
    if (!gz)
        die(path);
    gzbuffer(gz, CHUNK);
    for (size_t at = 0; at < len; at += CHUNK) {
        unsigned n = (unsigned)(len - at < CHUNK ? len - at : CHUNK);
        if (gzwrite(gz, data + at, n) != (int)n)
            die(path);
    }
    if (gzclose(gz) != Z_OK)
        die(path);
    struct stat st;
    if (stat(path, &st) < 0)
        die(path);
    return (size_t)st.st_size;
}

static Row *find_row(Table *t, const char *path, size_t len)
{
    if (len >= PATH_LEN)
        len = PATH_LEN - 1;
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)path[i]) * 16777619u;
    for (uint32_t slot = (h ^ h >> 15) & (TABLE - 1);; slot = (slot + 1) & (TABLE - 1)) {
        Row *r = &t->rows[slot];
        if (r->path[0] == 0) {
            if (++t->used > TABLE * 3 / 4)
                die("table full");
            memcpy(r->path, path, len);
            return r;
        }
        if (memcmp(r->path, path, len) == 0 && r->path[len] == 0)
            return r;
    }
}

static void count_line(Table *t, const char *line)
{
    const char *path = strstr(line, "GET ");
    if (!path)
        return;
    path += 4;
    size_t len = strcspn(path, " ");
    char *end;
    unsigned long status = strtoul(path + len, &end, 10), bytes = strtoul(end, NULL, 10);
    Row *r = find_row(t, path, len);
    r->hits++;
    r->bytes += bytes;
    r->errors += status >= 500;
}

static uLong unpack(const char *path, Table *t, uint64_t *lines)
{
    gzFile gz = gzopen(path, "rb");
    if (!gz)
        die(path);
    gzbuffer(gz, CHUNK);
    uLong crc = crc32(0, NULL, 0);
    char line[512];
    while (gzgets(gz, line, sizeof line)) {
        crc = crc32(crc, (const Bytef *)line, (uInt)strlen(line));
        count_line(t, line);
        ++*lines;
    }
    gzclose(gz);
    return crc;
}

int main(void)
{
    char dir[] = "/tmp/rollup-XXXXXX", path[64];
    if (!mkdtemp(dir))
        die("mkdtemp");
    char *buf = malloc((size_t)LINES_PER_HOUR * 160);
    Table *table = calloc(1, sizeof *table);
    if (!buf || !table)
        die("malloc");
    uLong sums[HOURS];
    uint64_t raw = 0, packed = 0, lines = 0;
    for (int h = 0; h < HOURS; h++) {
        size_t len = make_hour(buf, h);
        sums[h] = crc32(crc32(0, NULL, 0), (const Bytef *)buf, (uInt)len);
        snprintf(path, sizeof path, "%s/access-%02d.gz", dir, h);
        packed += pack(path, buf, len);
        raw += len;
    }
    int bad = 0;
    for (int h = 0; h < HOURS; h++) {
        snprintf(path, sizeof path, "%s/access-%02d.gz", dir, h);
        bad += unpack(path, table, &lines) != sums[h];
        unlink(path);
    }
    rmdir(dir);
    const Row *top = &table->rows[0];
    uint64_t errors = 0;
    for (int i = 0; i < TABLE; i++) {
        errors += table->rows[i].errors;
        if (table->rows[i].hits > top->hits)
            top = &table->rows[i];
    }
    printf("lines %llu, raw %llu bytes, packed to %.2f%%, bad hours %d\n", (unsigned long long)lines,
           (unsigned long long)raw, 100.0 * (double)packed / (double)raw, bad);
    printf("paths %d, errors %llu, top %s with %llu hits\n", table->used, (unsigned long long)errors, top->path,
           (unsigned long long)top->hits);
    free(table);
    free(buf);
    return bad != 0;
}
