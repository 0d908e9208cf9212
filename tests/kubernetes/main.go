// SPDX-License-Identifier: BSD-2-Clause

// render CHART [VALUES]
//
// renders a chart as Helm does, reads what comes of it as Kubernetes does, and prints its objects as JSON, each on a line. A field
// that Kubernetes does not have, or one of another type, is an error.
package main

import (
	"encoding/json"
	"log"
	"os"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
)

func render(folder string, values map[string]any) (map[string]string, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(chart, values, chartutil.ReleaseOptions{Name: "blkin-agent", Namespace: "default"}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, all)
}

func main() {
	values := map[string]any{}
	if len(os.Args) > 2 {
		var err error
		if values, err = chartutil.ReadValuesFile(os.Args[2]); err != nil {
			log.Fatal(err)
		}
	}
	files, err := render(os.Args[1], values)
	if err != nil {
		log.Fatal(err)
	}
	decoder := serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	for name, text := range files {
		object, _, err := decoder.Decode([]byte(text), nil, nil)
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		if err := json.NewEncoder(os.Stdout).Encode(object); err != nil {
			log.Fatal(err)
		}
	}
}
