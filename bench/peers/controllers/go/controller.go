package main

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type reconciler struct {
	client.Client
	task *task
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	r.task.runs.Add(1)
	var one gauge
	if err := r.Get(ctx, request.NamespacedName, &one); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if one.Status.ObservedGeneration >= one.Generation {
		return ctrl.Result{}, nil
	}
	if one.Spec.Fails {
		return ctrl.Result{}, errors.New("it is to fail")
	}
	time.Sleep(r.task.work)
	one.Status.ObservedGeneration = one.Generation
	return ctrl.Result{}, r.Status().Update(ctx, &one)
}

func runController(ctx context.Context, config *rest.Config, t *task) error {
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	addToScheme(scheme)
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  scheme,
		Metrics: metrics.Options{BindAddress: "127.0.0.1:0"},
	})
	if err != nil {
		return err
	}
	err = builder.ControllerManagedBy(manager).
		For(&gauge{}).
		WithOptions(controller.Options{MaxConcurrentReconciles: t.workers}).
		Complete(&reconciler{manager.GetClient(), t})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}
