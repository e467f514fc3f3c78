// What the bridge is put beside: controllers of controller-runtime, and reflectors of client-go. Both do nothing with
// what they hear; each key that is handed to them is written to a file with the time.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("say what to be: controller or reflector"))
	}
	ctx := ctrl.SetupSignalHandler()
	be := map[string]func(context.Context, options) error{"controller": runController, "reflector": runReflector}[os.Args[1]]
	if be == nil {
		fail(fmt.Errorf("there is no %s: say controller or reflector", os.Args[1]))
	}
	if err := be(ctx, parse(os.Args[2:])); err != nil {
		fail(err)
	}
}

type options struct {
	// Only metadata is asked for and kept.
	metadata bool
	// The file that keys are written to.
	runs string
	// A reflector says "ended" once it has heard of this key.
	end string
}

func parse(args []string) options {
	var o options
	flags := flag.NewFlagSet("", flag.ExitOnError)
	flags.BoolVar(&o.metadata, "metadata", false, "")
	flags.StringVar(&o.runs, "runs", "", "")
	flags.StringVar(&o.end, "end", "", "")
	_ = flags.Parse(args)
	return o
}

// Machine-wide, as Node's process.hrtime: the times of several processes can be compared.
func now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		fail(err)
	}
	return t.Nano()
}

// One line on stdout.
func say(event string, figures map[string]int64) {
	line := map[string]any{"event": event, "at": now()}
	for name, figure := range figures {
		line[name] = figure
	}
	_ = json.NewEncoder(os.Stdout).Encode(line)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
