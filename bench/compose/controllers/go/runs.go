package main

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// A file with a line for each reconcile: the key, and the machine's monotonic time.
type runLog struct{ file *os.File }

func openRuns(path string) (*runLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	return &runLog{file}, err
}

func (r *runLog) add(key string) {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		fail(err)
	}
	fmt.Fprintf(r.file, "%s %d\n", key, t.Nano())
}
