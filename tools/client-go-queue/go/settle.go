package main

import (
	"log"
	"regexp"
	"runtime"
	"time"
)

// What a goroutine at rest waits for: the delaying queue's loop in its select, a drain on its condition. One that
// still has to take a lock is not at rest.
var atRest = regexp.MustCompile(`(?m)^goroutine \d+ (?:[^\[]* )?\[(?:select|sync\.Cond\.Wait)\b`)
var goroutine = regexp.MustCompile(`(?m)^goroutine \d+ `)

// settle waits until every goroutine but its caller is at rest. That is exact, not a guess: a send, a step of the
// clock or a signal makes the goroutine it wakes runnable before it returns, so one that is seen at rest stays there
// until the next step.
func settle() {
	// Only a bug gets there, one that would otherwise hang without a word.
	giveUp := time.Now().Add(time.Minute)
	stacks := make([]byte, 1<<16)
	for {
		text := stacks[:runtime.Stack(stacks, true)]
		if len(atRest.FindAll(text, -1)) == len(goroutine.FindAll(text, -1))-1 {
			return
		}
		if time.Now().After(giveUp) {
			log.Fatalf("The queue does not come to rest:\n%s", text)
		}
		runtime.Gosched()
	}
}
