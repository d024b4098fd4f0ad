{{- /* The pod template of mode=standalone: what values change in that of the builders. */ -}}

{{- define "viewmesh.setPod" -}}
{{- $pod := .objects.statefulSet.spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- $_ := set $container "image" (include "viewmesh.image" (list .root .spec.image)) -}}
{{- $_ := set $container "imagePullPolicy" .spec.image.pullPolicy -}}
{{- with .root.Values.global.imagePullSecrets -}}
{{- $_ := set $pod "imagePullSecrets" . -}}
{{- end -}}
{{- include "viewmesh.setEnvironment" . -}}
{{- include "viewmesh.setSecrets" . -}}
{{- if not .isHost -}}
{{- include "viewmesh.setAffinity" . -}}
{{- end -}}
{{- end -}}

{{- /* Variables that have no value are left out. */ -}}
{{- define "viewmesh.setEnvironment" -}}
{{- $container := first .objects.statefulSet.spec.template.spec.containers -}}
{{- $values := include (printf "viewmesh.%sVariables" .root.Chart.Name) . | fromJson -}}
{{- $kept := list -}}
{{- range $container.env -}}
{{- if hasKey $values .name -}}
{{- $_ := set . "value" (get $values .name) -}}
{{- end -}}
{{- if or .value .valueFrom -}}
{{- $kept = append $kept . -}}
{{- end -}}
{{- end -}}
{{- $_ := set $container "env" $kept -}}
{{- end -}}

{{- /* The variables that values change, as JSON: of both programs, of a Generator, of a Host. */ -}}
{{- define "viewmesh.commonVariables" -}}
{{- toJson (dict
  "CHAIN_NAME" .spec.chain.name
  "CHAIN_NETWORK" .spec.chain.network
  "PRUNER_ENABLED" (toString .spec.pruning.enabled)
  "PRUNER_MAX_BLOCKS" (int64 .spec.pruning.maxBlocks | toString)
) -}}
{{- end -}}

{{- define "viewmesh.generatorVariables" -}}
{{- $urls := include "viewmesh.upstreamUrls" . | fromJson -}}
{{- $own := dict
  "CHAIN_ID" (include "viewmesh.chainId" .spec.chain)
  "NODE_RPC_URL" $urls.http
  "NODE_WS_URL" $urls.ws
  "NODE_API_KEY_TYPE" (.spec.upstream.auth | default dict).header
  "GENERATOR_START_HEIGHT" (include "viewmesh.startHeight" (.spec.start | default dict))
-}}
{{- if not .spec.upstream.auth -}}
{{- $_ := set $own "NODE_API_KEY_FILE" "" -}}
{{- end -}}
{{- include "viewmesh.commonVariables" . | fromJson | merge $own | toJson -}}
{{- end -}}

{{- define "viewmesh.hostVariables" -}}
{{- $own := dict
  "REGISTRY_RPC_URL" .spec.registry.rpcUrl
  "REGISTRY_LCD_URL" .spec.registry.lcdUrl
  "HOST_TRUSTED_SIGNERS" (.spec.trustedSigners | default list | join ",")
-}}
{{- $readiness := .spec.readiness | default dict -}}
{{- range $field, $variable := dict "minBlocks" "HOST_READY_MIN_BLOCKS" "maxLag" "HOST_READY_MAX_LAG" -}}
{{- $_ := set $own $variable (ternary (get $readiness $field | int64 | toString) "" (hasKey $readiness $field)) -}}
{{- end -}}
{{- if not .spec.registry.adminTokenSecretRef -}}
{{- $_ := set $own "HOST_ADMIN_TOKEN_FILE" "" -}}
{{- end -}}
{{- include "viewmesh.commonVariables" . | fromJson | merge $own | toJson -}}
{{- end -}}

{{- define "viewmesh.chainId" -}}
{{- if .id -}}
{{ int64 .id }}
{{- end -}}
{{- end -}}

{{- define "viewmesh.startHeight" -}}
{{- if hasKey . "height" -}}
{{ int64 .height }}
{{- else if hasKey . "behindHead" -}}
{{ ternary "latest" (printf "-%d" (int64 .behindHead)) (eq (int64 .behindHead) 0) }}
{{- end -}}
{{- end -}}

