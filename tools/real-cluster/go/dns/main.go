// Command dns is CoreDNS with the plugins that answer for the names of a cluster, and no others. A module of its own:
// its requirements must not change what Kubernetes is built with.
package main

import (
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"

	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
)

func main() {
	dnsserver.Directives = []string{"errors", "ready", "cache", "kubernetes"}
	coremain.Run()
}
