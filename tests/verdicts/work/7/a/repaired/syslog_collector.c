/* Collects RFC 5424 messages from a relay over one stream (octet counting as in
 * RFC 6587: "LEN SP MSG"), keeps counts per host, application and severity, and
 * archives the accepted messages in a deflate stream.
 *
 * The relay is a thread that replays a fixed day of traffic. */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#define N_MESSAGES 1800000
#define MAX_MSG 2048
#define TABLE_SIZE 4096
#define ARCHIVE_BLOCK 65536

typedef struct { char name[48]; uint64_t count, bytes; } Counter;
typedef struct { Counter slot[TABLE_SIZE]; unsigned used; } Table;

typedef struct {
    z_stream z;
    unsigned char in[ARCHIVE_BLOCK], out[ARCHIVE_BLOCK];
    size_t in_len;
    uint64_t written;
} Archive;

static const char *const apps[] = { "sshd", "kernel", "postfix/smtpd", "nginx", "cron", "named", "dhcpd", "ntpd" };
static const char *const texts[] = {
    "connection from 10.%u.%u.7 port 51544 accepted", "link state changed on port %u, stp cost %u",
    "lease %u renewed for client in pool %u", "query (cache) denied for zone %u from view %u",
    "request took %u ms, upstream slot %u", "session opened for uid %u by (uid=%u)" };

static uint32_t next_random(uint32_t *s)
{
    *s = *s * 1664525u + 1013904223u;
    return *s >> 8;
}

static void write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t k = write(fd, p, n);
        if (k < 0) {
            if (errno == EINTR)
                continue;
            perror("write");
            exit(1);
        }
        p += k;
        n -= (size_t)k;
    }
}

static void *relay_main(void *arg)
{
    int fd = *(int *)arg;
    uint32_t seed = 77;
    char *out = malloc(70000), msg[MAX_MSG], text[256];
    size_t len = 0;

    for (int i = 0; i < N_MESSAGES; i++) {
        unsigned pri = next_random(&seed) % 192, host = next_random(&seed) % 300;
        snprintf(text, sizeof text, texts[next_random(&seed) % 6], next_random(&seed) % 250, next_random(&seed) % 250);
        int n = snprintf(msg, sizeof msg, "<%u>1 2024-03-%02uT%02d:%02d:%02dZ host%03u.lan %s %u ID%u - %s", pri,
                         1 + i / 40000 % 28, i / 3600 % 24, i / 60 % 60, i % 60, host, apps[next_random(&seed) % 8],
                         1000 + host, i % 97, text);
        len += (size_t)sprintf(out + len, "%d %s", n, msg);
        if (len > 60000) {
            write_all(fd, out, len);
            len = 0;
        }
    }
    write_all(fd, out, len);
    shutdown(fd, SHUT_WR);
    free(out);
    return NULL;
}

static Counter *table_get(Table *t, const char *name, size_t n)
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)name[i]) * 16777619u;
    for (h &= TABLE_SIZE - 1; t->slot[h].name[0]; h = (h + 1) & (TABLE_SIZE - 1))
        if (!strncmp(t->slot[h].name, name, n) && !t->slot[h].name[n])
            return &t->slot[h];
    memcpy(t->slot[h].name, name, n);
    t->used++;
    return &t->slot[h];
}

static void archive_flush(Archive *a, int how)
{
    a->z.next_in = a->in;
    a->z.avail_in = (uInt)a->in_len;
    do {
        a->z.next_out = a->out;
        a->z.avail_out = sizeof a->out;
        deflate(&a->z, how);
        a->written += sizeof a->out - a->z.avail_out;
    } while (a->z.avail_out == 0);
    a->in_len = 0;
}

static void archive_add(Archive *a, const char *msg, size_t n)
{
    if (a->in_len + n + 1 > sizeof a->in)
        archive_flush(a, Z_NO_FLUSH);
    memcpy(a->in + a->in_len, msg, n);
    a->in_len += n;
    a->in[a->in_len++] = '\n';
}

typedef struct { int fd; size_t pos, len; char buf[65536]; } Reader;

static int reader_fill(Reader *r)
{
    ssize_t k = read(r->fd, r->buf, sizeof r->buf);
    if (k <= 0)
        return 0;
    r->pos = 0;
    r->len = (size_t)k;
    return 1;
}

/* Reads one frame into msg; returns its length, or -1 at the end of the stream. */
static int read_frame(Reader *r, char *msg)
{
    int len = 0;

    for (;;) {
        if (r->pos == r->len && !reader_fill(r))
            return -1;
        char c = r->buf[r->pos++];
        if (c == ' ')
            break;
        if (c < '0' || c > '9' || len > MAX_MSG)
            return -1;
        len = len * 10 + (c - '0');
    }
    if (len >= MAX_MSG)
        return -1;
    for (size_t have = 0; have < (size_t)len;) {
        if (r->pos == r->len && !reader_fill(r))
            return -1;
        size_t k = r->len - r->pos;
        if (k > (size_t)len - have)
            k = (size_t)len - have;
        memcpy(msg + have, r->buf + r->pos, k);
        r->pos += k;
        have += k;
    }
    msg[len] = 0;
    return len;
}

int main(void)
{
    int sv[2], n;
    pthread_t relay;
    char msg[MAX_MSG];
    static Reader reader;
    Table *hosts = calloc(1, sizeof *hosts), *by_app = calloc(1, sizeof *by_app);
    Archive *archive = calloc(1, sizeof *archive);
    uint64_t severity[8] = { 0 }, total = 0, kept = 0;

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) || deflateInit(&archive->z, 1) != Z_OK)
        return 1;
    reader.fd = sv[0];
    pthread_create(&relay, NULL, relay_main, &sv[1]);
    while ((n = read_frame(&reader, msg)) >= 0) {
        unsigned pri = (unsigned)strtoul(msg + 1, NULL, 10);
        char *host = strchr(strchr(msg, ' ') + 1, ' ') + 1, *app = strchr(host, ' ') + 1;
        Counter *h = table_get(hosts, host, (size_t)(app - host - 1)), *a = table_get(by_app, app, strcspn(app, " "));
        h->count++, h->bytes += (uint64_t)n;
        a->count++, a->bytes += (uint64_t)n;
        severity[pri & 7]++;
        total++;
        if ((pri & 7) <= 4) {
            archive_add(archive, msg, (size_t)n);
            kept++;
        }
    }
    pthread_join(relay, NULL);
    archive_flush(archive, Z_FINISH);
    deflateEnd(&archive->z);
    printf("messages %lu  hosts %u  apps %u  kept %lu  archive %.1f MB  errors %lu\n", total, hosts->used, by_app->used,
           kept, (double)archive->written / 1e6, severity[3]);
    return total == N_MESSAGES ? 0 : 1;
}
