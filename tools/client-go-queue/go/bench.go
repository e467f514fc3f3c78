package main

import (
	"log"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
)

// bench is client-go's queue under a clock that only `advance` moves. Two of the queue's own parts are wrapped, to
// see what passes: nothing is changed on the way.
type bench struct {
	queue    workqueue.TypedRateLimitingInterface[string]
	clock    *clocktesting.FakeClock
	delaying *delayingTap
	adds     *addTap
	// Closed when ShutDownWithDrain has returned; nil before it is called.
	drained chan struct{}
}

func newBench(base, max time.Duration) *bench {
	clock := clocktesting.NewFakeClock(time.Unix(0, 0))
	adds := &addTap{TypedInterface: workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Clock: clock})}
	delaying := &delayingTap{
		TypedDelayingInterface: workqueue.NewTypedDelayingQueueWithConfig(
			workqueue.TypedDelayingQueueConfig[string]{Clock: clock, Queue: adds},
		),
		now: clock.Now,
	}
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[string](base, max)
	queue := workqueue.NewTypedRateLimitingQueueWithConfig(
		limiter,
		workqueue.TypedRateLimitingQueueConfig[string]{Clock: clock, DelayingQueue: delaying},
	)
	settle()
	return &bench{queue: queue, clock: clock, delaying: delaying, adds: adds}
}

// close ends the queue's goroutines, also one that drains.
func (b *bench) close() {
	b.queue.ShutDown()
	settle()
}

// perform makes the call, waits until the queue is at rest, and says what the call gave.
func (b *bench) perform(c call) answer {
	var given answer
	switch c.Do {
	case "add":
		b.queue.Add(c.Key)
	case "addAfter":
		b.queue.AddAfter(c.Key, time.Duration(*c.Ms)*time.Millisecond)
	case "addRateLimited":
		b.queue.AddRateLimited(c.Key)
		given.Delay = b.delaying.delay.Milliseconds()
	case "forget":
		b.queue.Forget(c.Key)
	case "get":
		given = b.get()
	case "done":
		b.queue.Done(c.Key)
	case "advance":
		b.clock.Step(time.Duration(*c.Ms) * time.Millisecond)
	case "shutDown":
		b.queue.ShutDown()
	case "shutDownWithDrain":
		b.drain()
	default:
		log.Fatalf("no such step: %s", c.Do)
	}
	settle()
	return given
}

// get asks only where the queue answers at once: a queue that is shut down does, also when it is empty.
func (b *bench) get() answer {
	var nothing *string
	if b.queue.Len() == 0 && !b.queue.ShuttingDown() {
		return answer{Got: nothing}
	}
	key, shutdown := b.queue.Get()
	if shutdown {
		return answer{Got: nothing, Shutdown: true}
	}
	return answer{Got: &key}
}

func (b *bench) drain() {
	drained := make(chan struct{})
	b.drained = drained
	go func() {
		defer close(drained)
		b.queue.ShutDownWithDrain()
	}()
}

// timers lets time go on, and says after how many milliseconds each key is added by itself. The bench is at its end
// after that. client-go has no way to ask, and keeps its timers in a local variable.
func (b *bench) timers() map[string]int64 {
	begun := b.clock.Now()
	timers := map[string]int64{}
	slices.SortFunc(b.delaying.dues, time.Time.Compare)
	for _, due := range slices.Compact(b.delaying.dues) {
		if !due.After(begun) {
			continue
		}
		b.adds.take()
		b.clock.SetTime(due)
		settle()
		for _, key := range b.adds.take() {
			timers[key] = due.Sub(begun).Milliseconds()
		}
	}
	return timers
}

// delayingTap sees every delay that is asked for, those of failures too. It is called by one goroutine only.
type delayingTap struct {
	workqueue.TypedDelayingInterface[string]
	now   func() time.Time
	delay time.Duration
	dues  []time.Time
}

func (t *delayingTap) AddAfter(key string, delay time.Duration) {
	t.delay = delay
	t.dues = append(t.dues, t.now().Add(delay))
	t.TypedDelayingInterface.AddAfter(key, delay)
}

// addTap sees every key that a timer adds, also where the add folds into another one.
type addTap struct {
	workqueue.TypedInterface[string]
	mutex sync.Mutex
	keys  []string
}

func (t *addTap) Add(key string) {
	t.mutex.Lock()
	t.keys = append(t.keys, key)
	t.mutex.Unlock()
	t.TypedInterface.Add(key)
}

// take answers the keys added since the last time.
func (t *addTap) take() []string {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	keys := t.keys
	t.keys = nil
	return keys
}
