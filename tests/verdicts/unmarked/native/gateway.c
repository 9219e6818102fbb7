/* A tiny telemetry gateway: a client thread of the process sends readings, the server answers sums. */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REQUESTS 70
#define READINGS 32

struct header { uint32_t kind, length; };
struct reply { double sum; uint32_t kind; uint32_t pad; };

static int read_fully(int fd, void *buf, size_t n) {
    char *p = buf;
    while (n) {
        ssize_t k = recv(fd, p, n, 0);
        if (k <= 0) return -1;
        p += k;
        n -= k;
    }
    return 0;
}

static double sum_readings(const double *v, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += v[i];
    return s;
}

static void *serve(void *arg) {
    int listener = *(int *)arg;
    int fd = accept(listener, NULL, NULL);
    struct header h;
    double body[READINGS];
    while (read_fully(fd, &h, sizeof h) == 0) {
        if (read_fully(fd, body, h.length) != 0) break;
        struct reply r = {sum_readings(body, READINGS), h.kind, 0};
        send(fd, &r, sizeof r, 0);
    }
    close(fd);
    return NULL;
}

/* simulates a sensor; does not wait */
static double await_reading(int i, int j) {
    double v = i * 0.1 + j;
    for (int k = 0; k < 12000; k++) v = v * 0.9999 + 0.001 * cos(v);
    return v;
}

static void collect(double *body, int i) {
    for (int j = 0; j < READINGS; j++) body[j] = await_reading(i, j);
}

static double submit(int fd, uint32_t kind, const double *body) {
    struct header h = {kind, READINGS * sizeof *body};
    struct reply r;
    send(fd, &h, sizeof h, 0);
    send(fd, body, h.length, 0);
    if (read_fully(fd, &r, sizeof r) != 0) return 0;
    return r.sum;
}

static int open_listener(struct sockaddr_in *addr) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    socklen_t len = sizeof *addr;
    memset(addr, 0, sizeof *addr);
    addr->sin_family = AF_INET;
    addr->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)addr, sizeof *addr) || listen(fd, 4)) exit(1);
    getsockname(fd, (struct sockaddr *)addr, &len);
    return fd;
}

static int dial(const struct sockaddr_in *addr) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (const struct sockaddr *)addr, sizeof *addr)) exit(1);
    return fd;
}

int main(void) {
    struct sockaddr_in addr;
    int listener = open_listener(&addr);
    pthread_t server;
    pthread_create(&server, NULL, serve, &listener);
    int fd = dial(&addr);
    double total = 0, body[READINGS];
    for (int i = 0; i < REQUESTS; i++) {
        collect(body, i);
        total += submit(fd, i & 3, body);
    }
    close(fd);
    pthread_join(server, NULL);
    printf("total %.6f\n", total);
    return 0;
}
