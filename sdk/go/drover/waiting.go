package drover

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"sync"
)

// waiting has the connections on which a request may arrive that is not verified yet: strangers may have opened them.
//
// A stranger can open connections and send nothing, or very little. A genuine call arrives within milliseconds, so the
// connection that has waited longest is closed when there are too many, and a new one is never refused. A connection
// that is idle after a verified call does not wait.
type waiting struct {
	mutex  sync.Mutex
	most   int
	byAge  list.List
	places map[net.Conn]*list.Element
}

type connectionKey struct{}

func newWaiting(most int) *waiting {
	return &waiting{most: most, places: map[net.Conn]*list.Element{}}
}

// follow is a server's ConnState.
func (w *waiting) follow(connection net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew, http.StateActive:
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

func (w *waiting) enter(connection net.Conn) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	if _, known := w.places[connection]; known {
		return
	}
	w.places[connection] = w.byAge.PushBack(connection)
	if w.byAge.Len() > w.most {
		first := w.remove(w.byAge.Front())
		_ = first.Close()
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
	connection := w.byAge.Remove(place).(net.Conn)
	delete(w.places, connection)
	return connection
}
