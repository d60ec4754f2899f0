// Command helm-values makes the values of a HelmRelease with Flux's own code. It reads one case per line of its standard
// input, as JSON, and answers each with one line: the values, or that there is an error.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/chartutil"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	namespace = "default"
	// largestExact is the last of the whole numbers up to which each is one that a float64 can be.
	largestExact = 1 << 53
	// floatKey marks a float64 that is no such number, given by its bits.
	floatKey = "\x00float"
)

type object struct {
	Kind string            `json:"kind"`
	Name string            `json:"name"`
	Data map[string][]byte `json:"data"`
}

type testCase struct {
	// spec.values as the API server has it.
	Inline     json.RawMessage        `json:"inline"`
	References []meta.ValuesReference `json:"references"`
	Objects    []object               `json:"objects"`
}

type answer struct {
	Values any    `json:"values,omitempty"`
	Error  string `json:"error,omitempty"`
}

// store is a client that can do nothing but get the objects of a case.
type store struct {
	client.Client
	objects []object
}

func (s store) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	for _, candidate := range s.objects {
		if candidate.Name != key.Name {
			continue
		}
		switch into := into.(type) {
		case *corev1.Secret:
			if candidate.Kind == "Secret" {
				into.Data = candidate.Data
				return nil
			}
		case *corev1.ConfigMap:
			if candidate.Kind == "ConfigMap" {
				into.Data = map[string]string{}
				for key, value := range candidate.Data {
					into.Data[key] = string(value)
				}
				return nil
			}
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{Resource: "objects"}, key.Name)
}

func (c testCase) answer() answer {
	// As the helm-controller reads spec.values: what is no mapping is passed over.
	var inline map[string]any
	_ = yaml.Unmarshal(c.Inline, &inline)
	values, err := chartutil.ChartValuesFromReferences(
		context.Background(), logr.Discard(), store{objects: c.Objects}, namespace, inline, c.References...)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Values: plain(values.AsMap())}
}

// plain makes every number one that JSON readers agree on.
func plain(value any) any {
	switch value := value.(type) {
	case map[string]any:
		result := make(map[string]any, len(value))
		for key, inner := range value {
			result[key] = plain(inner)
		}
		return result
	case []any:
		result := make([]any, len(value))
		for index, inner := range value {
			result[index] = plain(inner)
		}
		return result
	case float64:
		negativeZero := value == 0 && math.Signbit(value)
		if math.Trunc(value) == value && math.Abs(value) <= largestExact && !negativeZero {
			return int64(value)
		}
		return map[string]any{floatKey: strconv.FormatUint(math.Float64bits(value), 16)}
	default:
		return value
	}
}

func run() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 16<<20)
	output := bufio.NewWriter(os.Stdout)
	answers := json.NewEncoder(output)
	for lines.Scan() {
		var c testCase
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			return err
		}
		if err := answers.Encode(c.answer()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return output.Flush()
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
