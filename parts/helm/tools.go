//go:build tools

// Package parts names the command that this module pins, so that the Go tool keeps its requirements.
package parts

import _ "helm.sh/helm/v3/cmd/helm"
