package main

// answer is what one call gave back.
type answer struct {
	// For get alone, which prints null for no key: a pointer that is nil, in an interface that is not.
	Got any `json:"got,omitempty"`
	// Get said that there will be no more keys.
	Shutdown bool `json:"shutdown,omitempty"`
	// What the rate limiter asked for, in milliseconds.
	Delay int64 `json:"delay,omitempty"`
}

// observed is a step as it is printed: the call, its answer, and what the queue looked like after it.
type observed struct {
	call
	answer
	Length int `json:"length"`
	// The timers that are set: after how many milliseconds each adds its key.
	Waiting map[string]int64 `json:"waiting"`
	// Of the step's key, or of the one that get gave.
	Requeues *int `json:"requeues,omitempty"`
	// From the call of ShutDownWithDrain on: whether it has returned.
	Drained *bool `json:"drained,omitempty"`
}

// observe plays the scenario's first steps on a queue of their own and says what is to be seen after the last one.
// Looking at the timers uses the queue up, which is why each step begins anew.
func observe(s scenario, count int) observed {
	b := newBench(s.base, s.max)
	defer b.close()
	var given answer
	for _, step := range s.steps[:count] {
		given = b.perform(step)
	}
	last := s.steps[count-1]
	seen := observed{call: last, answer: given, Length: b.queue.Len()}
	if key := concerned(last, given); key != "" {
		requeues := b.queue.NumRequeues(key)
		seen.Requeues = &requeues
	}
	if b.drained != nil {
		drained := isClosed(b.drained)
		seen.Drained = &drained
	}
	seen.Waiting = b.timers()
	return seen
}

func concerned(c call, given answer) string {
	if got, ok := given.Got.(*string); ok && got != nil {
		return *got
	}
	return c.Key
}

func isClosed(channel chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}
