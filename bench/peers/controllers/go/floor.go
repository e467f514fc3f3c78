package main

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/watch"
)

// The least that anybody can do: what is listed and told by a watch is patched, an object's changes one after the other.
// It has no cache, no queue and no retries.
func runFloor(ctx context.Context, config *rest.Config, t *task) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	all := client.Resource(gauges)
	listed, err := all.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	events, err := watch.NewRetryWatcherWithContext(ctx, listed.GetResourceVersion(), watcher{all})
	if err != nil {
		return err
	}
	lanes := make([]chan *unstructured.Unstructured, t.workers)
	failed := make(chan error, t.workers)
	for i := range lanes {
		lanes[i] = make(chan *unstructured.Unstructured, 100_000)
		go func() {
			for object := range lanes[i] {
				t.runs.Add(1)
				time.Sleep(t.work)
				patch, _ := json.Marshal(map[string]any{"status": map[string]any{"observedGeneration": object.GetGeneration()}})
				_, err := all.Namespace(object.GetNamespace()).
					Patch(ctx, object.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
				if err != nil && ctx.Err() == nil {
					failed <- err
				}
			}
		}()
	}
	take := func(object *unstructured.Unstructured) {
		observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
		fails, _, _ := unstructured.NestedBool(object.Object, "spec", "fails")
		if fails || observed >= object.GetGeneration() {
			return
		}
		lane := fnv.New32a()
		lane.Write([]byte(object.GetNamespace() + "/" + object.GetName()))
		lanes[int(lane.Sum32())%len(lanes)] <- object
	}
	for i := range listed.Items {
		take(&listed.Items[i])
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-failed:
			return err
		case event := <-events.ResultChan():
			object, isObject := event.Object.(*unstructured.Unstructured)
			if isObject && (event.Type == "ADDED" || event.Type == "MODIFIED") {
				take(object)
			}
		}
	}
}

// As client-go wants it.
type watcher struct{ client dynamic.ResourceInterface }

func (w watcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (apiwatch.Interface, error) {
	return w.client.Watch(ctx, options)
}
