package drover

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
	"time"
)

// minWait is the time within which a call that has arrived is verified.
const minWait = 100 * time.Millisecond

// waiting has the connections on which a request may arrive that is not verified yet: strangers may have opened them.
//
// A stranger can open connections and send nothing, or very little. A genuine call arrives within milliseconds, so the
// connection that has waited longest is closed when there are too many, and a new one is never refused: it is not
// accepted before one of them has waited for minWait. A connection that is idle after a verified call does not wait.
type waiting struct {
	mutex  sync.Mutex
	most   int
	now    func() time.Time
	byAge  list.List
	places map[net.Conn]*list.Element
	// left receives when a connection has left.
	left chan struct{}
}

type waits struct {
	connection net.Conn
	since      time.Time
}

type connectionKey struct{}

func newWaiting(most int) *waiting {
	return &waiting{most: most, now: time.Now, places: map[net.Conn]*list.Element{}, left: make(chan struct{}, 1)}
}

// follow is a server's ConnState. The server accepts no other connection while it handles StateNew.
func (w *waiting) follow(connection net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew:
		for !w.makeRoom() {
		}
		w.enter(connection)
	case http.StateActive:
		w.enter(connection)
	default:
		w.leave(connection)
	}
}

// inContext is a server's ConnContext: `verified` finds the connection of a request there.
func inContext(ctx context.Context, connection net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, connection)
}

// verified is called when the request with this context is a genuine call.
func (w *waiting) verified(ctx context.Context) {
	if connection, ok := ctx.Value(connectionKey{}).(net.Conn); ok {
		w.leave(connection)
	}
}

// makeRoom waits until a connection leaves, or has waited long enough to be closed. It reports whether there is room.
func (w *waiting) makeRoom() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if w.byAge.Len() < w.most {
		return true
	}
	first := w.byAge.Front()
	if left := minWait - w.now().Sub(first.Value.(waits).since); left > 0 {
		w.mutex.Unlock()
		defer w.mutex.Lock()
		select {
		case <-w.left:
		case <-time.After(left):
		}
		return false
	}
	_ = w.remove(first).Close()
	return true
}

func (w *waiting) enter(connection net.Conn) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if _, known := w.places[connection]; !known {
		w.places[connection] = w.byAge.PushBack(waits{connection, w.now()})
	}
}

func (w *waiting) leave(connection net.Conn) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if place, known := w.places[connection]; known {
		w.remove(place)
	}
}

func (w *waiting) remove(place *list.Element) net.Conn {
	connection := w.byAge.Remove(place).(waits).connection
	delete(w.places, connection)
	select {
	case w.left <- struct{}{}:
	default:
	}
	return connection
}
