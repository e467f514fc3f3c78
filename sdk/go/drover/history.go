package drover

import (
	"container/list"
	"context"
	"crypto/sha256"
	"strconv"
	"sync"
	"time"
)

const (
	// retention is how long a call is remembered: an older one is not verified any more.
	retention       = 2 * tolerance
	maxKnownCalls   = 50_000
	maxKnownAnswers = 32 << 20
)

// history is a bounded memory of calls: none runs twice, and none after a newer one of its key. A call that was removed
// to make room is refused by its time, and never runs again.
type history struct {
	mutex  sync.Mutex
	now    func() time.Time
	known  ordered[*knownCall]
	latest ordered[*latestCall]
	// floor is the time up to which unknown calls are refused: they may be removed ones.
	floor    time.Time
	bytes    int
	maxCalls int
	maxBytes int
}

type knownCall struct {
	at     time.Time
	digest [sha256.Size]byte
	// done is closed when the run has ended. The answer is nil if it did not run, or was removed.
	done   chan struct{}
	answer []byte
}

type latestCall struct {
	at      time.Time
	version uint64
	// supersede ends the run's context.
	supersede context.CancelFunc
	// running has an element while a run of the key lasts.
	running chan struct{}
}

func (k *knownCall) signedAt() time.Time  { return k.at }
func (l *latestCall) signedAt() time.Time { return l.at }

func newHistory(now func() time.Time) *history {
	return &history{now: now, maxCalls: maxKnownCalls, maxBytes: maxKnownAnswers}
}

// answer runs a new call, and returns its answer; for a repeated call, it returns the answer that the call had before.
// Nil means that a newer run of the key has begun, an earlier one has not ended by the deadline, the token came with
// another body, or the answer is not remembered any more.
func (h *history) answer(
	ctx context.Context, call *Call, at time.Time, body []byte, run func(context.Context) []byte,
) []byte {
	ctx, cancel := context.WithDeadline(ctx, call.Deadline)
	defer cancel()
	digest := sha256.Sum256(body)
	h.mutex.Lock()
	h.makeRoom()
	if known, ok := h.known.get(call.Token); ok {
		h.mutex.Unlock()
		if known.digest != digest {
			return nil
		}
		select {
		case <-known.done:
		case <-ctx.Done():
		}
		h.mutex.Lock()
		defer h.mutex.Unlock()
		return known.answer
	}
	latest := h.begin(call, at, cancel)
	if latest == nil {
		h.mutex.Unlock()
		return nil
	}
	known := &knownCall{at: at, digest: digest, done: make(chan struct{})}
	h.known.put(call.Token, known)
	h.mutex.Unlock()

	answer := runInTurn(ctx, latest.running, run)
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if now, ok := h.known.get(call.Token); ok && now == known {
		h.bytes += len(answer)
	}
	known.answer = answer
	close(known.done)
	return answer
}

// runInTurn runs when the earlier run of the key has ended; it does not when a newer one has begun by then.
func runInTurn(ctx context.Context, running chan struct{}, run func(context.Context) []byte) []byte {
	select {
	case running <- struct{}{}:
		defer func() { <-running }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return nil
	}
	return run(ctx)
}

// begin makes a call the newest of its key, unless a newer one has begun: then it returns nil.
func (h *history) begin(call *Call, at time.Time, supersede context.CancelFunc) *latestCall {
	version, err := strconv.ParseUint(call.Object.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		version = 0
	}
	next := &latestCall{at, version, supersede, make(chan struct{}, 1)}
	before, ok := h.latest.get(call.Key)
	if !at.After(h.floor) || ok && next.isOlderThan(before) {
		return nil
	}
	if ok {
		before.supersede()
		next.running = before.running
	}
	h.latest.put(call.Key, next)
	return next
}

// isOlderThan compares the versions of the object, and, if these do not decide it, the times of signing.
func (l *latestCall) isOlderThan(other *latestCall) bool {
	if l.version == 0 || other.version == 0 || l.version == other.version {
		return l.at.Before(other.at)
	}
	return l.version < other.version
}

func (h *history) makeRoom() {
	oldest := h.now().Add(-retention)
	remove := func(one interface{ signedAt() time.Time }, count int) bool {
		at := one.signedAt()
		if !at.Before(oldest) {
			if count < h.maxCalls {
				return false
			}
			if at.After(h.floor) {
				h.floor = at
			}
		}
		return true
	}
	for known, ok := h.known.first(); ok && remove(known, h.known.len()); known, ok = h.known.first() {
		h.bytes -= len(known.answer)
		h.known.removeFirst()
	}
	for latest, ok := h.latest.first(); ok && remove(latest, h.latest.len()); latest, ok = h.latest.first() {
		h.latest.removeFirst()
	}
	h.known.each(func(known *knownCall) bool {
		if h.bytes > h.maxBytes {
			h.bytes -= len(known.answer)
			known.answer = nil
		}
		return h.bytes > h.maxBytes
	})
}

// ordered is a map that keeps the order in which entries were put.
type ordered[T any] struct {
	order   list.List
	entries map[string]*list.Element
}

type entry[T any] struct {
	name  string
	value T
}

func (o *ordered[T]) len() int { return len(o.entries) }

func (o *ordered[T]) get(name string) (value T, ok bool) {
	if element, ok := o.entries[name]; ok {
		return element.Value.(entry[T]).value, true
	}
	return value, false
}

// put adds an entry, or replaces one, at the end.
func (o *ordered[T]) put(name string, value T) {
	if o.entries == nil {
		o.entries = map[string]*list.Element{}
	}
	if element, ok := o.entries[name]; ok {
		o.order.Remove(element)
	}
	o.entries[name] = o.order.PushBack(entry[T]{name, value})
}

func (o *ordered[T]) first() (value T, ok bool) {
	if element := o.order.Front(); element != nil {
		return element.Value.(entry[T]).value, true
	}
	return value, false
}

func (o *ordered[T]) removeFirst() {
	delete(o.entries, o.order.Remove(o.order.Front()).(entry[T]).name)
}

// each visits the entries in their order, while visit returns true.
func (o *ordered[T]) each(visit func(T) bool) {
	for element := o.order.Front(); element != nil; element = element.Next() {
		if !visit(element.Value.(entry[T]).value) {
			return
		}
	}
}
