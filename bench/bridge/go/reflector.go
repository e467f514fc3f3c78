package main

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
)

// client-go's reflector alone, with the queue and the store that an informer has. Says "synced" when the first listing
// has been taken from the queue, and "ended" when the key that it waits for has.
func runReflector(ctx context.Context, o options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	source, expected, err := listWatch(config, o.metadata)
	if err != nil {
		return err
	}
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: store, EmitDeltaTypeReplaced: true})
	reflector := cache.NewReflectorWithOptions(source, expected, queue, cache.ReflectorOptions{})
	go reflector.RunWithContext(ctx)
	go func() {
		<-ctx.Done()
		queue.Close()
	}()
	return takeAll(queue, store, o.end)
}

func takeAll(queue *cache.DeltaFIFO, store cache.Store, end string) error {
	var deltas, keys int64
	synced := false
	for {
		_, err := queue.Pop(func(popped any, _ bool) error {
			keys++
			for _, delta := range popped.(cache.Deltas) {
				deltas++
				if err := keep(store, delta); err != nil {
					return err
				}
				if key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(delta.Object); key == end {
					say("ended", map[string]int64{"deltas": deltas, "pops": keys})
				}
			}
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		if !synced && queue.HasSynced() {
			synced = true
			say("synced", map[string]int64{"deltas": deltas})
		}
	}
}

func keep(store cache.Store, delta cache.Delta) error {
	if delta.Type == cache.Deleted {
		return store.Delete(delta.Object)
	}
	return store.Update(delta.Object)
}

func listWatch(config *rest.Config, onlyMetadata bool) (cache.ListerWatcher, any, error) {
	if onlyMetadata {
		client, err := metadata.NewForConfig(config)
		if err != nil {
			return nil, nil, err
		}
		return following(client.Resource(widgets), client), &metav1.PartialObjectMetadata{}, nil
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	return following(client.Resource(widgets), client), &unstructured.Unstructured{}, nil
}

type listable[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

func following[L runtime.Object](resource listable[L], client any) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return resource.List(ctx, o) },
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return resource.Watch(ctx, o)
		},
	}, client)
}
