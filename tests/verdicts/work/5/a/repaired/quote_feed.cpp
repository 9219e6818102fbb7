// quote_feed: soak test of the price service. A client asks for valuations of
// option portfolios over TCP; the server prices them and sends the answer back.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <dwell/probe.h>

namespace {

struct Header {
    uint32_t magic;
    uint32_t sequence;
    uint32_t count;
    uint32_t checksum;
};

struct Contract {
    double spot, strike, years, volatility;
    int32_t call, quantity;
};

struct Value {
    double price, delta, vega;
};

constexpr uint32_t kMagic = 0x51544631;

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

void writeAll(int fd, const void* data, size_t n) {
    auto p = static_cast<const char*>(data);
    while (n > 0) {
        ssize_t k = ::send(fd, p, n, MSG_NOSIGNAL);
        if (k <= 0)
            fail("send");
        p += k;
        n -= static_cast<size_t>(k);
    }
}

bool readAll(int fd, void* data, size_t n) {
    auto p = static_cast<char*>(data);
    while (n > 0) {
        ssize_t k = ::recv(fd, p, n, 0);
        if (k < 0)
            fail("recv");
        if (k == 0)
            return false;
        p += k;
        n -= static_cast<size_t>(k);
    }
    return true;
}

uint32_t checksum(const void* data, size_t n) {
    auto p = static_cast<const uint8_t*>(data);
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < n; ++i) {
        a = (a + p[i]) % 65521;
        b = (b + a) % 65521;
    }
    return b << 16 | a;
}

void sendAtOnce(int fd) {
    int on = 1;
    if (::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
        fail("setsockopt");
}

template <class T>
void sendFrame(int fd, uint32_t sequence, const std::vector<T>& body) {
    const size_t bytes = body.size() * sizeof(T);
    Header h{kMagic, sequence, static_cast<uint32_t>(body.size()), checksum(body.data(), bytes)};
    writeAll(fd, &h, sizeof h);
    writeAll(fd, body.data(), bytes);
}

template <class T>
bool receiveFrame(int fd, Header& h, std::vector<T>& body) {
    if (!readAll(fd, &h, sizeof h))
        return false;
    if (h.magic != kMagic || h.count > 100000)
        fail("frame");
    body.resize(h.count);
    if (!readAll(fd, body.data(), h.count * sizeof(T)) || checksum(body.data(), h.count * sizeof(T)) != h.checksum)
        fail("frame body");
    return true;
}

double payoff(const Contract& c, double s) {
    return c.call ? std::max(s - c.strike, 0.0) : std::max(c.strike - s, 0.0);
}

// American option on a recombining tree.
double treePrice(const Contract& c, double spot, double vol, std::vector<double>& v) {
    constexpr int steps = 320;
    const double dt = c.years / steps, up = std::exp(vol * std::sqrt(dt)), rate = 0.02;
    const double grow = std::exp(rate * dt), p = (grow - 1 / up) / (up - 1 / up), disc = 1 / grow;
    v.resize(steps + 1);
    double s = spot * std::pow(up, -steps);
    for (int i = 0; i <= steps; ++i, s *= up * up)
        v[i] = payoff(c, s);
    for (int n = steps - 1; n >= 0; --n) {
        s = spot * std::pow(up, -n);
        for (int i = 0; i <= n; ++i, s *= up * up)
            v[i] = std::max(disc * (p * v[i + 1] + (1 - p) * v[i]), payoff(c, s));
    }
    return v[0];
}

void serve(int listener) {
    int fd = ::accept(listener, nullptr, nullptr);
    if (fd < 0)
        fail("accept");
    sendAtOnce(fd);
    Header h;
    std::vector<Contract> ask;
    std::vector<Value> answer;
    std::vector<double> scratch;
    while (receiveFrame(fd, h, ask)) {
        answer.clear();
        for (const Contract& c : ask) {
            double base = treePrice(c, c.spot, c.volatility, scratch);
            double bumped = treePrice(c, c.spot * 1.01, c.volatility, scratch);
            double wider = treePrice(c, c.spot, c.volatility + 0.01, scratch);
            answer.push_back({base, (bumped - base) / (0.01 * c.spot), wider - base});
        }
        sendFrame(fd, h.sequence, answer);
    }
    ::close(fd);
}

}  // namespace

int main() {
    constexpr int kRequests = 75, kContracts = 240;
    int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in addr{};
    addr.sin_family = AF_INET;
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t len = sizeof addr;
    if (::bind(listener, reinterpret_cast<sockaddr*>(&addr), len) < 0 || ::listen(listener, 1) < 0 ||
        ::getsockname(listener, reinterpret_cast<sockaddr*>(&addr), &len) < 0)
        fail("listen");
    std::thread server(serve, listener);
    int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&addr), len) < 0)
        fail("connect");
    sendAtOnce(fd);

    std::mt19937 gen(99);
    std::uniform_real_distribution<double> price(80, 120), years(0.1, 2), vol(0.1, 0.5);
    std::vector<Contract> book(kContracts);
    std::vector<Value> values;
    double worth = 0, delta = 0, vega = 0;
    for (int r = 0; r < kRequests; ++r) {
        DWELL_STEP();
        for (Contract& c : book)
            c = {price(gen), price(gen), years(gen), vol(gen), int32_t(gen() & 1), int32_t(gen() % 50) + 1};
        sendFrame(fd, static_cast<uint32_t>(r), book);
        Header h;
        if (!receiveFrame(fd, h, values) || h.sequence != static_cast<uint32_t>(r))
            fail("answer");
        for (int i = 0; i < kContracts; ++i) {
            worth += values[i].price * book[i].quantity;
            delta += values[i].delta * book[i].quantity;
            vega += values[i].vega * book[i].quantity;
        }
    }
    ::shutdown(fd, SHUT_WR);
    server.join();
    ::close(fd);
    ::close(listener);
    std::printf("%d requests, %d contracts: worth %.3f delta %.3f vega %.4f\n", kRequests, kRequests * kContracts,
                worth, delta, vega);
    return 0;
}
