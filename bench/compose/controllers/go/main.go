// Two of the contestants: a controller of controller-runtime, which applies its children, and the sync hook that
// Metacontroller calls.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"

	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	run := map[string]func(context.Context, settings) error{
		"apply": runController, "compare": runController, "webhook": runWebhook,
	}
	if len(os.Args) != 2 || run[os.Args[1]] == nil {
		fail(fmt.Errorf("give one of apply, compare, webhook"))
	}
	workers, err := strconv.Atoi(os.Getenv("BENCH_WORKERS"))
	if err != nil {
		fail(err)
	}
	runs, err := openRuns(os.Getenv("BENCH_RUNS_FILE"))
	if err != nil {
		fail(err)
	}
	s := settings{compare: os.Args[1] == "compare", workers: workers, runs: runs}
	if err := run[os.Args[1]](ctrl.SetupSignalHandler(), s); err != nil {
		fail(err)
	}
}

type settings struct {
	// Applies only children that differ from the cached ones.
	compare bool
	// Reconciles at once.
	workers int
	runs    *runLog
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
