/* Replicates a batch of records to a peer over a length-prefixed protocol.
 * The peer runs in a thread so that the program is self-contained. */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef USE_DWELL
#include <dwell.h>
#else
#define DWELL_STEP() ((void)0)
#endif

#define RECORDS 110
#define BODY_MAX 1200

struct header {
    uint32_t op;
    uint32_t key;
    uint32_t len;
};

struct reply {
    uint32_t status;
    uint32_t digest;
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void read_full(int fd, void *p, size_t n)
{
    char *c = p;
    while (n > 0) {
        ssize_t r = read(fd, c, n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            die("read");
        c += r;
        n -= (size_t)r;
    }
}

static void write_full(int fd, const void *p, size_t n)
{
    const char *c = p;
    while (n > 0) {
        ssize_t r = write(fd, c, n);
        if (r < 0 && errno == EINTR)
            continue;
        if (r <= 0)
            die("write");
        c += r;
        n -= (size_t)r;
    }
}

static uint32_t digest(const uint8_t *p, size_t n)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; i++) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

static void *peer_main(void *arg)
{
    int lfd = *(int *)arg;
    int fd = accept(lfd, NULL, NULL);
    uint8_t body[BODY_MAX];
    if (fd < 0)
        die("accept");
    for (int i = 0; i < RECORDS; i++) {
        struct header h;
        struct reply r;
        read_full(fd, &h, sizeof h);
        read_full(fd, body, h.len);
        r.status = h.op == 2 ? 0 : 1;
        r.digest = digest(body, h.len) ^ h.key;
        write_full(fd, &r, sizeof r);
    }
    close(fd);
    return NULL;
}

static int listen_local(uint16_t *port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    socklen_t len = sizeof sa;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof sa) < 0 || listen(fd, 4) < 0)
        die("listen");
    if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0)
        die("getsockname");
    *port = ntohs(sa.sin_port);
    return fd;
}

static int connect_peer(uint16_t port)
{
    struct sockaddr_in sa = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sa.sin_port = htons(port);
    if (fd < 0 || connect(fd, (struct sockaddr *)&sa, sizeof sa) < 0)
        die("connect");
    return fd;
}

/* Build the record from the local journal: a few rounds of mixing. */
static size_t build_record(uint32_t key, uint8_t *out)
{
    size_t len = 300 + (key * 37u) % 800;
    uint32_t s = key * 2654435761u + 1;
    for (int round = 0; round < 4000; round++)
        for (size_t i = 0; i < len; i++) {
            s = s * 1664525u + 1013904223u;
            out[i] = (uint8_t)(out[i] ^ (s >> 24));
        }
    return len;
}

static struct reply put_record(int fd, uint32_t key, const uint8_t *body, size_t len)
{
    struct header h = {2, key, (uint32_t)len};
    struct reply r;
    write_full(fd, &h, sizeof h);
    write_full(fd, body, len);
    read_full(fd, &r, sizeof r);
    return r;
}

int main(void)
{
    uint16_t port;
    int lfd = listen_local(&port);
    pthread_t peer;
    uint8_t body[BODY_MAX];
    uint32_t sum = 0, failed = 0;

    if (pthread_create(&peer, NULL, peer_main, &lfd) != 0)
        die("pthread_create");
    int fd = connect_peer(port);
    memset(body, 0, sizeof body);
    for (uint32_t k = 0; k < RECORDS; k++) {
        size_t len = build_record(k, body);
        struct reply r = put_record(fd, k, body, len);
        sum = sum * 31 + r.digest;
        failed += r.status;
        DWELL_STEP();
    }
    pthread_join(peer, NULL);
    close(fd);
    close(lfd);
    printf("records %d failed %u sum %08x\n", RECORDS, failed, sum);
    return 0;
}
