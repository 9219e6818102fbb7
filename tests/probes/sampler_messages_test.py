#!/usr/bin/python3
"""Messages that are sent by several calls, and whose end TCP holds back: a wait of the call that sends the end.

usage: sampler_messages_test.py path/to/build

Exit status 0: all checks pass; 1: one failed.
"""
import os
import re
import subprocess
import sys
import tempfile

DWELL = os.path.join(os.path.abspath(sys.argv[1]), "dwell") if len(sys.argv) == 2 else sys.exit(__doc__)
TWO_CALLS = "send(to, head, 4, 0); send(to, body, 100, 0);"
AT_ONCE = "setsockopt(one, IPPROTO_TCP, TCP_QUICKACK, &(int){ 1 }, 4)"
SLEEPS = "usleep(30000);"
# How the program sends a message; how large a part of the run TCP holds back its end, in percent; what the server does before it
# reads, and before it answers. Linux delays an acknowledgement by 40 ms.
CASES = [
    ("two calls", TWO_CALLS, (80, 100)),
    ("two calls of write()", "write(to, head, 4); write(to, body, 100);", (80, 100)),
    ("two calls, and poll() for the answer", TWO_CALLS + " poll(&(struct pollfd){ to, POLLIN, 0 }, 1, -1);", (80, 100)),
    ("two calls, to a server that takes 30 ms", TWO_CALLS, (45, 70), "0", SLEEPS),
    ("two calls, to a server that acknowledges at once and takes 30 ms", TWO_CALLS, None, AT_ONCE, SLEEPS),
    ("one call", "sendmsg(to, &(struct msghdr){ .msg_iov = (struct iovec[]){ { head, 4 }, { body, 100 } }, .msg_iovlen = 2 }, 0);", None),
    ("two calls without a delay", "setsockopt(to, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, 4); " + TWO_CALLS, None),
]
PROGRAM = """
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
static char head[4], body[100], answer[100];
__attribute__((noinline)) static void ask(int to)
{
    SEND
    __asm__ volatile("");
}
__attribute__((noinline)) static void answered(int from)
{
    recv(from, answer, sizeof answer, MSG_WAITALL);
}
static void *serve(void *listener)
{
    int one = accept(*(int *)listener, NULL, NULL);
    char message[104];
    while (READS, recv(one, message, 4, MSG_WAITALL) == 4 && (READS, recv(one, message, 100, MSG_WAITALL) == 100)) {
        ANSWERS
        send(one, answer, sizeof answer, 0);
    }
    return NULL;
}
int main(void)
{
    struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t bytes = sizeof at;
    int listener = socket(AF_INET, SOCK_STREAM, 0), to = socket(AF_INET, SOCK_STREAM, 0);
    pthread_t server;
    bind(listener, (struct sockaddr *)&at, sizeof at);
    listen(listener, 1);
    getsockname(listener, (struct sockaddr *)&at, &bytes);
    pthread_create(&server, NULL, serve, &listener);
    connect(to, (struct sockaddr *)&at, sizeof at);
    for (int i = 0; i < 40; i++) {
        ask(to);
        answered(to);
    }
    close(to);
    pthread_join(server, NULL);
}
"""


def said(folder, send, reads="0", answers=";"):
    """The first screen of a run in one line, without line breaks."""
    source, program, trace = (os.path.join(folder, name) for name in ("ask.c", "ask", "ask.dwell"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    subprocess.run(["gcc", "-O2", "-g", "-w", "-pthread", f"-DSEND={send}", f"-DREADS={reads}", f"-DANSWERS={answers}", source, "-o", program],
                   check=True)
    subprocess.run([DWELL, "run", "-o", trace, program], capture_output=True, check=True)
    return " ".join(subprocess.run([DWELL, "report", trace], capture_output=True, text=True, check=True).stdout.split())


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, send, held, *server in CASES:
            text = said(folder, send, *server)
            found = re.search(r"SLOW Waiting for TCP to send the ends of messages takes (\d+)% of the run, most of it in ask \(ask\.c:\d+\)", text)
            good = found and held[0] <= int(found[1]) <= held[1] if held else "delayed message" not in text
            failed += not good
            print("ok" if good else "FAILED", name, "" if good else text)
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
