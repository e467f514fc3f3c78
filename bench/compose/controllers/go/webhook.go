package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
)

// The sync hook of a CompositeController, as Metacontroller's documentation has it. Metacontroller sets owners and
// observedGeneration itself.
func runWebhook(ctx context.Context, s settings) error {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sync", func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			Parent site `json:"parent"`
		}
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		declared := []any{}
		for _, child := range children(&call.Parent) {
			declared = append(declared, child.apply)
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"status": map[string]any{}, "children": declared})
		s.runs.add(call.Parent.Namespace + "/" + call.Parent.Name)
	})
	server := http.Server{Addr: os.Getenv("BENCH_ADDRESS"), Handler: mux}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
