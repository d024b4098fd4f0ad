{{- /*
The network policy of mode=standalone, shared by the charts of Generator and Host; copied into both by
`npm run generate`.
*/ -}}

{{- define "viewmesh.networkPolicy" -}}
{{- $spec := .spec -}}
{{- $isHost := eq .root.Chart.Name "host" -}}
{{- $isOutside := not (has .p2p.type (list "None" "ClusterIP")) -}}
{{- $isHealthPublic := and $isHost $isOutside .p2p.publicHealth -}}
{{- $isApiPublic := and $isHost (ne (($spec.services | default dict).api | default dict).type "ClusterIP") -}}
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .base }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "viewmesh.labels" .root | nindent 4 }}
spec:
  podSelector:
    matchLabels:
      {{- include "viewmesh.selector" .root | nindent 6 }}
  policyTypes:
    - Ingress
    - Egress
  ingress:
    - ports:
        {{- include "viewmesh.tcpPorts" ($isHealthPublic | ternary (list 9171 9183) (list 9171)) | nindent 8 }}
    - ports:
        {{- include "viewmesh.tcpPorts" ($isHost | ternary (list 9181 9182) (list 9181)) | nindent 8 }}
      {{- if not $isApiPublic }}
      from:
        - namespaceSelector: {}
      {{- end }}
    - ports:
        {{- include "viewmesh.tcpPorts" ($isHost | ternary (list 8080 9183) (list 8080)) | nindent 8 }}
      from:
        - namespaceSelector: {}
  egress:
    - ports:
        - protocol: UDP
          port: 53
        - protocol: TCP
          port: 53
    {{- $peers := list 9171 }}
    {{- range $spec.bootstrapPeers }}
    {{- $peers = append $peers (regexFind "/tcp/[0-9]+" . | trimPrefix "/tcp/") }}
    {{- end }}
    - ports:
        {{- include "viewmesh.tcpPorts" $peers | nindent 8 }}
    {{- if $isHost }}
    {{- $registry := list }}
    {{- range $url := list $spec.registry.rpcUrl $spec.registry.lcdUrl }}
    {{- with $url }}
    {{- $registry = append $registry (include "viewmesh.portOfUrl" .) }}
    {{- end }}
    {{- end }}
    {{- with $registry }}
    - ports:
        {{- include "viewmesh.tcpPorts" . | nindent 8 }}
    {{- end }}
    {{- else }}
    - ports:
        - protocol: TCP
      {{- with .node.labels }}
      to:
        - {{- include "viewmesh.podsIn" (list ($.node.namespace | default $.root.Release.Namespace) .) | nindent 10 }}
      {{- end }}
    {{- end }}
{{- end -}}
