// Two of those who are compared: a controller of controller-runtime, and the floor, which is a watch and a patch and
// nothing around them; and the hook of a third, Metacontroller.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	be := map[string]func(context.Context, *rest.Config, *task) error{
		"controller-runtime": runController, "floor": runFloor, "webhook": runWebhook,
	}
	if len(os.Args) != 2 || be[os.Args[1]] == nil {
		fail(fmt.Errorf("say what to be: controller-runtime, floor or webhook"))
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		fail(err)
	}
	// client-go's own limit of requests is lifted.
	config.QPS = -1
	workers, err := strconv.Atoi(os.Getenv("BENCH_WORKERS"))
	if err != nil {
		fail(err)
	}
	work, err := time.ParseDuration(os.Getenv("BENCH_WORK_MS") + "ms")
	if err != nil {
		fail(err)
	}
	t := &task{workers: workers, work: work}
	if err := be[os.Args[1]](ctrl.SetupSignalHandler(), config, t); err != nil {
		fail(err)
	}
	count := []byte(strconv.FormatInt(t.runs.Load(), 10))
	if err := os.WriteFile(os.Getenv("BENCH_RUNS_FILE"), count, 0o600); err != nil {
		fail(err)
	}
}

// What is to be done: so many at once, each of which waits for something outside for so long. How often it was done is written down at an orderly end.
type task struct {
	workers int
	work    time.Duration
	runs    atomic.Int64
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
