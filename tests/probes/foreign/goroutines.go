// Goroutines on stacks of a few kilobytes, which the runtime moves; its own handlers of signals; a profile by SIGPROF.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	_ "os/user" // with cgo it needs libc, and the program is linked to it
	"runtime/pprof"
	"sync"
	"time"
)

//go:noinline
func goWork(n int) int {
	sum := 0
	for i := 0; i < n; i++ {
		sum += i % 7
	}
	return sum
}

//go:noinline
func recurse(n int) int {
	var pad [64]int
	if n == 0 {
		return goWork(300000)
	}
	pad[n%64] = recurse(n - 1)
	return pad[n%64] + 1
}

func recovered() (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	var nothing *int
	return fmt.Sprint(*nothing)
}

func main() {
	if len(os.Args) > 1 {
		fmt.Println("ready")
		for {
			goWork(1000000)
		}
	}
	var profile bytes.Buffer
	var group sync.WaitGroup
	sums := make([]int, 200)
	pprof.StartCPUProfile(&profile)
	for i := range sums {
		group.Add(1)
		go func(i int) {
			defer group.Done()
			sums[i] = recurse(i)
		}(i)
	}
	done := make(chan int)
	go func() { done <- goWork(300000000) }() // no call in the loop: the runtime interrupts it by SIGURG
	group.Wait()
	time.Sleep(time.Millisecond)
	<-done
	pprof.StopCPUProfile()
	sum := 0
	for _, one := range sums {
		sum += one
	}
	unpacked, _ := gzip.NewReader(&profile)
	text, _ := io.ReadAll(unpacked)
	fmt.Println(sum, recovered(), bytes.Contains(text, []byte("goWork")))
	os.Exit(4)
}
