//go:build tools

// Package parts names the command that this module pins, so that the Go tool keeps its requirements.
package parts

import _ "sigs.k8s.io/cluster-api/core"
