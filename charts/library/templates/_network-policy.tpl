{{- /*
The NetworkPolicy of mode=standalone. Its rules have the order of operator/resources/objects/network-policy.ts:
in peers, API, health; out DNS, peers, then the execution node of a Generator or the registry of a Host.
*/ -}}

{{- define "viewmesh.setNetworkPolicy" -}}
{{- $policy := .objects.networkPolicy.spec -}}
{{- $fromPeers := index $policy.ingress 0 -}}
{{- $toPeers := index $policy.egress 1 -}}
{{- $peers := list (first $toPeers.ports).port -}}
{{- range .spec.bootstrapPeers -}}
{{- $peers = append $peers (regexFind "/tcp/[0-9]+" . | trimPrefix "/tcp/") -}}
{{- end -}}
{{- $_ := set $toPeers "ports" (include "viewmesh.tcpPorts" $peers | fromJsonArray) -}}
{{- if .isHost -}}
{{- if or (has .p2p.type (list "None" "ClusterIP")) (not .p2p.publicHealth) -}}
{{- $_ := set $fromPeers "ports" (list (first $fromPeers.ports)) -}}
{{- end -}}
{{- if ne .spec.services.api.type "ClusterIP" -}}
{{- $_ := unset (index $policy.ingress 1) "from" -}}
{{- end -}}
{{- include "viewmesh.setRegistryRule" . -}}
{{- else -}}
{{- include "viewmesh.setNodeRule" . -}}
{{- end -}}
{{- end -}}

{{- /* Of a Host: the registry, where the spec names one. */ -}}
{{- define "viewmesh.setRegistryRule" -}}
{{- $policy := .objects.networkPolicy.spec -}}
{{- $ports := list -}}
{{- range $url := compact (list .spec.registry.rpcUrl .spec.registry.lcdUrl) -}}
{{- $ports = append $ports (include "viewmesh.portOfUrl" $url) -}}
{{- end -}}
{{- if $ports -}}
{{- $_ := set (last $policy.egress) "ports" (include "viewmesh.tcpPorts" $ports | fromJsonArray) -}}
{{- else -}}
{{- $_ := set $policy "egress" (initial $policy.egress) -}}
{{- end -}}
{{- end -}}

{{- /* Of a Generator: the execution node, anywhere where its pods are not known. */ -}}
{{- define "viewmesh.setNodeRule" -}}
{{- $rule := last .objects.networkPolicy.spec.egress -}}
{{- if .node.labels -}}
{{- $pods := first $rule.to -}}
{{- $_ := set $pods.namespaceSelector.matchLabels "kubernetes.io/metadata.name" .node.namespace -}}
{{- $_ := set $pods.podSelector "matchLabels" .node.labels -}}
{{- else -}}
{{- $_ := unset $rule "to" -}}
{{- end -}}
{{- end -}}

{{- /* Numbers as ports of a rule, in JSON: each once, in order. */ -}}
{{- define "viewmesh.tcpPorts" -}}
{{- $padded := list -}}
{{- range . -}}
{{- $padded = append $padded (printf "%05d" (int .)) -}}
{{- end -}}
{{- $ports := list -}}
{{- range $padded | uniq | sortAlpha -}}
{{- $ports = append $ports (dict "protocol" "TCP" "port" (regexReplaceAll "^0+" . "" | int)) -}}
{{- end -}}
{{- toJson $ports -}}
{{- end -}}

{{- define "viewmesh.portOfUrl" -}}
{{- $url := urlParse . -}}
{{- $port := regexFind ":[0-9]+$" $url.host | trimPrefix ":" -}}
{{- $port | default (has $url.scheme (list "https" "wss") | ternary "443" "80") -}}
{{- end -}}
