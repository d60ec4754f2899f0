//go:build tools

// Package parts names the command that this module pins, so that the Go tool keeps its requirements.
package parts

import _ "github.com/upbound/provider-terraform/cmd/provider"
