package drover

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Handler answers a call. Its context ends with the call's deadline, when a newer run of the key begins, and when the
// process has to end: pass it on to everything that the handler calls.
type Handler func(ctx context.Context, call *Call) (Answer, error)

// Function has the handlers of a function. A nil Finalize lets every object go.
type Function struct {
	Reconcile, Compose, Finalize Handler
	// Connections is the most connections at once whose requests are not verified yet, each with a body of at most 2 MiB.
	// For one more, that is closed which has waited longest, as soon as it has waited 100 ms. 0 means 64.
	Connections int
}

const (
	// maxBody is enough for every object: the API server stores 1.5 MiB.
	maxBody = 2 << 20
	// maxWaiting is the default of Function.Connections.
	maxWaiting = 64
	maxMessage = 32_768
	// replyTimeout is the time for runs to send their answers after the grace.
	replyTimeout = time.Second
)

// Serve answers the gateway's calls until ctx ends, or SIGTERM or SIGINT comes. Then it lets the calls in progress end.
// Calls of different keys run at once, and one call of a key at a time. The settings are environment variables, which
// Drover's deployer sets (see settings.go).
func Serve(ctx context.Context, function Function) error {
	settings, err := settingsFrom(os.Getenv)
	if err != nil {
		return err
	}
	secrets, err := openSecrets(settings.secrets)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(settings.host, settings.port))
	if err != nil {
		return fmt.Errorf("cannot listen: set DROVER_HTTP_HOST and DROVER_HTTP_PORT: %w", err)
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
	defer stop()
	slog.Info("Answering calls", "address", listener.Addr().String())
	server := newServer(function, settings, secrets.current)
	return server.serveUntil(ctx, listener, settings.stopGrace)
}

type server struct {
	function Function
	settings settings
	secrets  func() [][]byte
	history  *history
	waiting  *waiting
	// over ends with the process: calls in progress stop then.
	over context.Context
	end  context.CancelFunc
}

func newServer(function Function, settings settings, secrets func() [][]byte) *server {
	over, end := context.WithCancel(context.Background())
	most := function.Connections
	if most <= 0 {
		most = maxWaiting
	}
	return &server{function, settings, secrets, newHistory(time.Now), newWaiting(most), over, end}
}

func (s *server) serveUntil(ctx context.Context, listener net.Listener, grace time.Duration) error {
	server := http.Server{
		Handler:           s,
		ConnState:         s.waiting.follow,
		ConnContext:       inContext,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    32 << 10,
		// Refused like everything that is no call, and its connection closed.
		DisableGeneralOptionsHandler: true,
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	for _, timeout := range []time.Duration{grace, replyTimeout} {
		waiting, cancel := context.WithTimeout(context.Background(), timeout)
		err := server.Shutdown(waiting)
		cancel()
		if err == nil {
			break
		}
		s.end()
	}
	slog.Info("Stopped")
	return server.Close()
}

// ServeHTTP answers a POST to any path as a call, since the ReconcileFunction chooses the path; and probes.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && (r.URL.Path == "/healthz" || r.URL.Path == "/readyz") {
		w.Header().Set("Connection", "close")
		return
	}
	call, at, err := s.receive(w, r)
	if err != nil {
		var refused *refusal
		if !errors.As(err, &refused) {
			refused = &refusal{http.StatusBadRequest, err.Error()}
		}
		slog.Warn("A call was refused", "why", refused.message)
		w.Header().Set("Connection", "close")
		http.Error(w, refused.message, refused.status)
		return
	}
	s.waiting.verified(r.Context())
	said := s.history.answer(s.over, call, at, call.Body, func(ctx context.Context) []byte { return s.run(ctx, call) })
	if said == nil {
		said, _ = render(Conflict{"A newer run of this key has begun here, or this one was answered long ago."})
	}
	now := strconv.FormatInt(time.Now().Unix(), 10)
	w.Header().Set("Webhook-Id", call.Token)
	w.Header().Set("Webhook-Timestamp", now)
	w.Header().Set("Webhook-Signature", strings.Join(signatures(s.secrets(), call.Token, now, said), " "))
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(said)
}

// receive returns a call, if it is genuine, meant for this function, and in time; and when it was signed.
func (s *server) receive(w http.ResponseWriter, r *http.Request) (call *Call, at time.Time, err error) {
	if r.Method != http.MethodPost {
		return nil, at, &refusal{http.StatusMethodNotAllowed, "calls are sent with POST"}
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, at, &refusal{http.StatusUnsupportedMediaType, "calls are not compressed"}
	}
	if r.ContentLength > maxBody {
		return nil, at, &refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("a call has at most %d bytes", maxBody)}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return nil, at, &refusal{http.StatusBadRequest, "the call is too large, or was cut off"}
	}
	id, at, err := verify(s.secrets(), r.Header, body, time.Now())
	if err != nil {
		return nil, at, err
	}
	call, err = ParseCall(body)
	if err != nil {
		return nil, at, err
	}
	if call.audience.Name != s.settings.audience || s.settings.uid != "" && call.audience.UID != s.settings.uid {
		return nil, at, &refusal{http.StatusMisdirectedRequest, "the call is meant for another function: correct its address"}
	}
	if call.Token != id {
		return nil, at, errors.New("the token of the call is not its webhook-id")
	}
	if !call.Deadline.After(time.Now()) {
		return nil, at, &refusal{http.StatusRequestTimeout, "the deadline of the call is over: compare the clocks"}
	}
	return call, at, nil
}

// run returns the handler's answer as JSON. An error and a panic are answers, too: the run failed.
func (s *server) run(ctx context.Context, call *Call) (body []byte) {
	defer func() {
		if problem := recover(); problem != nil {
			slog.Error("A run panicked", "key", call.Key, "problem", problem, "stack", string(debug.Stack()))
			body, _ = render(Failed{Message: "the function panicked: see its log"})
		}
	}()
	answer, err := s.handle(ctx, call)
	if err == nil && answer == nil {
		err = errors.New("the handler returned no answer")
	}
	if err == nil {
		body, err = render(answer)
	}
	if err == nil {
		return body
	}
	slog.Warn("A run failed", "key", call.Key, "error", err)
	message := err.Error()
	if len(message) > maxMessage {
		message = message[:maxMessage]
	}
	var invalid *SpecError
	if errors.As(err, &invalid) {
		body, _ = render(Parked{Message: message, Reason: "InvalidSpec"})
	} else {
		body, _ = render(Failed{Message: message})
	}
	return body
}

func (s *server) handle(ctx context.Context, call *Call) (Answer, error) {
	handler := map[string]Handler{
		TypeReconcile: s.function.Reconcile, TypeCompose: s.function.Compose, TypeFinalize: s.function.Finalize,
	}[call.Type]
	switch {
	case handler != nil:
		return handler(ctx, call)
	case call.Type == TypeFinalize:
		return Finalized{}, nil
	case call.Type == TypeCompose:
		message := "This function declares no children. Leave out spec.webhook.composes, or set Compose."
		return Parked{Message: message, Reason: "NotComposed"}, nil
	}
	message := "This function declares children: set spec.webhook.composes to true, and list their kinds in spec.owns."
	return Parked{Message: message}, nil
}