{{- define "viewmesh.upstreamUrls" -}}
{{- $upstream := .spec.upstream -}}
{{- if $upstream.url -}}
{{- toJson (dict "http" (join "," $upstream.url.http) "ws" $upstream.url.ws) -}}
{{- else -}}
{{- $way := $upstream.service | default $upstream.podSelector -}}
{{- $name := ($upstream.service | default dict).name | default .objects.upstreamService.metadata.name -}}
{{- $namespace := ($upstream.service | default dict).namespace | default .root.Release.Namespace -}}
{{- $host := printf "%s.%s.svc.%s" $name $namespace .root.Values.clusterDomain -}}
{{- $ws := "" -}}
{{- with $way.wsPort -}}
{{- $ws = printf "ws://%s:%d" $host (int .) -}}
{{- end -}}
{{- toJson (dict "http" (printf "http://%s:%d" $host (int $way.httpPort)) "ws" $ws) -}}
{{- end -}}
{{- end -}}

{{- /* The keyring, and the keys of Secrets that become files; without any there is no volume for them. */ -}}
{{- define "viewmesh.setSecrets" -}}
{{- $pod := .objects.statefulSet.spec.template.spec -}}
{{- $container := first $pod.containers -}}
{{- $references := dict
  "node-api-key" ((.spec.upstream | default dict).auth | default dict).secretRef
  "schema-api-keys" (.spec.schemaAuth | default dict).keysSecretRef
  "admin-token" (.spec.registry | default dict).adminTokenSecretRef
-}}
{{- $volumes := list -}}
{{- range $pod.volumes -}}
{{- if eq .name "keyring" -}}
{{- $_ := set .secret "secretName" $.spec.identity.secretRef.name -}}
{{- end -}}
{{- if eq .name "secrets" -}}
{{- $_ := set .projected "sources" (include "viewmesh.secretSources" (list .projected.sources $references) | fromJsonArray) -}}
{{- end -}}
{{- if or (ne .name "secrets") .projected.sources -}}
{{- $volumes = append $volumes . -}}
{{- end -}}
{{- end -}}
{{- $mounts := list -}}
{{- range $container.volumeMounts -}}
{{- if or (ne .name "secrets") (eq (len $volumes) (len $pod.volumes)) -}}
{{- $mounts = append $mounts . -}}
{{- end -}}
{{- end -}}
{{- $_ := set $container "volumeMounts" $mounts -}}
{{- $_ := set $pod "volumes" $volumes -}}
{{- end -}}

{{- /* Of the sources of a volume those that a key is named for, as JSON. */ -}}
{{- define "viewmesh.secretSources" -}}
{{- $references := index . 1 -}}
{{- $sources := list -}}
{{- range index . 0 -}}
{{- $item := first .secret.items -}}
{{- $reference := get $references $item.path -}}
{{- if $reference -}}
{{- $_ := set .secret "name" $reference.name -}}
{{- $_ := set $item "key" $reference.key -}}
{{- $sources = append $sources . -}}
{{- end -}}
{{- end -}}
{{- toJson $sources -}}
{{- end -}}

{{- /* Near the execution node, where its pods are known. */ -}}
{{- define "viewmesh.setAffinity" -}}
{{- $pod := .objects.statefulSet.spec.template.spec -}}
{{- $way := .spec.upstream.service | default .spec.upstream.podSelector | default dict -}}
{{- $colocate := $way.colocate | default "None" -}}
{{- $term := (first $pod.affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution).podAffinityTerm -}}
{{- if and .node.labels (ne $colocate "None") -}}
{{- $_ := set $term "namespaces" (list .node.namespace) -}}
{{- $_ := set $term.labelSelector "matchLabels" .node.labels -}}
{{- if eq $colocate "Required" -}}
{{- $_ := set $pod.affinity "podAffinity" (dict "requiredDuringSchedulingIgnoredDuringExecution" (list $term)) -}}
{{- end -}}
{{- else -}}
{{- $_ := unset $pod "affinity" -}}
{{- end -}}
{{- end -}}
