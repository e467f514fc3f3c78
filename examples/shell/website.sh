#!/usr/bin/env bash
# A function for Website objects: each gets a page in a ConfigMap, a Deployment that serves it, and a Service. It only
# declares these children. Start it with
#   ../../sdk/shell/serve.pl ./website.sh

compose() {
  jq -c '.object as {metadata: {name: $name, namespace: $namespace}, spec: $spec}
    | ($spec.secretName // "") as $secretName
    | (first((.related // [])[] | select(.kind == "Secret" and .metadata.name == $secretName)) // null) as $secret
    | {"app.kubernetes.io/name": "website", "app.kubernetes.io/instance": $name} as $labels
    | {name: $name} as $metadata
    | [(.children // [])[] | select(.kind == "Deployment" and .metadata.name == $name) | .status.readyReplicas] as $ready
    | ({
        name: "web",
        image: $spec.image,
        ports: [{name: "http", containerPort: 8080}],
        readinessProbe: {httpGet: {path: "/", port: "http"}},
        volumeMounts: [{name: "page", mountPath: "/usr/share/nginx/html", readOnly: true}]
      } + (if $secret == null then {} else {envFrom: [{secretRef: {name: $secretName}}]} end)) as $container
    | # A new version of the Secret replaces the Pods.
      ({$labels} + (if $secret == null then {} else
        {annotations: {"example.com/secret-version": $secret.metadata.resourceVersion}} end)) as $podMetadata
    | if $secret == null and $secretName != "" then
        {outcome: "again", after: "10m", reason: "NoSecret", message: "Create the Secret \($secretName)."}
      else {
        outcome: "composed",
        children: [
          {apiVersion: "v1", kind: "ConfigMap", $metadata, data: {"index.html": $spec.html}},
          {
            apiVersion: "apps/v1",
            kind: "Deployment",
            $metadata,
            spec: {
              replicas: $spec.replicas,
              selector: {matchLabels: $labels},
              template: {
                metadata: $podMetadata,
                spec: {containers: [$container], volumes: [{name: "page", configMap: {name: $name}}]}
              }
            }
          },
          {
            apiVersion: "v1",
            kind: "Service",
            $metadata,
            spec: {selector: $labels, ports: [{name: "http", port: 80, targetPort: "http"}]}
          }
        ],
        status: {address: "http://\($name).\($namespace).svc", readyReplicas: ($ready[0] // 0)}
      } end'
}

source "$(dirname "${BASH_SOURCE[0]}")/../../sdk/shell/drover.sh"
