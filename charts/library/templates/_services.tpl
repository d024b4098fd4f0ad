{{- /* The Services of mode=standalone that depend on values. */ -}}

{{- /* Outside the cluster there is no health, which is the last port. */ -}}
{{- define "viewmesh.setApiService" -}}
{{- with (.spec.services | default dict).api -}}
{{- $service := $.objects.apiService -}}
{{- $_ := set $service.spec "type" .type -}}
{{- if ne .type "ClusterIP" -}}
{{- $_ := set $service.spec "ports" (initial $service.spec.ports) -}}
{{- end -}}
{{- with .annotations -}}
{{- $_ := set $service.metadata "annotations" . -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* That of one replica, as YAML; its ports are that of peers and, of a Host, that of health. */ -}}
{{- define "viewmesh.p2pService" -}}
{{- $r := index . 0 -}}
{{- $ordinal := index . 1 -}}
{{- $p2p := $r.p2p -}}
{{- $service := deepCopy $r.objects.p2pService -}}
{{- $_ := set $service.metadata "name" (regexReplaceAll "0$" $service.metadata.name (toString $ordinal)) -}}
{{- with $p2p.annotations -}}
{{- $_ := set $service.metadata "annotations" . -}}
{{- end -}}
{{- $spec := $service.spec -}}
{{- $_ := set $spec "type" $p2p.type -}}
{{- if ne $p2p.type "LoadBalancer" -}}
{{- $_ := unset $spec "externalTrafficPolicy" -}}
{{- end -}}
{{- with $p2p.loadBalancerClass -}}
{{- $_ := set $spec "loadBalancerClass" . -}}
{{- end -}}
{{- $_ := set $spec.selector "apps.kubernetes.io/pod-index" (toString $ordinal) -}}
{{- if not $p2p.publicHealth -}}
{{- $_ := set $spec "ports" (list (first $spec.ports)) -}}
{{- end -}}
{{- with $p2p.nodePort -}}
{{- $_ := set (first $spec.ports) "nodePort" . -}}
{{- end -}}
{{- toYaml $service -}}
{{- end -}}

{{- /* In front of pods that spec.upstream.podSelector selects; two ports where they are two. */ -}}
{{- define "viewmesh.setUpstreamService" -}}
{{- $spec := .objects.upstreamService.spec -}}
{{- $pods := .spec.upstream.podSelector -}}
{{- $numbers := dict "http" $pods.httpPort "ws" $pods.wsPort -}}
{{- $_ := set $spec "selector" $pods.matchLabels -}}
{{- range $spec.ports -}}
{{- $number := get $numbers .name -}}
{{- $_ := set . "port" $number -}}
{{- $_ := set . "targetPort" $number -}}
{{- end -}}
{{- if or (not $pods.wsPort) (eq (int $pods.wsPort) (int $pods.httpPort)) -}}
{{- $_ := set $spec "ports" (list (first $spec.ports)) -}}
{{- end -}}
{{- end -}}
