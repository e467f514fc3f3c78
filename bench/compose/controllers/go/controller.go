package main

import (
	"context"
	"encoding/json"
	"os"
	"os/signal"
	"syscall"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	metaapply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metrics "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

type reconciler struct {
	client.Client
	settings
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var one site
	if err := r.Get(ctx, request.NamespacedName, &one); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	owner := metaapply.OwnerReference().WithAPIVersion(sites.String()).WithKind("Site").WithName(one.Name).
		WithUID(one.UID).WithController(true).WithBlockOwnerDeletion(true)
	for _, child := range children(&one, owner) {
		if err := r.applyChild(ctx, one.Namespace, child); err != nil {
			return ctrl.Result{}, err
		}
	}
	r.runs.add(request.String())
	changed := meta.SetStatusCondition(&one.Status.Conditions, metav1.Condition{
		Type: "Ready", Status: metav1.ConditionTrue, Reason: "Reconciled", Message: "All children are applied.",
		ObservedGeneration: one.Generation,
	})
	if !changed && one.Status.ObservedGeneration == one.Generation {
		return ctrl.Result{}, nil
	}
	one.Status.ObservedGeneration = one.Generation
	return ctrl.Result{}, r.Status().Update(ctx, &one)
}

func (r *reconciler) applyChild(ctx context.Context, namespace string, c child) error {
	if r.compare {
		live := c.object.DeepCopyObject().(client.Object)
		err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: c.name}, live)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		if err == nil && has(live, c) {
			return nil
		}
	}
	return r.Apply(ctx, c.apply, client.FieldOwner("sites"), client.ForceOwnership)
}

// Whether the cached object has all declared fields.
func has(live client.Object, c child) bool {
	text, err := json.Marshal(c.apply)
	if err != nil {
		fail(err)
	}
	declared := c.object.DeepCopyObject().(client.Object)
	if err := json.Unmarshal(text, declared); err != nil {
		fail(err)
	}
	// Times and numbers are compared even if they are not set.
	declared.SetCreationTimestamp(live.GetCreationTimestamp())
	declared.SetGeneration(live.GetGeneration())
	return equality.Semantic.DeepDerivative(declared, live)
}

func runController(ctx context.Context, s settings) error {
	ctrl.SetLogger(zap.New())
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	// client-go's own limit of requests is lifted.
	config.QPS = -1
	known := runtime.NewScheme()
	if err := scheme.AddToScheme(known); err != nil {
		return err
	}
	addToScheme(known)
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:  known,
		Metrics: metrics.Options{BindAddress: "127.0.0.1:0"},
	})
	if err != nil {
		return err
	}
	again := make(chan event.GenericEvent)
	go resync(ctx, manager.GetClient(), again)
	err = builder.ControllerManagedBy(manager).
		For(&site{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Owns(&corev1.ConfigMap{}).
		Owns(&corev1.ServiceAccount{}).
		Owns(&corev1.Service{}).
		Owns(&appsv1.Deployment{}).
		WatchesRawSource(source.Channel(again, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: s.workers}).
		Complete(&reconciler{manager.GetClient(), s})
	if err != nil {
		return err
	}
	return manager.Start(ctx)
}

// Has all objects reconciled once more at each SIGUSR1.
func resync(ctx context.Context, cached client.Client, again chan<- event.GenericEvent) {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
		}
		var all siteList
		if err := cached.List(ctx, &all); err != nil {
			fail(err)
		}
		for i := range all.Items {
			again <- event.GenericEvent{Object: &all.Items[i]}
		}
	}
}
