package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"
)

// What Metacontroller calls: a sync hook, as its documentation has it. Metacontroller writes observedGeneration itself.
func runWebhook(ctx context.Context, _ *rest.Config, t *task) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sync", func(w http.ResponseWriter, r *http.Request) {
		t.runs.Add(1)
		var call struct {
			Parent gauge `json:"parent"`
		}
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if call.Parent.Spec.Fails {
			http.Error(w, "it is to fail", http.StatusInternalServerError)
			return
		}
		if call.Parent.Status.ObservedGeneration < call.Parent.Generation {
			time.Sleep(t.work)
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"status": map[string]any{}, "children": []any{}})
	})
	server := http.Server{Addr: os.Getenv("BENCH_ADDRESS"), Handler: mux}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
