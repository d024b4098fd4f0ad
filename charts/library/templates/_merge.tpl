{{- /* Merges a user's pod template over ours, as operator/resources/drift/strategic-merge.ts does. */ -}}
{{- define "viewmesh.merge" -}}
{{- $keys := dict "containers" (list "name") "initContainers" (list "name") "volumes" (list "name") "env" (list "name") "imagePullSecrets" (list "name") "resourceClaims" (list "name") "volumeMounts" (list "mountPath") "volumeDevices" (list "devicePath") "ports" (list "containerPort" "protocol") "hostAliases" (list "ip") "topologySpreadConstraints" (list "topologyKey" "whenUnsatisfiable") -}}
{{- $result := deepCopy (index . 0) -}}
{{- range $name, $value := index . 1 -}}
{{- $before := get $result $name -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $result $name -}}
{{- else if and (kindIs "slice" $value) (hasKey $keys $name) -}}
{{- $items := ternary $before list (kindIs "slice" $before) -}}
{{- $_ := set $result $name (include "viewmesh.mergeItems" (list (get $keys $name) $items $value) | fromJsonArray) -}}
{{- else if kindIs "map" $value -}}
{{- $fields := ternary $before dict (kindIs "map" $before) -}}
{{- $_ := set $result $name (include "viewmesh.merge" (list $fields $value) | fromJson) -}}
{{- else -}}
{{- $_ := set $result $name $value -}}
{{- end -}}
{{- end -}}
{{- toJson $result -}}
{{- end -}}

{{- /* Each item takes in one of the patch at most. */ -}}
{{- define "viewmesh.mergeItems" -}}
{{- $keys := index . 0 -}}
{{- $left := index . 2 -}}
{{- $merged := list -}}
{{- range $item := index . 1 -}}
{{- $others := list -}}
{{- $isTaken := false -}}
{{- range $entry := $left -}}
{{- if and (not $isTaken) (eq (include "viewmesh.itemKey" (list $keys $item)) (include "viewmesh.itemKey" (list $keys $entry))) -}}
{{- $isTaken = true -}}
{{- $item = include "viewmesh.merge" (list $item $entry) | fromJson -}}
{{- else -}}
{{- $others = append $others $entry -}}
{{- end -}}
{{- end -}}
{{- $left = $others -}}
{{- $merged = append $merged $item -}}
{{- end -}}
{{- range $entry := $left -}}
{{- $merged = append $merged (include "viewmesh.merge" (list dict $entry) | fromJson) -}}
{{- end -}}
{{- toJson $merged -}}
{{- end -}}

{{- /* What tells an item of a list from the others, with what Kubernetes takes for a field that is left out. */ -}}
{{- define "viewmesh.itemKey" -}}
{{- $item := index . 1 -}}
{{- range $key := index . 0 -}}
{{- $default := ternary "TCP" "" (eq $key "protocol") -}}
{{- get $item $key | default $default | toString -}}{{ "\n" }}
{{- end -}}
{{- end -}}
