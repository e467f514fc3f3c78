// Command network-policies evaluates NetworkPolicies by the matcher of Cyclonus, the test suite that network plugins are
// compared with. It enforces nothing. It reads one JSON object from standard input:
//
//	{"policies": [NetworkPolicy...], "connections": [{"from": peer, "to": peer, "port": number, "portName": name, "protocol": "TCP"}...]}
//
// where a peer is {"ip": address} and, for a Pod, also {"namespace": name, "labels": labels}; and writes, for each
// connection, {"egress": boolean, "ingress": boolean}: whether the policies of either side allow it.
package main

import (
	"encoding/json"
	"log"
	"os"

	"github.com/mattfenwick/cyclonus/pkg/matcher"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

type peer struct {
	IP        string            `json:"ip"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels"`
}

type connection struct {
	From     peer            `json:"from"`
	To       peer            `json:"to"`
	Port     int             `json:"port"`
	PortName string          `json:"portName"`
	Protocol corev1.Protocol `json:"protocol"`
}

type verdict struct {
	Egress  bool `json:"egress"`
	Ingress bool `json:"ingress"`
}

func main() {
	log.SetFlags(0)
	var asked struct {
		Policies    []*networkingv1.NetworkPolicy `json:"policies"`
		Connections []connection                  `json:"connections"`
	}
	decoder := json.NewDecoder(os.Stdin)
	// A field that Kubernetes does not have would be dropped in silence.
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&asked); err != nil {
		log.Fatal("network-policies: ", err)
	}
	policy := matcher.BuildNetworkPolicies(false, asked.Policies)
	verdicts := make([]verdict, len(asked.Connections))
	for i, one := range asked.Connections {
		result := policy.IsTrafficAllowed(&matcher.Traffic{
			Source: trafficPeer(one.From), Destination: trafficPeer(one.To),
			ResolvedPort: one.Port, ResolvedPortName: one.PortName, Protocol: one.Protocol,
		})
		verdicts[i] = verdict{Egress: result.Egress.IsAllowed(), Ingress: result.Ingress.IsAllowed()}
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		log.Fatal("network-policies: ", err)
	}
}

func trafficPeer(one peer) *matcher.TrafficPeer {
	if one.Namespace == "" {
		return &matcher.TrafficPeer{IP: one.IP}
	}
	// The API server sets this label on every namespace, and refuses another value.
	namespace := map[string]string{corev1.LabelMetadataName: one.Namespace}
	return &matcher.TrafficPeer{IP: one.IP, Internal: &matcher.InternalPeer{
		Namespace: one.Namespace, NamespaceLabels: namespace, PodLabels: one.Labels,
	}}
}
