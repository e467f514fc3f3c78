// What the conformance suite cannot see from outside: overlapping runs, bounds, and how a process ends.
package drover

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var secret = bytes.Repeat([]byte{7}, 32)

func bodyOf(token, version, key string, timeout time.Duration) []byte {
	deadline := time.Now().Add(timeout).UTC().Format(time.RFC3339Nano)
	return []byte(fmt.Sprintf(`{"type":"dev.drover.reconcile.v2","audience":{"name":"web/f","uid":"f"},"key":%q,"token":%q,
		"deadline":%q,"object":{"metadata":{"name":"a","resourceVersion":%q},"spec":{"n":9223372036854775807}}}`,
		key, token, deadline, version))
}

func callOf(t *testing.T, body []byte) *Call {
	t.Helper()
	call, err := ParseCall(body)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

func expect[T comparable](t *testing.T, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSignsAsTheSpecificationDoes(t *testing.T) {
	key, _ := base64.StdEncoding.DecodeString("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	got := signatures([][]byte{key}, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	expect(t, got[0], "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
}

func TestASecretThatIsNoneIsRefusedAndNotPrinted(t *testing.T) {
	for _, text := range []string{"", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYq?rTwjUPD8ILPZIo2LaLaSw"} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "current"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := openSecrets(folder)
		if err == nil || !strings.Contains(err.Error(), folder) || strings.Contains(err.Error(), "KYq") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestANewerCallOfAKeyWaitsForTheRunAndEndsIt(t *testing.T) {
	h, begun, order := newHistory(time.Now), make(chan struct{}), make(chan string, 2)
	first := callOf(t, bodyOf("t1", "1", "web/a", time.Minute))
	go h.answer(context.Background(), first, time.Now(), first.Body, func(ctx context.Context) []byte {
		close(begun)
		<-ctx.Done()
		order <- "first"
		return []byte("first")
	})
	<-begun
	second := callOf(t, bodyOf("t2", "2", "web/a", time.Minute))
	got := h.answer(context.Background(), second, time.Now(), second.Body, func(context.Context) []byte {
		order <- "second"
		return []byte("second")
	})
	expect(t, string(got), "second")
	expect(t, <-order+<-order, "firstsecond")
}

func TestARepeatedCallGetsTheAnswerOfTheFirst(t *testing.T) {
	h, begun, end, answers := newHistory(time.Now), make(chan struct{}), make(chan struct{}), make(chan string)
	call := callOf(t, bodyOf("t1", "1", "web/a", time.Minute))
	ask := func() {
		answers <- string(h.answer(context.Background(), call, time.Now(), call.Body, func(context.Context) []byte {
			close(begun)
			<-end
			return []byte("once")
		}))
	}
	go ask()
	<-begun
	go ask()
	close(end)
	expect(t, <-answers+<-answers, "onceonce")
	other := bodyOf("t1", "1", "web/a", time.Hour)
	expect(t, h.answer(context.Background(), callOf(t, other), time.Now(), other, nil) == nil, true)
}

func TestGivesUpAtTheDeadlineWhileTheRunBeforeLasts(t *testing.T) {
	h, begun, end := newHistory(time.Now), make(chan struct{}), make(chan struct{})
	first := callOf(t, bodyOf("t1", "1", "web/a", time.Minute))
	go h.answer(context.Background(), first, time.Now(), first.Body, func(context.Context) []byte {
		close(begun)
		<-end
		return nil
	})
	<-begun
	second := callOf(t, bodyOf("t2", "2", "web/a", 50*time.Millisecond))
	expect(t, h.answer(context.Background(), second, time.Now(), second.Body, nil) == nil, true)
	close(end)
}

func TestMemoryIsBoundedAndNothingRunsTwice(t *testing.T) {
	now := time.Now()
	for _, bound := range []struct{ calls, bytes, answered int }{{10, 1e6, 9}, {100, 1_000, 10}} {
		h, runs, answered := newHistory(func() time.Time { return now }), 0, 0
		h.maxCalls, h.maxBytes = bound.calls, bound.bytes
		var calls []*Call
		for i := 0; i < 30; i++ {
			calls = append(calls, callOf(t, bodyOf(fmt.Sprint("t", i), "1", fmt.Sprint("web/", i), time.Minute)))
		}
		ask := func(i int) []byte {
			at := now.Add(time.Duration(i-40) * time.Second)
			return h.answer(context.Background(), calls[i], at, calls[i].Body, func(context.Context) []byte {
				runs++
				return make([]byte, 100)
			})
		}
		for i := range calls {
			ask(i)
		}
		for i := range calls {
			if ask(i) != nil {
				answered++
			}
		}
		expect(t, runs, 30)
		expect(t, answered, bound.answered)
		now = now.Add(retention)
		// An older version of an object, by the time of then: etcd was restored.
		late := callOf(t, bodyOf("late", "0", "web/29", time.Minute))
		ran := h.answer(context.Background(), late, now, late.Body, func(context.Context) []byte { return []byte("ran") })
		expect(t, string(ran), "ran")
	}
}

func TestAnswersHaveTheNamesOfTheContract(t *testing.T) {
	child := Child{Object: map[string]any{"kind": "B"}, Wave: 1, MaxUnavailable: 2, Deletion: "Retain"}
	for want, answer := range map[string]Answer{
		`{"outcome":"composed","children":[]}`: Composed{},
		`{"outcome":"composed","children":[{"object":{"kind":"B"},"wave":1,"maxUnavailable":2,"deletion":"Retain"}],` +
			`"requeueAfter":"5m"}`: &Composed{Children: []any{child}, RequeueAfter: "5m"},
		`{"outcome":"finalized"}`: Finalized{},
		`{"outcome":"done"}`:      Done{},
	} {
		got, err := render(answer)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, string(got), want)
	}
}

func TestIntegersOf64BitsKeepTheirDigits(t *testing.T) {
	var spec map[string]any
	if err := callOf(t, bodyOf("t1", "1", "web/a", time.Minute)).Spec(&spec); err != nil {
		t.Fatal(err)
	}
	expect(t, spec["n"], any(json.Number("9223372036854775807")))
}

// started returns the address of a served function, and a function that stops it and waits for its end.
func started(t *testing.T, reconcile Handler, grace time.Duration) (url string, stop func()) {
	return serve(t, newServer(Function{Reconcile: reconcile}, settings{audience: "web/f"}, current), grace)
}

func current() [][]byte { return [][]byte{secret} }

func serve(t *testing.T, s *server, grace time.Duration) (url string, stop func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.serveUntil(ctx, listener, grace) }()
	return "http://" + listener.Addr().String(), func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func post(t *testing.T, url string) string {
	body, now := bodyOf("t1", "1", "web/a", time.Minute), fmt.Sprint(time.Now().Unix())
	request, _ := http.NewRequest(http.MethodPost, url, bytes.NewReader(body))
	request.Header.Set("Webhook-Id", "t1")
	request.Header.Set("Webhook-Timestamp", now)
	request.Header.Set("Webhook-Signature", signatures([][]byte{secret}, "t1", now, body)[0])
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer response.Body.Close()
	text, _ := io.ReadAll(response.Body)
	return string(text)
}

func TestCallsInProgressEndWithinTheGraceOrAreAskedToStop(t *testing.T) {
	for grace, want := range map[time.Duration]string{time.Minute: "in time", time.Nanosecond: "stopped"} {
		begun, end, said := make(chan struct{}), make(chan struct{}), make(chan string)
		url, stop := started(t, func(ctx context.Context, _ *Call) (Answer, error) {
			close(begun)
			select {
			case <-end:
				return Done{Status: "in time"}, nil
			case <-ctx.Done():
				return Done{Status: "stopped"}, nil
			}
		}, grace)
		go func() { said <- post(t, url) }()
		<-begun
		stopped := make(chan struct{})
		go func() { stop(); close(stopped) }()
		if grace == time.Minute {
			close(end)
		}
		expect(t, <-said, `{"outcome":"done","status":"`+want+`"}`)
		<-stopped
	}
}

func TestTheConnectionThatWaitsLongestIsClosedAndNeverACallInProgress(t *testing.T) {
	begun, end, said := make(chan struct{}), make(chan struct{}), make(chan string)
	url, stop := started(t, func(context.Context, *Call) (Answer, error) {
		close(begun)
		<-end
		return Done{}, nil
	}, time.Minute)
	go func() { said <- post(t, url) }()
	<-begun
	texts := []string{"", "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n1", "POST"}
	strangers := make([]net.Conn, 0, maxWaiting+3)
	for i := 0; i < cap(strangers); i++ {
		stranger, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer stranger.Close()
		_, _ = stranger.Write([]byte(texts[i%len(texts)]))
		strangers = append(strangers, stranger)
		if i >= maxWaiting {
			oldest := strangers[i-maxWaiting]
			_ = oldest.SetReadDeadline(time.Now().Add(10 * time.Second))
			if _, err := oldest.Read(make([]byte, 1)); err == nil || os.IsTimeout(err) {
				t.Errorf("connection %d is open: %v", i-maxWaiting, err)
			}
		}
	}
	for _, stranger := range strangers[3:] {
		_ = stranger.SetReadDeadline(time.Now())
		if _, err := stranger.Read(make([]byte, 1)); !os.IsTimeout(err) {
			t.Error(err)
		}
	}
	close(end)
	expect(t, <-said, `{"outcome":"done"}`)
	for _, stranger := range strangers {
		_ = stranger.Close()
	}
	stop()
}

func TestACallThatHasJustArrivedIsNotClosedForANewConnection(t *testing.T) {
	done := func(context.Context, *Call) (Answer, error) { return Done{}, nil }
	s := newServer(Function{Reconcile: done, Connections: 1}, settings{audience: "web/f"}, current)
	asked := make(chan struct{}, 9)
	s.waiting.now = func() time.Time {
		asked <- struct{}{}
		return time.Unix(0, 0)
	}
	url, stop := serve(t, s, time.Minute)
	body, now := bodyOf("t1", "1", "web/a", time.Minute), fmt.Sprint(time.Now().Unix())
	call, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer call.Close()
	_, _ = fmt.Fprintf(call, "POST / HTTP/1.1\r\nHost: f\r\nConnection: close\r\nContent-Length: %d\r\nWebhook-Id: t1\r\n"+
		"Webhook-Timestamp: %s\r\nWebhook-Signature: %s\r\n\r\n", len(body), now, signatures([][]byte{secret}, "t1", now, body)[0])
	<-asked // when it began to wait
	stranger, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	<-asked // whether it has waited long enough to be closed
	_, _ = call.Write(body)
	response, err := http.ReadResponse(bufio.NewReader(call), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(response.Body)
	expect(t, string(text), `{"outcome":"done"}`)
	_ = stranger.Close()
	stop()
}

func TestAPanicAndANilAnswerAreFailedRuns(t *testing.T) {
	for _, handler := range []Handler{
		func(context.Context, *Call) (Answer, error) { panic("a bug") },
		func(context.Context, *Call) (Answer, error) { return nil, nil },
		func(context.Context, *Call) (Answer, error) { return Done{Status: make(chan int)}, nil },
	} {
		url, stop := started(t, handler, time.Second)
		if said := post(t, url); !strings.HasPrefix(said, `{"outcome":"failed","message":"`) {
			t.Error(said)
		}
		stop()
	}
}

func TestAWrongSettingIsNamed(t *testing.T) {
	right := map[string]string{"DROVER_WEBHOOK_AUDIENCE": "web/f", "DROVER_WEBHOOK_SECRETS": "/s", "DROVER_STOP_GRACE": "1d1.5s"}
	read := func(name, value string) (settings, error) {
		return settingsFrom(func(asked string) string {
			if asked == name {
				return value
			}
			return right[asked]
		})
	}
	if all, err := read("", ""); err != nil || all.stopGrace != 24*time.Hour+1500*time.Millisecond || all.port != "8080" {
		t.Error(all, err)
	}
	for name, value := range map[string]string{
		"DROVER_WEBHOOK_AUDIENCE": "f", "DROVER_WEBHOOK_SECRETS": "", "DROVER_HTTP_PORT": "70000", "DROVER_STOP_GRACE": "20",
	} {
		if _, err := read(name, value); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
