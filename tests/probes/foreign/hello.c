/* A program that needs only a C library, glibc's or musl's. With an argument it uses the CPU until it is killed. */
#include <stdio.h>

static volatile double sink;

__attribute__((noinline)) static void hello_work(void)
{
	for (int i = 0; i < 20000; i++)
		sink += i;
}

int main(int count, char **words)
{
	puts(count > 1 ? "ready" : "hello");
	fflush(stdout);
	do
		hello_work();
	while (count > 1 && words);
	return 3;
}
