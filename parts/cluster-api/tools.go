//go:build tools

// Package parts names the commands that this module pins, so that the Go tool keeps their requirements.
package parts

import (
	_ "sigs.k8s.io/cluster-api/cmd/clusterctl"
	_ "sigs.k8s.io/cluster-api/core"
)
