package main

import (
	"slices"
	"time"
)

// scenario is a sequence of calls on a queue of its own, and a sentence that says what comes of them.
type scenario struct {
	name     string
	sentence string
	// Of the exponential failure rate limiter: the first delay, and the longest.
	base, max time.Duration
	steps     []call
}

// call is one call on the queue, or, as `advance`, on its clock.
type call struct {
	Do  string `json:"do"`
	Key string `json:"key,omitempty"`
	Ms  *int64 `json:"ms,omitempty"`
}

// given makes a scenario with delays that are quickly at their cap: 100, 200, 400, 800, 1000, 1000 ms.
func given(name, sentence string, parts ...[]call) scenario {
	return scenario{name, sentence, 100 * time.Millisecond, time.Second, slices.Concat(parts...)}
}

func add(keys ...string) []call {
	calls := make([]call, 0, len(keys))
	for _, key := range keys {
		calls = append(calls, call{Do: "add", Key: key})
	}
	return calls
}

// get takes the next key if there is one, and never waits for one.
func get() []call                      { return []call{{Do: "get"}} }
func done(key string) []call           { return []call{{Do: "done", Key: key}} }
func forget(key string) []call         { return []call{{Do: "forget", Key: key}} }
func advance(ms int64) []call          { return []call{{Do: "advance", Ms: &ms}} }
func shutDown() []call                 { return []call{{Do: "shutDown"}} }
func shutDownWithDrain() []call        { return []call{{Do: "shutDownWithDrain"}} }
func addRateLimited(key string) []call { return []call{{Do: "addRateLimited", Key: key}} }

func addAfter(key string, ms int64) []call {
	return []call{{Do: "addAfter", Key: key, Ms: &ms}}
}

// The ends of a run, in the order of controller-runtime's calls: the verdict first, then done.

func succeed(key string) []call { return slices.Concat(forget(key), done(key)) }
func fail(key string) []call    { return slices.Concat(addRateLimited(key), done(key)) }

func requeueAfter(key string, ms int64) []call {
	return slices.Concat(forget(key), addAfter(key, ms), done(key))
}
