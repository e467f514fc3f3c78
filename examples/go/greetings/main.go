// A function that greets: it writes a greeting for spec.name into status.text.
package main

import (
	"context"
	"fmt"
	"log"
	"sync/atomic"

	"drover.dev/sdk/go/drover"
)

type spec struct {
	Name                      string
	Refuse, Fail, Hold, Count bool
	Wait                      int
}

type status struct {
	Text string `json:"text"`
	Runs int64  `json:"runs,omitempty"`
}

// For tests of the contract. Not an example to follow: it is lost with the process.
var runs atomic.Int64

func reconcile(_ context.Context, call *drover.Call) (drover.Answer, error) {
	run := runs.Add(1)
	var spec spec
	if err := call.Spec(&spec); err != nil {
		return nil, err
	}
	switch {
	case spec.Refuse:
		return drover.Parked{Message: "no greeting for that", Reason: "NoGreeting"}, nil
	case spec.Fail:
		return nil, fmt.Errorf("this one always fails")
	case spec.Wait > 0:
		return wait(spec.Wait), nil
	}
	greeted := status{Text: "Hello, " + spec.Name + "!"}
	if spec.Count {
		greeted.Runs = run
	}
	return drover.Done{Status: greeted}, nil
}

func finalize(_ context.Context, call *drover.Call) (drover.Answer, error) {
	var spec spec
	if err := call.Spec(&spec); err != nil {
		return nil, err
	}
	if spec.Hold {
		return wait(1), nil
	}
	return drover.Finalized{}, nil
}

func wait(seconds int) drover.Answer {
	return drover.Again{After: fmt.Sprintf("%ds", seconds), Reason: "TooEarly", Message: "not yet"}
}

func main() {
	if err := drover.Serve(context.Background(), drover.Function{Reconcile: reconcile, Finalize: finalize}); err != nil {
		log.Fatal(err)
	}
}
