package main

import (
	"bufio"
	"fmt"
	"os"
	"sync"
	"time"
)

// A file with a line per run: the key, and when it began.
type runLog struct {
	mutex sync.Mutex
	file  *os.File
	lines *bufio.Writer
}

func openRuns(path string) (*runLog, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	runs := &runLog{file: file, lines: bufio.NewWriter(file)}
	go func() {
		for range time.Tick(50 * time.Millisecond) {
			runs.flush()
		}
	}()
	return runs, nil
}

func (r *runLog) add(key string) {
	at := now()
	r.mutex.Lock()
	defer r.mutex.Unlock()
	fmt.Fprintf(r.lines, "%s %d\n", key, at)
}

func (r *runLog) flush() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if err := r.lines.Flush(); err != nil {
		fail(err)
	}
}

func (r *runLog) close() {
	r.flush()
	r.file.Close()
}
