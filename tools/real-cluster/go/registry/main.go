// Command registry is the CNCF's image registry with the one storage driver that a throw-away cluster needs. A module
// of its own: its requirements must not change what Kubernetes is built with.
package main

import (
	"os"

	"github.com/distribution/distribution/v3/registry"
	_ "github.com/distribution/distribution/v3/registry/storage/driver/filesystem"
)

func main() {
	if registry.RootCmd.Execute() != nil {
		os.Exit(1)
	}
}
