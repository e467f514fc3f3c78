package main

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	apply "k8s.io/client-go/applyconfigurations/apps/v1"
	core "k8s.io/client-go/applyconfigurations/core/v1"
	meta "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A child: its declaration, its name, and an empty object of its type.
type child struct {
	name   string
	apply  runtime.ApplyConfiguration
	object client.Object
}

// The same five children as those of the other contestants.
func children(s *site, owners ...*meta.OwnerReferenceApplyConfiguration) []child {
	name, namespace := s.Name, s.Namespace
	app := map[string]string{"app": name}
	labels := map[string]string{"app.kubernetes.io/part-of": "bench-compose"}
	page := core.ConfigMap(name, namespace).WithLabels(labels).WithOwnerReferences(owners...).
		WithData(map[string]string{"turn": strconv.Itoa(s.Spec.Turn), "index.html": s.Spec.Text})
	scripts := core.ConfigMap(name+"-scripts", namespace).WithLabels(labels).WithOwnerReferences(owners...).
		WithData(map[string]string{"start.sh": "exec web --root /page"})
	account := core.ServiceAccount(name, namespace).WithLabels(labels).WithOwnerReferences(owners...).
		WithAutomountServiceAccountToken(false)
	service := core.Service(name, namespace).WithLabels(labels).WithOwnerReferences(owners...).
		WithSpec(core.ServiceSpec().WithClusterIP("None").WithSelector(app).
			WithPorts(core.ServicePort().WithName("http").WithPort(80).WithTargetPort(intstr.FromInt32(80))))
	container := core.Container().WithName("web").WithImage("web:1").
		WithPorts(core.ContainerPort().WithContainerPort(80)).
		WithVolumeMounts(core.VolumeMount().WithName("page").WithMountPath("/page"))
	volume := core.Volume().WithName("page").WithConfigMap(core.ConfigMapVolumeSource().WithName(name))
	deployment := apply.Deployment(name, namespace).WithLabels(labels).WithOwnerReferences(owners...).
		WithSpec(apply.DeploymentSpec().WithReplicas(0).
			WithSelector(meta.LabelSelector().WithMatchLabels(app)).
			WithTemplate(core.PodTemplateSpec().WithLabels(app).
				WithSpec(core.PodSpec().WithServiceAccountName(name).WithContainers(container).WithVolumes(volume))))
	return []child{
		{name, page, &corev1.ConfigMap{}},
		{name + "-scripts", scripts, &corev1.ConfigMap{}},
		{name, account, &corev1.ServiceAccount{}},
		{name, service, &corev1.Service{}},
		{name, deployment, &appsv1.Deployment{}},
	}
}
