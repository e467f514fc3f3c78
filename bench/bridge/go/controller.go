package main

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A manager with one controller, everything as it is by default but for the address of the metrics. Says "synced" when
// its cache is.
func runController(ctx context.Context, o options) error {
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	addToScheme(scheme)
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metrics.Options{BindAddress: "127.0.0.1:0"},
	})
	if err != nil {
		return err
	}
	runs, err := openRuns(o.runs)
	if err != nil {
		return err
	}
	defer runs.close()
	var object client.Object = &widget{}
	var projected []builder.ForOption
	if o.metadata {
		object = &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "bench.drover.dev/v1", Kind: "Widget"}}
		projected = append(projected, builder.OnlyMetadata)
	}
	noop := reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
		runs.add(request.String())
		return reconcile.Result{}, nil
	})
	if err := builder.ControllerManagedBy(manager).Named("widgets").For(object, projected...).Complete(noop); err != nil {
		return err
	}
	// The controller shares it; asked for before the start, it is waited for below.
	if _, err := manager.GetCache().GetInformer(ctx, object); err != nil {
		return fmt.Errorf("no informer: %w", err)
	}
	go func() {
		if manager.GetCache().WaitForCacheSync(ctx) {
			say("synced", nil)
		}
	}()
	return manager.Start(ctx)
}
